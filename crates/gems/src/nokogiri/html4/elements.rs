//! What libxml2 2.9 knows of HTML 4's elements.

/// An open element is closed by the start tags that stand after it.
const CLOSED_BY: &[(&str, &str)] = &[
    ("a", "a fieldset table td th"),
    ("address", "dd dl dt form li ul"),
    ("b", "center p td th"),
    ("big", "p"),
    ("caption", "col colgroup tbody tfoot thead tr"),
    ("col", "col colgroup tbody tfoot thead tr"),
    ("colgroup", "colgroup tbody tfoot thead tr"),
    ("dd", "dt"),
    ("dir", "dd dl dt form ul"),
    ("dl", "form li"),
    ("dt", "dd dl"),
    ("font", "center td th"),
    ("form", "form"),
    ("h1", "fieldset form li p table"),
    ("h2", "fieldset form li p table"),
    ("h3", "fieldset form li p table"),
    ("h4", "fieldset form li p table"),
    ("h5", "fieldset form li p table"),
    ("h6", "fieldset form li p table"),
    (
        "head",
        "a abbr acronym address b bdo big blockquote body br center cite code dd dfn dir div dl dt em fieldset font form frameset h1 h2 h3 h4 h5 h6 hr i iframe img kbd li map menu ol p pre q s samp small span strike strong sub sup table tt u ul var",
    ),
    ("i", "center p td th"),
    ("legend", "fieldset"),
    ("li", "li"),
    ("link", "body frameset"),
    ("menu", "dd dl dt form ul"),
    ("ol", "form ul"),
    ("option", "optgroup option"),
    (
        "p",
        "address blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset h1 h2 h3 h4 h5 h6 head hr li menu ol p pre table tbody td tfoot th title tr ul",
    ),
    ("pre", "dd dl dt fieldset form li table ul"),
    ("s", "p"),
    ("script", "noscript"),
    ("small", "p"),
    ("span", "td th"),
    ("strike", "p"),
    ("style", "body frameset"),
    ("tbody", "tbody tfoot"),
    ("td", "tbody td tfoot th tr"),
    ("tfoot", "tbody"),
    ("th", "tbody td tfoot th tr"),
    ("thead", "tbody tfoot"),
    ("title", "body frameset"),
    ("tr", "tbody tfoot tr"),
    ("tt", "p"),
    ("u", "p td th"),
    ("ul", "address form menu ol pre"),
];

/// What is known of an element.
pub struct Element {
    pub empty: bool,
    pub inline: bool,
    /// Its end tag is missed.
    pub end_tag: bool,
}

/// What is known of an element of HTML 4.
pub fn element(name: &str) -> Option<Element> {
    let empty = matches!(
        name,
        "area" | "base" | "basefont" | "br" | "col" | "frame" | "hr" | "img" | "input" | "isindex" | "link" | "meta" | "param"
    );
    let inline = matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "applet"
            | "area"
            | "b"
            | "basefont"
            | "bdo"
            | "big"
            | "br"
            | "button"
            | "cite"
            | "code"
            | "del"
            | "dfn"
            | "em"
            | "embed"
            | "font"
            | "i"
            | "iframe"
            | "img"
            | "input"
            | "ins"
            | "kbd"
            | "label"
            | "map"
            | "noscript"
            | "object"
            | "param"
            | "q"
            | "s"
            | "samp"
            | "script"
            | "select"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "textarea"
            | "tt"
            | "u"
            | "var"
    );
    if !empty
        && !inline
        && !matches!(
            name,
            "address"
                | "base"
                | "blockquote"
                | "body"
                | "caption"
                | "center"
                | "col"
                | "colgroup"
                | "dd"
                | "dir"
                | "div"
                | "dl"
                | "dt"
                | "fieldset"
                | "form"
                | "frame"
                | "frameset"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "head"
                | "hr"
                | "html"
                | "isindex"
                | "legend"
                | "li"
                | "link"
                | "menu"
                | "meta"
                | "noframes"
                | "ol"
                | "optgroup"
                | "option"
                | "p"
                | "param"
                | "pre"
                | "style"
                | "table"
                | "tbody"
                | "td"
                | "tfoot"
                | "th"
                | "thead"
                | "title"
                | "tr"
                | "ul"
        )
    {
        return None;
    }
    let end_tag = matches!(name, "b" | "big" | "em" | "font" | "i" | "s" | "small" | "strike" | "strong" | "sup" | "tt" | "u");
    Some(Element { empty, inline: inline && name != "isindex", end_tag })
}

pub fn closes(start: &str, open: &str) -> bool {
    CLOSED_BY.binary_search_by_key(&open, |(o, _)| o).is_ok_and(|i| CLOSED_BY[i].1.split(' ').any(|s| s == start))
}
/// End tags close what has no higher one.
pub fn priority(name: &str) -> u32 {
    match name {
        "div" => 150,
        "td" | "th" => 160,
        "tr" => 170,
        "thead" | "tbody" | "tfoot" => 180,
        "table" => 190,
        "head" | "body" => 200,
        "html" => 220,
        _ => 100,
    }
}
