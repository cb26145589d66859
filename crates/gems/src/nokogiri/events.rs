//! What a SAX parser or push parser tells, event by event; Ruby calls the document's methods.

use super::xml::Event;
use super::*;
use zakuro_macros::ruby_class;

enum Parser {
    Xml(Box<xml::Parser>),
    Html(Box<html4::Parser>),
}

/// Payload of a SAX::Events.
#[derive(Trace)]
struct Events {
    #[untraced]
    parser: Parser,
    weight: usize,
    /// A carriage return that ended the last portion.
    held: bool,
}
impl NativeData for Events {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.weight
    }
}

fn input(cx: &mut Cx, v: Value) -> Result<String> {
    let bytes = cx.to_str(v)?.to_vec();
    room(cx, bytes.len().saturating_mul(2))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
fn string(cx: &Cx, s: &str) -> Value {
    cx.str(s)
}

/// Methods of `Nokogiri::XML::SAX::Events`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// Begins; options are bits of ParseOptions.
    #[method("__open")]
    fn open(
        cx: &mut Cx,
        this: Value,
        html: Value,
        text: Value,
        options: i64,
        last: Value,
        entities: Option<Ref<ArrayCell>>,
    ) -> Result<Value> {
        let text = input(cx, text)?;
        let weight = text.len();
        let entities = match entities {
            Some(list) => query::pairs(cx, list)?,
            None => Default::default(),
        };
        let last = last.truthy();
        let parser = if html.truthy() {
            Parser::Html(Box::new(html4::Parser::new(&text, html4::Options { huge: options & (1 << 19) != 0, no_implied: false }, last)))
        } else {
            let o = xml::Options {
                recover: options & 1 != 0,
                noent: options & 2 != 0,
                huge: options & (1 << 19) != 0,
                dtdattr: options & 8 != 0,
            };
            let mut p = xml::Parser::new(xml::normalized(&text), o, last);
            p.keeps_references = !o.noent;
            p.external_entities = entities;
            Parser::Xml(Box::new(p))
        };
        cx.data_init(this, Events { parser, weight, held: false })?;
        Ok(this)
    }
    /// Adds text; `last`: no more comes.
    #[method("feed")]
    fn feed(cx: &mut Cx, this: Value, text: Value, last: Value) -> Result<()> {
        let mut more = input(cx, text)?;
        let last = last.truthy();
        let e = cx.data_mut::<Events>(this)?;
        if std::mem::take(&mut e.held) {
            more.insert(0, '\r');
        }
        if !last && more.ends_with('\r') {
            more.pop();
            e.held = true;
        }
        let held = match &mut e.parser {
            Parser::Xml(p) => {
                p.feed(&xml::normalized(&more));
                p.last |= last;
                p.held()
            }
            Parser::Html(p) => {
                p.feed(&more);
                p.last |= last;
                p.held()
            }
        };
        e.weight = held;
        cx.weigh_data(this);
        Ok(())
    }
    /// Sets the parser's options, bits of ParseOptions.
    #[method("options=")]
    fn set_options(cx: &mut Cx, this: Value, options: i64) -> Result<()> {
        if let Parser::Xml(p) = &mut cx.data_mut::<Events>(this)?.parser {
            p.options.recover = options & 1 != 0;
            p.options.noent = options & 2 != 0;
            p.keeps_references = !p.options.noent;
            p.options.huge = options & (1 << 19) != 0;
        }
        Ok(())
    }
    /// [line, column]
    #[method("place")]
    fn place(cx: &mut Cx, this: Value) -> Result<Value> {
        let (line, column) = match &mut cx.data_mut::<Events>(this)?.parser {
            Parser::Xml(p) => (p.line(), p.column()),
            Parser::Html(p) => (p.line(), p.column()),
        };
        Ok(cx.array(&[Value::fixnum(line as i64), Value::fixnum(column as i64)]))
    }
    /// What was found wrong since it was last asked.
    #[method("problems")]
    fn problems(cx: &mut Cx, this: Value) -> Result<Value> {
        let list = match &mut cx.data_mut::<Events>(this)?.parser {
            Parser::Xml(p) => std::mem::take(&mut p.problems),
            Parser::Html(p) => std::mem::take(&mut p.problems),
        };
        Ok(super::super::problems(cx, list))
    }
    /// Whether an error has ended parsing.
    #[method("stopped?")]
    fn is_stopped(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(match &cx.data_ref::<Events>(this)?.parser {
            Parser::Xml(p) => p.stopped,
            Parser::Html(p) => p.stopped,
        })
    }
    /// The content of a declared entity.
    #[method("entity")]
    fn entity(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = text(cx, name)?;
        let content = match &cx.data_ref::<Events>(this)?.parser {
            Parser::Xml(p) => p.entities.get(&name).and_then(|e| e.content.clone()),
            Parser::Html(_) => None,
        };
        Ok(str_or_nil(cx, content.as_deref()))
    }
    /// The next event as an Array, nil at the end or when more must come.
    #[method("shift")]
    fn shift(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = match &mut cx.data_mut::<Events>(this)?.parser {
            Parser::Xml(p) => p.next(),
            Parser::Html(p) => p.next(),
        };
        let Some(e) = e else { return Ok(Value::NIL) };
        let tag = |name: &str| Value::sym(Sym::intern(name));
        let row = match e {
            Event::Text(t, _) => [tag("text"), string(cx, &t)].to_vec_in(cx),
            Event::Cdata(t) => [tag("cdata"), string(cx, &t)].to_vec_in(cx),
            Event::Comment(t) => [tag("comment"), string(cx, &t)].to_vec_in(cx),
            Event::EntityRef(t) => [tag("reference"), string(cx, &t)].to_vec_in(cx),
            Event::Pi(t, d) => [tag("pi"), string(cx, &t), str_or_nil(cx, d.as_deref())].to_vec_in(cx),
            Event::Declaration { version, encoding, standalone } => {
                let standalone = match standalone {
                    1 => string(cx, "yes"),
                    0 => string(cx, "no"),
                    _ => Value::NIL,
                };
                [tag("xmldecl"), str_or_nil(cx, version.as_deref()), str_or_nil(cx, encoding.as_deref()), standalone].to_vec_in(cx)
            }
            Event::End { prefix, name, href } => {
                [tag("end"), string(cx, &name), str_or_nil(cx, prefix.as_deref()), str_or_nil(cx, href.as_deref())].to_vec_in(cx)
            }
            Event::Start(s) => {
                let mut attrs = RootedVec::with_capacity(cx, s.attrs.len());
                for a in &s.attrs {
                    let bare = a.prefix.as_deref() == Some("");
                    let value = if bare { Value::NIL } else { string(cx, &a.value) };
                    let row = [
                        string(cx, &a.name),
                        str_or_nil(cx, a.prefix.as_deref().filter(|p| !p.is_empty())),
                        str_or_nil(cx, a.href.as_deref()),
                        value,
                    ];
                    let row = cx.array(&row);
                    attrs.push(row);
                }
                let mut defs = RootedVec::with_capacity(cx, s.defs.len());
                for (p, h) in &s.defs {
                    let row = [str_or_nil(cx, p.as_deref()), string(cx, h)];
                    let row = cx.array(&row);
                    defs.push(row);
                }
                let (attrs, defs) = (cx.array(&attrs), cx.array(&defs));
                [tag("start"), string(cx, &s.name), str_or_nil(cx, s.prefix.as_deref()), str_or_nil(cx, s.href.as_deref()), attrs, defs]
                    .to_vec_in(cx)
            }
            Event::Doctype { .. } | Event::Declared(_) | Event::EndDoctype | Event::Pause | Event::External { .. } => {
                [tag("other")].to_vec_in(cx)
            }
        };
        Ok(row)
    }
    /// An Array of a few values.
    trait Listed {
        fn to_vec_in(self, cx: &Cx) -> Value;
    }
    impl<const N: usize> Listed for [Value; N] {
        fn to_vec_in(self, cx: &Cx) -> Value {
            cx.array(&self)
        }
    }
}
pub(super) use native::METHODS;
