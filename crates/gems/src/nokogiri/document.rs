//! Nokogiri::XML::Document: parsing into a tree, and what concerns the tree as a whole.

use super::builder::Builder;
use super::tree::{DOCUMENT, Decl, Id, Kind, NONE, Tree};
use super::*;
use zakuro_macros::ruby_class;

/// Bits of `Nokogiri::XML::ParseOptions`.
const RECOVER: i64 = 1;
const NOENT: i64 = 1 << 1;
const DTDATTR: i64 = 1 << 3;
const NOBLANKS: i64 = 1 << 8;
const NOCDATA: i64 = 1 << 14;
const HUGE: i64 = 1 << 19;
const BIG_LINES: i64 = 1 << 22;
/// Of HTML alone, with a number that XML uses otherwise.
const NODEFDTD: i64 = 1 << 2;
const NOIMPLIED: i64 = 1 << 13;

fn input(cx: &mut Cx, v: Value) -> Result<String> {
    let s = cx.to_str(v)?;
    let bytes = s.to_vec();
    room(cx, bytes.len().saturating_mul(3))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

enum Source {
    Xml(Box<xml::Parser>),
    Html(Box<html4::Parser>),
}
impl Source {
    fn next(&mut self) -> Option<xml::Event> {
        match self {
            Source::Xml(p) => p.next(),
            Source::Html(p) => p.next(),
        }
    }
    fn line(&mut self) -> u32 {
        match self {
            Source::Xml(p) => p.line(),
            Source::Html(p) => p.line(),
        }
    }
    fn problems(self) -> Vec<xml::Problem> {
        match self {
            Source::Xml(p) => p.problems,
            Source::Html(p) => p.problems,
        }
    }
}
/// Builds below a node what a parser tells.
fn build(cx: &mut Cx, doc: Value, at: Id, source: &mut Source, options: i64) -> Result<()> {
    let mut builder = Builder::new(at);
    builder.noblanks = options & NOBLANKS != 0;
    builder.nocdata = options & NOCDATA != 0;
    builder.short_lines = options & BIG_LINES == 0;
    let (mut count, mut told) = (0, 0);
    let mut line = source.line();
    while let Some(e) = source.next() {
        let t = tree(cx, doc)?;
        count += if matches!(e, xml::Event::Pause) { 256 } else { 1 };
        builder.event(t, e, line);
        let bytes = t.bytes();
        line = source.line();
        if count >= 1024 || bytes > told + (1 << 20) {
            (count, told) = (0, bytes);
            counted(cx, doc)?;
            cx.safepoint()?;
        }
    }
    counted(cx, doc)
}
/// `account`; a tree that is too large and that nobody has seen goes at once, so that whoever rescues has room.
fn counted(cx: &mut Cx, doc: Value) -> Result<()> {
    let result = account(cx, doc);
    if result.is_err() {
        let d = cx.data_mut::<Doc>(doc)?;
        if d.objects.is_empty() && d.namespaces.is_empty() {
            d.tree = Tree::new(d.tree.kind(DOCUMENT));
            d.counted = 0;
            cx.weigh_data(doc);
        }
    }
    result
}
fn xml_parser(text: String, options: i64) -> xml::Parser {
    let o = xml::Options {
        recover: options & RECOVER != 0,
        noent: options & NOENT != 0,
        huge: options & HUGE != 0,
        dtdattr: options & DTDATTR != 0,
    };
    xml::Parser::new(xml::normalized(&text), o, true)
}

/// Methods of `Nokogiri::XML::Document`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// Gives a document its tree.
    #[method("__open")]
    fn open(cx: &mut Cx, this: Value, html: Value) -> Result<Value> {
        let kind = if html.truthy() { Kind::HtmlDocument } else { Kind::Document };
        let mut t = Tree::new(kind);
        if !html.truthy() {
            t.version = Some("1.0".into());
        }
        install(cx, this, t)?;
        Ok(this)
    }
    /// Parses XML into this document, with the text of its external subset or nil, and those of external entities by their identifiers; what was wrong.
    #[method("__parse_xml")]
    fn parse_xml(cx: &mut Cx, this: Value, text: Value, options: i64, external: Value, entities: Ref<ArrayCell>) -> Result<Value> {
        let text = input(cx, text)?;
        let mut parser = xml_parser(text, options);
        if !external.is_nil() {
            parser.external_text = Some(xml::normalized(&input(cx, external)?));
        }
        parser.external_entities = query::pairs(cx, entities)?;
        let mut source = Source::Xml(Box::new(parser));
        build(cx, this, DOCUMENT, &mut source, options)?;
        let list = source.problems();
        Ok(problems(cx, list))
    }
    /// Parses HTML into this document, as libxml2 does; what was wrong.
    #[method("__parse_html")]
    fn parse_html(cx: &mut Cx, this: Value, text: Value, options: i64) -> Result<Value> {
        let text = input(cx, text)?;
        let o = html4::Options { huge: options & HUGE != 0, no_implied: options & NOIMPLIED != 0 };
        let mut source = Source::Html(Box::new(html4::Parser::new(&text, o, true)));
        build(cx, this, DOCUMENT, &mut source, options)?;
        let t = tree(cx, this)?;
        if t.internal_subset().is_none() && options & NODEFDTD == 0 {
            default_dtd(t);
        }
        let list = source.problems();
        Ok(problems(cx, list))
    }
    fn default_dtd(t: &mut Tree) {
        let name = t.intern("html");
        let id = t.add(Kind::Dtd, name, String::new());
        let decl = Decl {
            external: Some("-//W3C//DTD HTML 4.0 Transitional//EN".into()),
            system: Some("http://www.w3.org/TR/REC-html40/loose.dtd".into()),
            ..Decl::default()
        };
        t.decls.insert(id, decl);
        match t.n(DOCUMENT).first {
            NONE => t.append(DOCUMENT, id),
            first => t.insert_before(first, id),
        }
    }
    /// The document type that HTML gets without one.
    #[method("__default_dtd")]
    fn add_default_dtd(cx: &mut Cx, this: Value) -> Result<()> {
        default_dtd(tree(cx, this)?);
        account(cx, this)
    }
    /// Parses content as if it stood in a node: [nodes, what was wrong].
    #[method("__parse_in")]
    fn parse_in(cx: &mut Cx, this: Value, context: Value, text: Value, options: i64) -> Result<Value> {
        let (doc, id) = node(cx, context)?;
        let text = input(cx, text)?;
        let t = tree(cx, this)?;
        let holder = t.add(Kind::Fragment, NONE, String::new());
        // Prefixes are looked up as from within.
        t.m(holder).parent = id;
        let mut source = if t.is_html() {
            let o = html4::Options { huge: options & HUGE != 0, no_implied: true };
            let mut p = html4::Parser::new(&text, o, true);
            p.fragment = true;
            Source::Html(Box::new(p))
        } else {
            let scopes: Vec<(Option<String>, String)> = t
                .scopes(id)
                .into_iter()
                .rev()
                .map(|s| (t.nss[s as usize].prefix.as_deref().map(str::to_owned), t.nss[s as usize].href.to_string()))
                .collect();
            let entities: Vec<(String, Decl)> = t
                .internal_subset()
                .map(|d| {
                    t.children(d)
                        .filter(|c| t.kind(*c) == Kind::EntityDecl)
                        .filter_map(|c| Some((t.name(c).to_owned(), t.decls.get(&c)?.clone())))
                        .collect()
                })
                .unwrap_or_default();
            let mut p = xml_parser(text, options);
            p.fragment = true;
            for (prefix, href) in scopes {
                p.declare(prefix, href);
            }
            for (name, d) in entities {
                p.entities.insert(name, dtd::Entity { content: d.content, original: d.original, external: d.external, system: d.system });
            }
            Source::Xml(Box::new(p))
        };
        build(cx, doc, holder, &mut source, options)?;
        let t = tree(cx, doc)?;
        t.m(holder).parent = NONE;
        let ids: Vec<Id> = t.children(holder).collect();
        for c in &ids {
            t.unlink(*c);
        }
        let mut objects = RootedVec::with_capacity(cx, ids.len());
        for c in ids {
            let v = wrap(cx, doc, c)?;
            objects.push(v);
        }
        let nodes = set::make(cx, doc, &objects)?;
        let list = source.problems();
        let list = problems(cx, list);
        Ok(cx.array(&[nodes, list]))
    }
    /// Parses HTML 5 into this document, or into a fragment of it with a context [name, URI, in a form, integration point, quirks]: [quirks, errors].
    #[method("__parse_html5")]
    fn parse_html5(
        cx: &mut Cx,
        this: Value,
        text: Value,
        limits: Ref<ArrayCell>,
        scripting: Value,
        fragment: Value,
        context: Value,
    ) -> Result<Value> {
        let text = input(cx, text)?;
        let mut limit = [usize::MAX; 3];
        for (i, l) in limit.iter_mut().enumerate() {
            if let Some(v) = limits.get(i) {
                *l = usize::try_from(cx.to_i64(v)?).unwrap_or(usize::MAX);
            }
        }
        let limits = html5::Limits { attributes: limit[0], errors: limit[1].min(100_000), depth: limit[2], bytes: cx.heap.room() / 3 };
        let context = match Ref::<ArrayCell>::from_value(context) {
            None => None,
            Some(a) => {
                let a = RootedVec::of(cx, a);
                let [name, href, form, integration, quirks] = a[..] else { return cx.arg_error("context of five values") };
                let (name, href) = (super::text(cx, name)?, super::text(cx, href)?);
                Some((name, href, form.truthy(), integration.truthy(), cx.to_i64(quirks)? as u8))
            }
        };
        let f = context.as_ref().map(|(name, href, form, integration, quirks)| html5::Fragment {
            name,
            href,
            form: *form,
            integration: *integration,
            quirks: *quirks,
        });
        let state = html5::parse(&text, f, scripting.truthy(), limits, || cx.safepoint())?;
        match state.stop {
            Some(html5::Stop::TooDeep) => return cx.arg_error("Document tree depth limit exceeded"),
            Some(html5::Stop::TooManyAttributes) => return cx.arg_error("Attributes per element limit exceeded"),
            Some(html5::Stop::TooLarge) => return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
            None => {}
        }
        let (new, quirks, errors) = (state.tree, state.quirks, state.errors);
        let (at, from) = if fragment.is_nil() { (DOCUMENT, DOCUMENT) } else { (node(cx, fragment)?.1, new.root().unwrap_or(DOCUMENT)) };
        let d = cx.data_mut::<Doc>(this)?;
        let fresh = fragment.is_nil() && d.tree.nodes.len() == 1 && d.objects.is_empty();
        let tops: Vec<Id> = if fresh { Vec::new() } else { new.children(from).collect() };
        for c in tops {
            let t = tree(cx, this)?;
            let copy = t.copy_from(&new, c, true, |_, _| ());
            t.append(at, copy);
            account(cx, this)?;
            cx.safepoint()?;
        }
        if fresh {
            // Nobody has seen the document's own tree.
            cx.data_mut::<Doc>(this)?.tree = new;
            counted(cx, this)?;
        }
        let mut all = RootedVec::with_capacity(cx, errors.len());
        for (line, message) in errors {
            let row = [Value::fixnum(line as i64), cx.str(&message)];
            let row = cx.array(&row);
            all.push(row);
        }
        let all = cx.array(&all);
        Ok(cx.array(&[Value::fixnum(quirks as i64), all]))
    }
    /// The code point of one of HTML 4's entities.
    #[method("__entity_code", singleton)]
    fn entity_code(cx: &mut Cx, _this: Value, name: Value) -> Result<Option<i64>> {
        let name = text(cx, name)?;
        Ok(super::super::entities::code(&name).map(i64::from))
    }
    #[method("__root?")]
    fn has_root(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(tree(cx, this)?.root().is_some())
    }
    /// The root element, or nil.
    #[method("root")]
    fn root(cx: &mut Cx, this: Value) -> Result<Value> {
        let id = tree(cx, this)?.root().unwrap_or(NONE);
        wrap_or_nil(cx, this, id)
    }
    /// The name of the document's encoding, or nil.
    #[method("encoding")]
    fn encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = tree(cx, this)?.encoding.clone();
        Ok(str_or_nil(cx, e.as_deref()))
    }
    /// Sets the name of the encoding that the document is written in.
    #[method("encoding=")]
    fn set_encoding(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let e = text_or_none(cx, name)?;
        tree(cx, this)?.encoding = e;
        Ok(name)
    }
    /// The version of the declaration: "1.0".
    #[method("version")]
    fn version(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = tree(cx, this)?.version.clone();
        Ok(str_or_nil(cx, e.as_deref()))
    }
    #[method("__version=")]
    fn set_version(cx: &mut Cx, this: Value, version: Value) -> Result<()> {
        let v = text_or_none(cx, version)?;
        tree(cx, this)?.version = v;
        Ok(())
    }
    /// The address that the document was read with, or nil.
    #[method("url")]
    fn url(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = tree(cx, this)?.url.clone();
        Ok(str_or_nil(cx, e.as_deref()))
    }
    #[method("__url=")]
    fn set_url(cx: &mut Cx, this: Value, url: Value) -> Result<()> {
        let u = text_or_none(cx, url)?;
        tree(cx, this)?.url = u;
        Ok(())
    }
    /// Takes all namespaces out of the document, and answers it.
    #[method("remove_namespaces!")]
    fn remove_namespaces(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = tree(cx, this)?;
        let all: Vec<Id> = t.descendants(DOCUMENT).collect();
        for id in all {
            t.m(id).ns = NONE;
            t.m(id).defs.clear();
            let attrs: Vec<Id> = t.attrs(id).collect();
            for a in attrs {
                t.m(a).ns = NONE;
            }
        }
        Ok(this)
    }
    /// Makes this document, which has no tree yet, a copy of another.
    #[method("initialize_copy_with_args")]
    fn copy(cx: &mut Cx, this: Value, other: Value, level: i64) -> Result<Value> {
        let old = tree(cx, other)?;
        let t = if level > 0 {
            let bytes = old.bytes();
            room(cx, bytes)?;
            tree(cx, other)?.clone()
        } else {
            let mut t = Tree::new(old.kind(DOCUMENT));
            (t.version, t.encoding, t.url, t.standalone) = (old.version.clone(), old.encoding.clone(), old.url.clone(), old.standalone);
            t
        };
        install(cx, this, t)?;
        Ok(this)
    }
}
pub(super) use native::METHODS;
