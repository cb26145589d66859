//! A bar chart of ratios as SVG: one bar a program, a whisker for the spread, a line at 1.

pub struct Bar {
    pub name: String,
    pub value: f64,
    pub least: f64,
    pub most: f64,
}

pub fn bars(title: &str, bars: &[Bar]) -> String {
    const LEFT: f64 = 130.0;
    const WIDTH: f64 = 520.0;
    const ROW: f64 = 24.0;
    let scale = bars.iter().fold(1.2f64, |most, b| most.max(b.most * 1.05));
    let x = |v: f64| LEFT + v / scale * WIDTH;
    let height = 60.0 + ROW * bars.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
        LEFT + WIDTH + 70.0,
        escape(title)
    );
    for (i, bar) in bars.iter().enumerate() {
        let y = 36.0 + ROW * i as f64;
        let middle = y + 8.0;
        let colour = if bar.value <= 1.0 { "#2a7f62" } else { "#b3432b" };
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"16\" fill=\"{colour}\"/>\n\
             <line x1=\"{:.1}\" y1=\"{middle}\" x2=\"{:.1}\" y2=\"{middle}\" stroke=\"black\"/>\n<text x=\"{:.1}\" y=\"{}\">{:.2}</text>\n",
            LEFT - 8.0,
            y + 12.0,
            escape(&bar.name),
            x(bar.value) - LEFT,
            x(bar.least),
            x(bar.most),
            x(bar.most.max(bar.value)) + 6.0,
            y + 12.0,
            bar.value
        ));
    }
    out.push_str(&format!(
        "<line x1=\"{0:.1}\" y1=\"28\" x2=\"{0:.1}\" y2=\"{1}\" stroke=\"#888\" stroke-dasharray=\"4 3\"/>\n</svg>\n",
        x(1.0),
        height - 16.0
    ));
    out
}

fn escape(s: &str) -> String {
    s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
