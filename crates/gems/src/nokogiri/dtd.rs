//! Document type declarations: the internal subset's entities, elements, attributes and notations. External subsets are not loaded.

use super::xml::{Event, Parser, is_space};

#[derive(Clone, Debug, Default)]
pub struct Entity {
    pub content: Option<String>,
    pub original: Option<String>,
    pub external: Option<String>,
    pub system: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct AttDecl {
    pub element: String,
    pub name: String,
    /// libxml2's numbers: 1 CDATA, 2 ID, 3 IDREF, ... 9 enumeration, 10 notation.
    pub kind: i64,
    pub values: Vec<String>,
    pub default: Option<String>,
    /// 1 none, 2 required, 3 implied, 4 fixed.
    pub rule: u8,
    /// As libxml2 writes it.
    pub text: String,
}

#[derive(Clone, Debug)]
pub enum Declared {
    /// Name, libxml2's type of the entity (1 internal, 2 external parsed, 3 unparsed, 4 and 5 parameters), text.
    Entity(String, Entity, i64, String),
    /// Name, libxml2's type (1 EMPTY, 2 ANY, 3 mixed, 4 element), content model, text.
    Element(String, i64, String, String),
    Attribute(AttDecl),
    Notation(String, Option<String>, Option<String>),
}

const KINDS: [&str; 9] = ["CDATA", "ID", "IDREF", "IDREFS", "ENTITY", "ENTITIES", "NMTOKEN", "NMTOKENS", "NOTATION"];

fn literal(p: &mut Parser) -> Option<String> {
    let q = p.byte();
    if !matches!(q, b'"' | b'\'') {
        return None;
    }
    p.advance(1);
    p.until(if q == b'"' { "\"" } else { "'" })
}
/// PUBLIC and SYSTEM identifiers.
fn identifiers(p: &mut Parser) -> (Option<String>, Option<String>) {
    p.skip_space();
    if p.looking_at("PUBLIC") {
        p.advance(6);
        p.skip_space();
        let public = literal(p);
        if public.is_none() {
            p.error(55, "PUBLIC, the Public Identifier is missing");
        }
        p.skip_space();
        (public, literal(p))
    } else if p.looking_at("SYSTEM") {
        p.advance(6);
        p.skip_space();
        let system = literal(p);
        if system.is_none() {
            p.error(70, "SYSTEM, the URI is missing");
        }
        (None, system)
    } else {
        (None, None)
    }
}

/// `<!DOCTYPE ...>`
pub fn doctype(p: &mut Parser) {
    p.advance(9);
    p.skip_space();
    let Some(name) = p.name() else {
        p.error(68, "xmlParseDocTypeDecl : no DOCTYPE name !");
        p.until(">");
        return;
    };
    let (external, system) = identifiers(p);
    p.seen_doctype = true;
    p.external |= system.is_some() || external.is_some();
    p.push(Event::Doctype { name: name.clone(), external: external.clone(), system: system.clone() });
    p.skip_space();
    if p.byte() == b'[' {
        p.advance(1);
        subset(p);
        p.skip_space();
    }
    if p.byte() == b'>' {
        p.advance(1);
    } else if !p.stopped {
        p.error(61, "DOCTYPE improperly terminated");
        p.until(">");
    }
    p.push(Event::EndDoctype);
    if let Some(text) = p.external_text.take() {
        let depth = p.depth();
        p.push(Event::External { name, external, system });
        p.frames.push(super::xml::Frame::of_parameter(text, "[external subset]".into(), depth));
        external_subset(p);
        p.push(Event::EndDoctype);
    }
}

fn external_subset(p: &mut Parser) {
    let floor = p.frames.len();
    if p.looking_at("<?xml") {
        p.until("?>");
    }
    while !p.stopped && p.frames.len() >= floor {
        p.skip_space();
        if p.rest().is_empty() {
            p.frames.pop();
        } else if p.looking_at("]]>") {
            p.advance(3);
        } else if p.looking_at("<![") {
            // A conditional section: what is to be ignored goes.
            p.advance(3);
            let word = p.until("[").unwrap_or_default();
            if word.trim() == "IGNORE" {
                p.until("]]>");
            }
        } else {
            declaration(p);
        }
    }
}

fn subset(p: &mut Parser) {
    let floor = p.frames.len();
    while !p.stopped {
        p.skip_space();
        if p.rest().is_empty() {
            if p.frames.len() > floor {
                p.frames.pop();
                continue;
            }
            return p.error(60, "internal error: xmlParseInternalSubset: error detected in Markup declaration\n");
        }
        if p.byte() == b']' && p.frames.len() == floor {
            p.advance(1);
            return;
        }
        declaration(p);
    }
}

fn declaration(p: &mut Parser) {
    if p.looking_at("<!--") {
        p.comment();
    } else if p.looking_at("<?") {
        p.instruction();
    } else if p.looking_at("<!ENTITY") {
        p.advance(8);
        entity(p);
    } else if p.looking_at("<!ELEMENT") {
        p.advance(9);
        element(p);
    } else if p.looking_at("<!ATTLIST") {
        p.advance(9);
        attlist(p);
    } else if p.looking_at("<!NOTATION") {
        p.advance(10);
        p.skip_space();
        let name = p.name().unwrap_or_default();
        let (public, system) = identifiers(p);
        end(p);
        p.push(Event::Declared(Declared::Notation(name, public, system)));
    } else if p.byte() == b'%' {
        p.advance(1);
        let name = p.name().unwrap_or_default();
        if p.byte() == b';' {
            p.advance(1);
        }
        let content = p.parameters.get(&name).and_then(|e| e.content.clone());
        match content {
            Some(text) => {
                p.expanded += text.len() + 10;
                if p.frames.len() > 40
                    || p.expanded > super::tree::ENTITY_BYTES
                    || p.frames.iter().any(|f| f.entity.as_deref() == Some(&name))
                {
                    p.error(89, "Detected an entity reference loop\n");
                    p.stopped = true;
                    return;
                }
                let depth = p.depth();
                p.frames.push(super::xml::Frame::of_parameter(text, name, depth));
            }
            None => p.external = true,
        }
    } else {
        p.error(60, "internal error: xmlParseInternalSubset: error detected in Markup declaration\n");
        // The next declaration may be sound.
        p.advance(p.rest().chars().next().map_or(0, char::len_utf8));
        let rest = p.rest();
        let n = rest.bytes().position(|b| matches!(b, b'<' | b']')).unwrap_or(rest.len());
        p.advance(n);
    }
}
fn end(p: &mut Parser) {
    p.skip_space();
    if p.byte() == b'>' {
        p.advance(1);
    } else {
        p.error(73, "expected '>'");
        p.until(">");
    }
}

/// An entity's replacement text: character references and parameter entities are replaced when it is declared.
fn replacement(p: &mut Parser, original: &str) -> String {
    let mut out = String::new();
    let mut rest = original;
    while let Some(at) = rest.find("&#") {
        out.push_str(&rest[..at]);
        let r = &rest[at + 2..];
        let (digits, radix) = match r.strip_prefix('x') {
            Some(r) => (r, 16),
            None => (r, 10),
        };
        let end = digits.find(';').unwrap_or(digits.len());
        match u32::from_str_radix(&digits[..end], radix).ok().and_then(char::from_u32) {
            Some(c) => out.push(c),
            None => p.error(9, "xmlParseCharRef: invalid xmlChar value"),
        }
        rest = digits.get(end + 1..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

pub fn quote(s: &str) -> String {
    if s.contains('"') {
        if s.contains('\'') { format!("\"{}\"", s.replace('"', "&quot;")) } else { format!("'{s}'") }
    } else {
        format!("\"{s}\"")
    }
}

/// How libxml2 writes the declaration of an entity.
pub fn entity_text(name: &str, e: &Entity, kind: i64, ndata: Option<&str>) -> String {
    let mut out = format!("<!ENTITY {}{name}", if kind >= 4 { "% " } else { "" });
    match (&e.external, &e.system) {
        (Some(x), s) => out.push_str(&format!(" PUBLIC {} {}", quote(x), quote(s.as_deref().unwrap_or("")))),
        (None, Some(s)) => out.push_str(&format!(" SYSTEM {}", quote(s))),
        _ => {
            let text = e.original.as_deref().or(e.content.as_deref()).unwrap_or("");
            out.push_str(&format!(" {}", quote(text)));
        }
    }
    if let Some(n) = ndata {
        out.push_str(&format!(" NDATA {n}"));
    }
    out.push_str(">\n");
    out
}

fn entity(p: &mut Parser) {
    p.skip_space();
    let parameter = p.byte() == b'%';
    if parameter {
        p.advance(1);
        p.skip_space();
    }
    let Some(name) = p.name() else {
        p.error(68, "xmlParseEntityDecl: no name");
        p.until(">");
        return;
    };
    p.skip_space();
    let mut e = Entity::default();
    let mut kind = if parameter { 4 } else { 1 };
    let mut ndata = None;
    if let Some(text) = literal(p) {
        e.content = Some(replacement(p, &text));
        e.original = Some(text);
    } else {
        (e.external, e.system) = identifiers(p);
        kind = if parameter { 5 } else { 2 };
        p.skip_space();
        if p.looking_at("NDATA") {
            p.advance(5);
            p.skip_space();
            ndata = p.name();
            kind = 3;
        }
        if e.system.is_none() {
            p.error(36, "Entity value required");
        }
    }
    end(p);
    let text = entity_text(&name, &e, kind, ndata.as_deref());
    let table = if parameter { &mut p.parameters } else { &mut p.entities };
    if table.contains_key(&name) {
        return;
    }
    table.insert(name.clone(), e.clone());
    p.push(Event::Declared(Declared::Entity(name, e, kind, text)));
}

fn element(p: &mut Parser) {
    p.skip_space();
    let name = p.name().unwrap_or_default();
    p.skip_space();
    let Some(model) = p.until(">") else {
        return p.error(73, "xmlParseElementDecl: expected '>' at the end");
    };
    let compact: String = model.chars().filter(|c| !c.is_whitespace()).collect();
    let kind = match compact.as_str() {
        "EMPTY" => 1,
        "ANY" => 2,
        c if c.contains("#PCDATA") => 3,
        _ => 4,
    };
    let shown = compact.replace('|', " | ").replace(',', " , ");
    p.push(Event::Declared(Declared::Element(name.clone(), kind, compact, format!("<!ELEMENT {name} {shown}>\n"))));
}

fn attlist(p: &mut Parser) {
    p.skip_space();
    let element = p.name().unwrap_or_default();
    loop {
        p.skip_space();
        if p.byte() == b'>' {
            p.advance(1);
            return;
        }
        let Some(name) = p.name() else {
            p.error(50, "xmlParseAttributeListDecl: no name for Attribute");
            p.until(">");
            return;
        };
        p.skip_space();
        let mut d = AttDecl { element: element.clone(), name, rule: 1, ..AttDecl::default() };
        let mut shown = String::new();
        let word = if p.byte() == b'(' { None } else { p.name() };
        if let Some(w) = &word {
            shown.clone_from(w);
            d.kind = KINDS.iter().position(|k| k == w).map_or(1, |k| k as i64 + 1);
            if w == "NOTATION" {
                d.kind = 10;
            }
            p.skip_space();
        }
        if p.byte() == b'(' {
            p.advance(1);
            let list = p.until(")").unwrap_or_default();
            d.values = list.split('|').map(|v| v.trim().to_owned()).collect();
            if word.is_none() {
                d.kind = 9;
            }
            if !shown.is_empty() {
                shown.push(' ');
            }
            shown.push_str(&format!("({})", d.values.join(" | ")));
        }
        p.skip_space();
        if p.looking_at("#REQUIRED") {
            p.advance(9);
            d.rule = 2;
        } else if p.looking_at("#IMPLIED") {
            p.advance(8);
            d.rule = 3;
        } else {
            if p.looking_at("#FIXED") {
                p.advance(6);
                d.rule = 4;
                p.skip_space();
            }
            if let Some(raw) = literal(p) {
                let mut value = String::new();
                p.expand(&raw, 0, &mut value);
                d.default = Some(value);
            }
        }
        let rule = ["", "", " #REQUIRED", " #IMPLIED", " #FIXED"][d.rule as usize];
        let default = d.default.as_ref().map(|v| format!(" {}", quote(v))).unwrap_or_default();
        d.text = format!("<!ATTLIST {element} {} {shown}{rule}{default}>\n", d.name);
        // The first declaration counts.
        if p.declared.insert((element.clone(), d.name.clone()))
            && let Some(value) = d.default.clone().filter(|_| p.options.dtdattr || d.name.starts_with("xmlns"))
        {
            p.attlists.entry(element.clone()).or_default().push((d.name.clone(), value));
        }
        p.push(Event::Declared(Declared::Attribute(d)));
        if p.stopped || p.rest().is_empty() || !(is_space(p.byte()) || p.byte() == b'>') {
            return;
        }
    }
}
