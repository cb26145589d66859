//! `#[derive(Trace)]`, at the end, and `#[ruby_class]`: a module of Rust functions becomes the builtin methods of a Ruby class.
//!
//! The function *is* the method: arity and conversions come from its signature, documentation and executed examples from its doc comment.
//! The attribute leaves the functions as they are, adds one wrapper of the VM's native signature per method and a table `METHODS` of rows.
//!
//! | parameter | meaning |
//! |---|---|
//! | `cx: &mut Cx`, `cx: &Cx`, `heap: &mut Heap`, `heap: &Heap`, or nothing | the VM or its heap, first: says what the body can do at most |
//! | `this: T` | the receiver; `T: FromSelf` |
//! | `x: T` | required argument, `T: FromValue` |
//! | `x: Option<T>` | optional argument (None when absent; with `Option<Value>` an explicit nil is `Some(nil)`; for other T nil counts as absent) |
//! | `x: Rest` | all further positional arguments |
//! | `x: Kwargs` | keyword arguments |
//! | `x: Block` | the block, perhaps none |
//! | `x: Args` | everything as it came; no conversion, no arity check beyond `min`/`max` |

use proc_macro::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, Item, ItemFn, ItemMod, Lit, Meta, Token, Type, parse_macro_input, punctuated::Punctuated};

struct MethodAttr {
    names: Vec<String>,
    singleton: bool,
    vis: &'static str,
    unimplemented: bool,
    min: Option<usize>,
    max: Option<isize>,
    /// What the body does at most, where its signature says more.
    effect: Option<proc_macro2::TokenStream>,
}

fn parse_method_attr(attr: &Attribute) -> syn::Result<MethodAttr> {
    let mut out =
        MethodAttr { names: Vec::new(), singleton: false, vis: "Public", unimplemented: false, min: None, max: None, effect: None };
    let mut reason = false;
    let args = attr.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
    for arg in args {
        match &arg {
            Expr::Lit(l) => match &l.lit {
                Lit::Str(s) => out.names.push(s.value()),
                _ => return Err(syn::Error::new_spanned(arg, "expected a method name")),
            },
            Expr::Path(p) => match p.path.get_ident().map(|i| i.to_string()).as_deref() {
                Some("singleton") => out.singleton = true,
                Some("private") => out.vis = "Private",
                Some("protected") => out.vis = "Protected",
                Some("unimplemented") => out.unimplemented = true,
                Some("module_function") => out.vis = "ModuleFunction",
                _ => return Err(syn::Error::new_spanned(arg, "unknown option")),
            },
            Expr::Assign(a) => {
                let Expr::Path(p) = &*a.left else { return Err(syn::Error::new_spanned(arg, "unknown option")) };
                let text = || match &*a.right {
                    Expr::Lit(l) => match &l.lit {
                        Lit::Str(s) => Ok(s.value()),
                        _ => Err(syn::Error::new_spanned(&a.right, "expected a text")),
                    },
                    _ => Err(syn::Error::new_spanned(&a.right, "expected a text")),
                };
                let number = || -> syn::Result<isize> {
                    let text = match &*a.right {
                        Expr::Lit(l) => match &l.lit {
                            Lit::Int(i) => i.base10_digits().to_string(),
                            _ => String::new(),
                        },
                        Expr::Unary(_) => "-1".to_string(),
                        _ => String::new(),
                    };
                    text.parse().map_err(|_| syn::Error::new_spanned(&a.right, "expected a number"))
                };
                match p.path.get_ident().map(|i| i.to_string()).as_deref() {
                    Some("min") => out.min = Some(number()?.max(0) as usize),
                    Some("max") => out.max = Some(number()?),
                    Some("effect") => out.effect = Some(parse_effects(&text()?).ok_or_else(|| syn::Error::new_spanned(&a.right, EFFECTS))?),
                    Some("reason") => reason = !text()?.is_empty(),
                    _ => return Err(syn::Error::new_spanned(arg, "unknown option")),
                }
            }
            _ => return Err(syn::Error::new_spanned(arg, "unknown option")),
        }
    }
    if out.effect.is_some() != reason {
        return Err(syn::Error::new_spanned(attr, "an effect that the signature does not tell needs a reason, and nothing else has one"));
    }
    if out.names.is_empty() {
        return Err(syn::Error::new_spanned(attr, "a method needs a name"));
    }
    Ok(out)
}

const EFFECTS: &str = "expected `leaf`, or some of `allocates`, `changes`, `raises`, `runs Ruby` with commas";

