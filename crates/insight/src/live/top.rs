//! `zakuro top PID`: what the page shows, in a terminal.

use super::place;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Row, Table, Wrap};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;

/// Bytes of an answer that are read.
const LARGEST: u64 = 1 << 20;
const EVERY: Duration = Duration::from_secs(1);

fn ask(pid: u32) -> io::Result<String> {
    let mut stream = place::connect(pid)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"GET /lines HTTP/1.1\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, content)) if head.starts_with("HTTP/1.1 200") => Ok(content.into()),
        _ => Err(io::Error::other("an answer that is none")),
    }
}

/// A look, in fields.
#[derive(Default)]
struct Look {
    process: Vec<String>,
    bottleneck: String,
    vms: Vec<Vec<String>>,
    channels: Vec<Vec<String>>,
}

fn number(row: &[String], i: usize) -> f64 {
    row.get(i).and_then(|n| n.parse().ok()).unwrap_or(0.0)
}

impl Look {
    fn of(text: &str) -> Look {
        let mut look = Look::default();
        for line in text.lines() {
            let mut fields = line.split('\t').map(String::from);
            match fields.next().as_deref() {
                Some("process") => look.process = fields.collect(),
                Some("bottleneck") => look.bottleneck = fields.nth(1).unwrap_or_default(),
                Some("vm") => look.vms.push(fields.collect()),
                Some("channel") => look.channels.push(fields.collect()),
                _ => {}
            }
        }
        look
    }
}

fn bytes(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.1} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.0} kB", n / 1e3),
        _ => "-".into(),
    }
}

/// Rows of VMs: shares since the look before.
fn vm_rows<'a>(now: &'a Look, before: &Look) -> Vec<Row<'a>> {
    let old: HashMap<&str, &Vec<String>> = before.vms.iter().filter_map(|v| Some((v.first()?.as_str(), v))).collect();
    let rows = now.vms.iter().map(|v| {
        let was = v.first().and_then(|id| old.get(id.as_str()));
        let since = |i: usize| (number(v, i) - was.map_or(0.0, |w| number(w, i))).max(0.0);
        let (run, collect, ready, wait) = (since(4), since(5), since(6), since(7));
        let all = (run + collect + ready + wait).max(1e-9);
        let share = |n: f64| format!("{:5.1}", 100.0 * n / all);
        let text = |i: usize| v.get(i).cloned().unwrap_or_default();
        let busy = (run + collect) / all;
        let cells = [
            text(0),
            text(1),
            text(2),
            share(run),
            share(collect),
            share(ready),
            share(wait),
            format!("{:.1}", number(v, 3)),
            text(8),
            bytes(number(v, 9)),
        ];
        (busy, Row::new(cells))
    });
    let mut rows: Vec<(f64, Row<'_>)> = rows.collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn draw(f: &mut Frame<'_>, now: &Look, before: &Look, lost: Option<&str>) {
    let channels = (now.channels.len() as u16 + 3).min(f.area().height / 3);
    let [top, said, vms, below] =
        Layout::vertical([Constraint::Length(2), Constraint::Length(3), Constraint::Min(4), Constraint::Length(channels)]).areas(f.area());
    let p = &now.process;
    let dt = number(p, 1) - number(&before.process, 1);
    let cores = if dt > 0.0 { (number(p, 2) - number(&before.process, 2)) / dt } else { number(p, 2) / number(p, 1).max(1e-9) };
    let head = format!(
        "zakuro {}  up {:.0} s  CPU {:.1} s  cores busy {cores:.2} of {}  VMs {} (of {})  resident {}  heaps {}",
        p.first().map_or("", String::as_str),
        number(p, 1),
        number(p, 2),
        number(p, 3),
        number(p, 7),
        number(p, 8),
        bytes(number(p, 5)),
        bytes(number(p, 6)),
    );
    let dim = Style::new().fg(Color::DarkGray);
    let note = lost.map_or_else(|| Line::styled("q: leave", dim), |why| Line::styled(why.to_string(), Style::new().fg(Color::Red)));
    f.render_widget(Paragraph::new(vec![Line::styled(head, Style::new().add_modifier(Modifier::BOLD)), note]), top);
    let sentence = Paragraph::new(now.bottleneck.as_str()).wrap(Wrap { trim: true });
    f.render_widget(sentence.block(Block::new().borders(Borders::TOP).title("bottleneck")), said);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let widths = [6, 20, 12, 6, 8, 7, 6, 8, 10, 10].map(Constraint::Length);
    let table = Table::new(vm_rows(now, before), widths)
        .header(Row::new(["vm", "name", "now", "run%", "collect%", "ready%", "wait%", "life s", "received", "heap"]).style(bold));
    f.render_widget(table.block(Block::new().borders(Borders::TOP).title("VMs, since the last look")), vms);
    let rows = now.channels.iter().map(|c| Row::new(c.clone()));
    let widths = [
        Constraint::Min(24),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(12),
        Constraint::Length(12),
    ];
    let table = Table::new(rows, widths)
        .header(Row::new(["channel", "sent", "received", "queued", "deepest", "recv wait s", "send wait s"]).style(bold));
    f.render_widget(table.block(Block::new().borders(Borders::TOP).title("channels")), below);
}

/// Shows the process until somebody presses `q`, or it is gone.
///
/// # Errors
/// There is no such process that serves, or no terminal.
pub fn run(pid: u32) -> Result<(), String> {
    let first = ask(pid).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            format!("top: no process {pid} of this user that was started with --dashboard or --top")
        }
        _ => format!("top: {pid}: {e}"),
    })?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err("top: it needs a terminal".into());
    }
    let (mut now, mut before) = (Look::of(&first), Look::default());
    let mut lost = None;
    let mut terminal = ratatui::try_init().map_err(|e| format!("top: {e}"))?;
    let shown = loop {
        if let Err(e) = terminal.draw(|f| draw(f, &now, &before, lost.as_deref())) {
            break Err(format!("top: {e}"));
        }
        match event::poll(EVERY) {
            Ok(false) => match ask(pid) {
                Ok(text) => before = std::mem::replace(&mut now, Look::of(&text)),
                Err(_) => lost = Some(format!("process {pid} has ended; q: leave")),
            },
            Ok(true) => match event::read() {
                Ok(Event::Key(k)) if k.code == KeyCode::Char('q') || k.code == KeyCode::Esc => break Ok(()),
                Ok(Event::Key(k)) if k.code == KeyCode::Char('c') && k.modifiers.contains(KeyModifiers::CONTROL) => break Ok(()),
                Ok(_) => {}
                Err(e) => break Err(format!("top: {e}")),
            },
            Err(e) => break Err(format!("top: {e}")),
        }
    };
    ratatui::restore();
    shown
}
