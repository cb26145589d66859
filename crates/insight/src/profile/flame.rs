//! A flame graph in one file: a click on a frame makes it as wide as the picture, a search marks frames.
//!
//! Widths are time, or bytes allocated. Colours say nothing but the kind of a frame (VM, Ruby, builtin), varied by the name.

use super::{Folded, Unit, Weight};
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const ROW: usize = 17;
const HEAD: usize = 46;
/// Frames narrower than this (in the picture's units) are left out.
const NARROWEST: f64 = 0.3;

#[derive(Default)]
struct Node {
    own: Weight,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn total(&self) -> Weight {
        let mut all = self.own;
        self.below.values().for_each(|n| all += n.total());
        all
    }
}

fn tree(all: &Folded) -> Node {
    let mut root = Node::default();
    for (stack, weight) in all {
        let mut at = &mut root;
        for frame in stack {
            at = at.below.entry(frame.clone()).or_default();
        }
        at.own += *weight;
    }
    root
}

/// As XML has it, where most control characters can't stand in any form.
fn escaped(s: &str) -> String {
    let s = s.replace(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{fffe}' | '\u{ffff}'), "\u{fffd}");
    s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Warm for Ruby, blue for VMs, green for builtins.
fn colour(name: &str, depth: usize) -> String {
    let hash = name.bytes().fold(2_166_136_261u32, |h, b| (h ^ b as u32).wrapping_mul(16_777_619));
    let vary = |base: u32, by: u32, shift: u32| base + (hash >> shift) % by;
    match () {
        () if depth == 0 => "#d8d8d8".into(),
        () if depth == 1 => format!("rgb({},{},{})", vary(120, 30, 0), vary(165, 30, 8), vary(215, 30, 16)),
        () if name.starts_with('(') => "#c9a0dc".into(),
        () if !name.ends_with(')') => format!("rgb({},{},{})", vary(120, 50, 0), vary(185, 40, 8), vary(105, 40, 16)),
        () => format!("rgb({},{},{})", vary(225, 30, 0), vary(110, 100, 8), vary(50, 40, 16)),
    }
}

fn draw(out: &mut String, name: &str, node: &Node, depth: usize, x: f64, per: f64, whole: u64, rows: usize, unit: Unit) {
    let weight = node.total();
    let total = weight.units;
    let width = total as f64 * per;
    if width < NARROWEST {
        return;
    }
    let y = HEAD + (rows - depth) * ROW;
    let share = 100.0 * total as f64 / whole.max(1) as f64;
    let name = escaped(name);
    let amount = match unit {
        Unit::Microseconds => format!("{:.1} ms", total as f64 / 1e3),
        Unit::Bytes => format!("{}, {} objects", bytes(total), weight.objects),
    };
    let _ = writeln!(
        out,
        r#"<g data-x="{x:.2}" data-w="{width:.2}"><title>{name}: {amount}, {share:.1}%</title><rect x="{x:.2}" y="{y}" width="{width:.2}" height="{}" rx="1" fill="{}"/><text x="{:.2}" y="{}"></text></g>"#,
        ROW - 1,
        colour(&name, depth),
        x + 3.0,
        y + 12,
    );
    let mut x = x;
    for (name, below) in &node.below {
        draw(out, name, below, depth + 1, x, per, whole, rows, unit);
        x += below.total().units as f64 * per;
    }
}

/// Bytes as people write them.
fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..10_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        _ => format!("{:.1} MB", n as f64 / 1e6),
    }
}

fn depth(node: &Node) -> usize {
    node.below.values().map(|n| 1 + depth(n)).max().unwrap_or(0)
}

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#111;pointer-events:none}#t{font-size:15px}g{cursor:pointer}rect{stroke:#fff;stroke-width:.5}g:hover rect{stroke:#000}.m rect{fill:#d33cff}#s,#r{cursor:pointer;fill:#335}";

