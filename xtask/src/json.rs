//! Just enough JSON to write results.

pub enum Json {
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn text(s: impl Into<String>) -> Json {
        Json::Text(s.into())
    }

    pub fn numbers(list: &[f64]) -> Json {
        Json::List(list.iter().map(|&n| Json::Number(n)).collect())
    }

    pub fn write(&self, out: &mut String, indent: usize) {
        match self {
            Json::Number(n) if n.is_finite() => out.push_str(&format!("{n}")),
            Json::Number(_) => out.push_str("null"),
            Json::Text(s) => quote(s, out),
            Json::List(list) => {
                out.push('[');
                for (i, item) in list.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    item.write(out, indent + 2);
                }
                out.push(']');
            }
            Json::Object(pairs) => {
                out.push('{');
                for (i, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if i > 0 { ",\n" } else { "\n" });
                    out.push_str(&" ".repeat(indent + 2));
                    quote(key, out);
                    out.push_str(": ");
                    value.write(out, indent + 2);
                }
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                out.push('}');
            }
        }
    }
}

fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