/// `allocates, raises` as an expression.
fn parse_effects(text: &str) -> Option<proc_macro2::TokenStream> {
    let mut sum = quote! { ::zakuro_vm::Effects::LEAF };
    for word in text.split(", ") {
        let name = match word {
            "leaf" => "LEAF",
            "allocates" => "ALLOCATES",
            "changes" => "CHANGES",
            "raises" => "RAISES",
            "runs Ruby" => "RUNS_RUBY",
            _ => return None,
        };
        let name = format_ident!("{}", name);
        sum = quote! { #sum.and(::zakuro_vm::Effects::#name) };
    }
    Some(sum)
}

/// The first parameter, if it is the VM or its heap: its type, and what the wrapper passes for it.
fn context(first: &Type) -> Option<proc_macro2::TokenStream> {
    let Type::Reference(r) = first else { return None };
    match (type_name(&r.elem).0.as_str(), r.mutability.is_some()) {
        ("Cx", true) => Some(quote! { cx }),
        ("Cx", false) => Some(quote! { &*cx }),
        ("Heap", true) => Some(quote! { &mut cx.heap }),
        ("Heap", false) => Some(quote! { &cx.heap }),
        _ => None,
    }
}

fn doc_of(attrs: &[Attribute]) -> String {
    let mut doc = String::new();
    for a in attrs {
        if let Meta::NameValue(nv) = &a.meta
            && nv.path.is_ident("doc")
            && let Expr::Lit(l) = &nv.value
            && let Lit::Str(s) = &l.lit
        {
            doc.push_str(&s.value());
            doc.push('\n');
        }
    }
    doc
}

/// The last segment of a type path and its first generic argument.
fn type_name(t: &Type) -> (String, Option<Type>) {
    if let Type::Path(p) = t
        && let Some(seg) = p.path.segments.last()
    {
        let inner = match &seg.arguments {
            syn::PathArguments::AngleBracketed(a) => a.args.iter().find_map(|g| match g {
                syn::GenericArgument::Type(t) => Some(t.clone()),
                _ => None,
            }),
            _ => None,
        };
        return (seg.ident.to_string(), inner);
    }
    (String::new(), None)
}

fn wrapper(
    f: &ItemFn,
    attr: &MethodAttr,
    class: &Expr,
    index: usize,
    at: usize,
) -> syn::Result<(proc_macro2::TokenStream, proc_macro2::TokenStream)> {
    let name = &f.sig.ident;
    let wrap = format_ident!("__native_{}_{}", index, name);
    let mut inputs = f.sig.inputs.iter().filter_map(|a| match a {
        FnArg::Typed(t) => Some((*t.ty).clone()),
        FnArg::Receiver(_) => None,
    });
    let first = inputs.next().ok_or_else(|| syn::Error::new_spanned(&f.sig, "a parameter is missing: the receiver"))?;
    let passed = context(&first);
    let (context_effects, this) = match &passed {
        None => (quote! { ::zakuro_vm::Effects::LEAF }, first),
        Some(_) => {
            let this = inputs.next().ok_or_else(|| syn::Error::new_spanned(&f.sig, "a parameter is missing: the receiver"))?;
            (quote! { <#first as ::zakuro_vm::effects::Context>::EFFECTS }, this)
        }
    };
    let params: Vec<Type> = inputs.collect();

    let kinds: Vec<(String, Option<Type>)> = params.iter().map(type_name).collect();
    let is = |k: &str| kinds.iter().any(|(n, _)| n == k);
    let (has_rest, has_kw, has_args) = (is("Rest"), is("Kwargs"), is("Args"));
    let mut required = 0usize;
    let mut optional = 0usize;
    for (n, _) in &kinds {
        match n.as_str() {
            "Rest" | "Kwargs" | "Block" | "Args" => {}
            "Option" => optional += 1,
            _ => required += 1,
        }
    }
    let min = attr.min.unwrap_or(required);
    let max = attr.max.unwrap_or(if has_rest || has_args { -1 } else { (required + optional) as isize });

    let mut lets = Vec::new();
    let mut converted = Vec::new();
    let mut names = Vec::new();
    let mut pos = 0usize;
    let mut before_rest_opt = 0usize;
    let after_rest: usize = {
        // Required parameters written after Rest or after optional ones take arguments from the end.
        let mut seen = false;
        let mut n = 0;
        for (k, _) in &kinds {
            match k.as_str() {
                "Rest" => seen = true,
                "Kwargs" | "Block" | "Args" | "Option" => {}
                _ if seen => n += 1,
                _ => {}
            }
        }
        n
    };
    let mut seen_rest = false;
    let mut tail = 0usize;
    for (i, (ty, (kind, inner))) in params.iter().zip(&kinds).enumerate() {
        let v = format_ident!("a{}", i);
        match kind.as_str() {
            "Block" => lets.push(quote! { let #v = args.block; }),
            "Kwargs" => lets.push(quote! { let #v = kw; }),
            "Args" => lets.push(quote! { let #v = args; }),
            "Rest" => {
                seen_rest = true;
                let p = pos;
                lets.push(quote! {
                    let #v: ::zakuro_vm::Rest = {
                        let all = args.all();
                        let end = all.len().saturating_sub(#after_rest);
                        if #p < end { &all[#p..end] } else { &[] }
                    };
                });
            }
            "Option" => {
                let inner = inner.clone().ok_or_else(|| syn::Error::new_spanned(ty, "Option<T>"))?;
                let plain = type_name(&inner).0 == "Value";
                let p = pos;
                pos += 1;
                before_rest_opt += 1;
                if !plain {
                    converted.push(inner.clone());
                }
                if plain {
                    lets.push(quote! { let #v = args.get(#p); });
                } else {
                    lets.push(quote! {
                        let #v: #ty = match args.get(#p) {
                            Some(v) if <#inner as ::zakuro_vm::FromValue>::TAKES_NIL || !v.is_nil() => Some(<#inner as ::zakuro_vm::FromValue>::from_value(cx, v)?),
                            _ => None,
                        };
                    });
                }
            }
            _ if seen_rest => {
                converted.push(ty.clone());
                let back = after_rest - tail;
                tail += 1;
                lets.push(quote! {
                    let #v: #ty = { let v = args.all()[args.len() - #back]; <#ty as ::zakuro_vm::FromValue>::from_value(cx, v)? };
                });
            }
            _ => {
                converted.push(ty.clone());
                let p = pos;
                pos += 1;
                lets.push(quote! {
                    let #v: #ty = { let v = args.all()[#p]; <#ty as ::zakuro_vm::FromValue>::from_value(cx, v)? };
                });
            }
        }
        names.push(v);
    }
    let _ = before_rest_opt;
    let split_kw = if has_kw {
        quote! { let kw = args.take_keywords(cx); }
    } else {
        quote! {}
    };
    let mutable = if has_kw {
        quote! { mut }
    } else {
        quote! {}
    };
    let doc = doc_of(&f.attrs);
    let row_names = &attr.names;
    let singleton = attr.singleton;
    let vis = format_ident!("{}", attr.vis);
    let unimplemented = attr.unimplemented;
    let result = match &f.sig.output {
        syn::ReturnType::Default => syn::parse_quote! { () },
        syn::ReturnType::Type(_, t) => (**t).clone(),
    };
    let result_effects = quote! { <#result as ::zakuro_vm::IntoResult>::EFFECTS };
    let comma = passed.as_ref().map(|_| quote! { , });
    let body = attr.effect.clone().unwrap_or_else(|| quote! { #context_effects.and(#result_effects) });
    let receiver = quote! { <#this as ::zakuro_vm::FromSelf>::EFFECTS };
    // A body that may run Ruby and raise can do nothing that it does not say.
    let anything = attr.effect.is_none() && matches!(&passed, Some(p) if p.to_string() == "cx") && type_name(&result).0 == "Result";
    let call = quote! { ::zakuro_vm::IntoResult::into_result(#name(#passed #comma this, #(#names),*), cx) };
    let call = if anything {
        call
    } else {
        quote! {
            let watch = ::zakuro_vm::effects::Watch::begin(cx, METHODS[#at].direct);
            let result = #call;
            watch.end(cx, METHODS[#at].direct, result.is_err(), &METHODS[#at]);
            result
        }
    };
    let w = quote! {
        #[allow(unused_variables, non_snake_case)]
        fn #wrap(cx: &mut ::zakuro_vm::Cx, this: ::zakuro_vm::Value, argv: *const ::zakuro_vm::Value, argc: usize, block: ::zakuro_vm::Block)
            -> ::zakuro_vm::Result<::zakuro_vm::Value>
        {
            // SAFETY: whoever calls a native gives it argc initialised values on the value stack, in registers that belong to the call.
            let #mutable args = unsafe { ::zakuro_vm::Args::new(argv, argc, block) };
            #split_kw
            ::zakuro_vm::builtin::check_arity(cx, args.len(), #min, #max)?;
            let this = <#this as ::zakuro_vm::FromSelf>::from_self(cx, this)?;
            #(#lets)*
            #call
        }
    };
    let row = quote! {
        ::zakuro_vm::MethodRow {
            class: #class,
            singleton: #singleton,
            names: &[#(#row_names),*],
            min: #min,
            max: #max,
            vis: ::zakuro_vm::builtin::Vis::#vis,
            unimplemented: #unimplemented,
            effects: #body.and(#receiver) #(.and(<#converted as ::zakuro_vm::FromValue>::EFFECTS))*,
            direct: #body.and(#receiver),
            func: #wrap,
            by_name: #has_kw,
            doc: #doc,
        }
    };
    Ok((w, row))
}

/// See the crate. The argument is the class id: `#[ruby_class(ids::RANGE)]`.
#[proc_macro_attribute]
pub fn ruby_class(attr: TokenStream, item: TokenStream) -> TokenStream {
    let class = parse_macro_input!(attr as Expr);
    let mut module = parse_macro_input!(item as ItemMod);
    let Some((_, items)) = &mut module.content else {
        return syn::Error::new_spanned(&module.ident, "an inline module is needed").to_compile_error().into();
    };
    let mut wrappers = Vec::new();
    let mut rows = Vec::new();
    for item in items.iter_mut() {
        let Item::Fn(f) = item else { continue };
        let mut found = Vec::new();
        let mut kept = Vec::new();
        for a in f.attrs.drain(..) {
            if a.path().is_ident("method") {
                match parse_method_attr(&a) {
                    Ok(m) => found.push(m),
                    Err(e) => return e.to_compile_error().into(),
                }
            } else {
                kept.push(a);
            }
        }
        f.attrs = kept;
        for (i, m) in found.iter().enumerate() {
            match wrapper(f, m, &class, i, rows.len()) {
                Ok((w, r)) => {
                    wrappers.push(w);
                    rows.push(r);
                }
                Err(e) => return e.to_compile_error().into(),
            }
        }
    }
    for w in wrappers {
        items.push(syn::parse_quote! { #w });
    }
    items.push(syn::parse_quote! {
        /// The builtin methods declared in this module. Not public: a table that nothing lists is dead code, which the compiler tells of.
        pub(crate) static METHODS: &[::zakuro_vm::MethodRow] = &ROWS;
    });
    let count = rows.len();
    items.push(syn::parse_quote! {
        static ROWS: [::zakuro_vm::MethodRow; #count] = [#(#rows),*];
    });
    items.push(syn::parse_quote! {
        /// For images in files, which name a row by its place in the binary's list of tables.
        const _: () = {
            #[used]
            #[unsafe(link_section = "zakuro_rows")]
            static TABLE: &[::zakuro_vm::MethodRow] = &ROWS;
        };
    });
    quote! { #module }.into()
}

/// `impl Trace`: every field is traced but those marked `#[untraced]`, which hold no value of the VM. A field whose type has no `Trace` does not compile without.
#[proc_macro_derive(Trace, attributes(untraced))]
pub fn derive_trace(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let body = match &input.data {
        syn::Data::Struct(s) => traced(&s.fields, quote!(#name)),
        syn::Data::Enum(e) => e
            .variants
            .iter()
            .map(|v| {
                let variant = &v.ident;
                traced(&v.fields, quote!(#name::#variant))
            })
            .collect(),
        syn::Data::Union(_) => {
            return syn::Error::new_spanned(&input.ident, "a union says not which field is there").to_compile_error().into();
        }
    };
    let body = if body.is_empty() { quote!(_ => {}) } else { body };
    quote! {
        impl #generics ::zakuro_vm::Trace for #name #arguments #bounds {
            #[allow(unused_variables)]
            fn trace(&self, m: &mut ::zakuro_vm::Marker<'_>) {
                match self {
                    #body
                }
            }
        }
    }
    .into()
}

/// The arm of a match that traces the fields.
fn traced(fields: &syn::Fields, path: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let (mut bound, mut calls) = (Vec::new(), Vec::new());
    for (i, f) in fields.iter().enumerate() {
        if f.attrs.iter().any(|a| a.path().is_ident("untraced")) {
            continue;
        }
        let member = f.ident.clone().map_or_else(|| syn::Member::from(i), syn::Member::from);
        let own = format_ident!("field{}", i);
        bound.push(quote!(#member: #own));
        calls.push(quote_spanned!(f.ty.span()=> ::zakuro_vm::Trace::trace(#own, m);));
    }
    quote!(#path { #(#bound,)* .. } => { #(#calls)* })
}