const SCRIPT: &str = r#"
(function(){
var svg=document.querySelector('svg.flame')||document.documentElement,W=1200,gs=[].slice.call(svg.querySelectorAll('g'));
function fit(g,w){var t=g.querySelector('text'),n=g.querySelector('title').textContent.split(': ').slice(0,-1).join(': '),k=Math.floor((w-5)/6.7);
t.textContent=k<3?'':n.length<=k?n:n.slice(0,k-1)+'\u2026';}
function zoom(x,w){gs.forEach(function(g){var a=+g.getAttribute('data-x'),b=+g.getAttribute('data-w'),l=Math.max(a,x),r=Math.min(a+b,x+w);
if(r-l<=0.0001){g.style.display='none';return;}
g.style.display='';var X=(l-x)/w*W,B=(r-l)/w*W,q=g.querySelector('rect');q.setAttribute('x',X);q.setAttribute('width',B);g.querySelector('text').setAttribute('x',X+3);fit(g,B);});}
gs.forEach(function(g){g.addEventListener('click',function(){zoom(+g.getAttribute('data-x'),+g.getAttribute('data-w'));});});
svg.getElementById('r').addEventListener('click',function(){zoom(0,W);});
svg.getElementById('s').addEventListener('click',function(){var q=prompt('Frames whose name contains:','');if(q===null)return;
gs.forEach(function(g){var hit=q!==''&&g.querySelector('title').textContent.indexOf(q)>=0;g.setAttribute('class',hit?'m':'');});});
zoom(0,W);})();
"#;

/// A picture that stands alone.
pub fn svg(all: &Folded, unit: Unit) -> String {
    let root = tree(all);
    let rows = depth(&root);
    let height = HEAD + (rows + 1) * ROW + 8;
    let whole = root.total().units;
    let title = match unit {
        Unit::Microseconds => format!("Where the VMs' time went: {:.2} s sampled", whole as f64 / 1e6),
        Unit::Bytes => format!("Where the VMs allocate: {}, {} objects", bytes(whole), root.total().objects),
    };
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" class="flame" viewBox="0 0 {WIDTH} {height}" width="100%"><style>{STYLE}</style><rect width="100%" height="100%" fill="#fff" style="stroke:none"/><text id="t" x="8" y="20">{title}</text><text id="r" x="8" y="38" style="pointer-events:auto">all</text><text id="s" x="48" y="38" style="pointer-events:auto">search</text>
"##
    );
    draw(&mut out, "all VMs", &root, 0, 0.0, WIDTH / whole.max(1) as f64, whole, rows, unit);
    let _ = writeln!(out, "<script><![CDATA[{SCRIPT}]]></script></svg>");
    out
}

/// The same as a page.
pub fn html(all: &Folded, unit: Unit) -> String {
    let picture = svg(all, unit).replace("<script><![CDATA[", "<script>").replace("]]></script>", "</script>");
    format!("<!doctype html><meta charset=\"utf-8\"><title>zakuro profile</title><body style=\"margin:0\">{picture}</body>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_wide_as_their_time() {
        let stack = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let weight = |units| Weight { units, objects: 3 };
        let all = Folded::from([(stack(&["vm", "a (x.rb)"]), weight(750)), (stack(&["vm", "b<c>\u{1} (x.rb)"]), weight(250))]);
        let text = svg(&all, Unit::Microseconds);
        assert!(text.contains(r#"data-w="900.00"><title>a (x.rb): 0.8 ms, 75.0%"#), "{text}");
        assert!(text.contains("b&lt;c&gt;\u{fffd} (x.rb)"));
        assert_eq!(text.matches("<g ").count(), 4);
        assert!(svg(&Folded::new(), Unit::Microseconds).contains("0.00 s sampled"));
        assert!(svg(&all, Unit::Bytes).contains(r#"<title>a (x.rb): 750 B, 3 objects, 75.0%"#));
    }
}
