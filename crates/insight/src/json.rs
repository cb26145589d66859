//! The picture as JSON. Its form is stable (docs/insight.md): fields are added, not changed.

use crate::causes::Cause;
use crate::picture::{ChannelRow, End, Group, Picture};
use zakuro_vm::account::WaitKind;

/// Writes JSON, a value at a time.
#[derive(Default)]
pub struct Writer {
    pub text: String,
}

impl Writer {
    fn comma(&mut self) {
        if !matches!(self.text.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(',');
        }
    }
    pub fn object(&mut self, f: impl FnOnce(&mut Writer)) {
        self.comma();
        self.text.push('{');
        f(self);
        self.text.push('}');
    }
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut f: impl FnMut(&mut Writer, T)) {
        self.comma();
        self.text.push('[');
        items.into_iter().for_each(|i| f(self, i));
        self.text.push(']');
    }
    pub fn key(&mut self, name: &str) -> &mut Writer {
        self.string(name);
        self.text.push(':');
        self
    }
    pub fn string(&mut self, s: &str) {
        self.comma();
        self.text.push('"');
        for c in s.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                c if (c as u32) < 0x20 => self.text.push_str(&format!("\\u{:04x}", c as u32)),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
    pub fn int(&mut self, n: u64) {
        self.comma();
        self.text.push_str(&n.to_string());
    }
    /// Six digits behind the point.
    pub fn float(&mut self, n: f64) {
        self.comma();
        // In whole millionths: no minus before a nought.
        let n = if n.is_finite() { (n * 1e6).round() / 1e6 + 0.0 } else { 0.0 };
        self.text.push_str(&format!("{n:.6}"));
    }
    /// A value as it stands in the text.
    pub fn raw(&mut self, value: &str) {
        self.comma();
        self.text.push_str(value);
    }
    pub fn null(&mut self) {
        self.raw("null");
    }
    pub fn optional<T>(&mut self, v: Option<T>, f: impl FnOnce(&mut Writer, T)) {
        match v {
            Some(v) => f(self, v),
            None => self.null(),
        }
    }
}

fn group(w: &mut Writer, g: &Group) {
    let s = &g.seconds;
    w.object(|w| {
        w.key("name").string(&g.label);
        w.key("vms").int(g.count);
        w.key("ended").int(g.ended);
        for (name, n) in [
            ("life_s", s.life),
            ("run_s", s.run),
            ("collect_s", s.collect),
            ("copy_s", s.copy),
            ("image_s", s.image),
            ("compile_s", s.compile),
            ("load_s", s.load),
            ("ready_s", s.ready),
            ("wait_s", s.waiting),
        ] {
            w.key(name).float(n);
        }
        w.key("waits").object(|w| {
            for k in WaitKind::ALL.into_iter().filter(|k| s.wait(*k) > 0.0) {
                w.key(k.name()).float(s.wait(k));
            }
        });
        for (name, n) in [("turns", g.turns), ("collections", g.collections), ("received", g.received), ("threads", g.threads)] {
            w.key(name).int(n);
        }
        w.key("places").list(g.places.iter().take(16), |w, (kind, place, waited)| {
            w.object(|w| {
                w.key("kind").string(kind.name());
                w.key("place").string(place);
                w.key("wait_s").float(*waited);
            });
        });
    });
}

/// Most rows that are told of each kind. The others are counted.
#[derive(Clone, Copy)]
struct Limits {
    groups: usize,
    channels: usize,
    /// Senders, and receivers, of one channel.
    ends: usize,
}

const ALL: Limits = Limits { groups: usize::MAX, channels: usize::MAX, ends: usize::MAX };
/// As many as a page shows.
const BRIEF: Limits = Limits { groups: 50, channels: 50, ends: 8 };

fn channel(w: &mut Writer, p: &Picture, c: &ChannelRow, most: usize) {
    let ends = |w: &mut Writer, list: &[End]| {
        let mut list: Vec<&End> = list.iter().collect();
        if list.len() > most {
            list.sort_by_key(|e| std::cmp::Reverse(e.messages));
            list.truncate(most);
        }
        w.list(list, |w, e| {
            w.object(|w| {
                w.key("name").string(&p.groups[e.group].label);
                w.key("vms").int(e.vms);
                w.key("messages").int(e.messages);
                w.key("waits").int(e.waits);
                w.key("wait_s").float(e.waited);
            });
        });
    };
    w.object(|w| {
        w.key("id").int(c.id);
        w.key("name").optional(c.name.as_deref(), |w, n| w.string(n));
        w.key("place").optional(c.place.as_deref(), |w, n| w.string(n));
        w.key("bound").optional(c.bound, |w, n| w.int(n as u64));
        for (name, n) in [("sent", c.sent), ("received", c.received), ("bytes", c.through().1), ("deepest", c.deepest)] {
            w.key(name).int(n);
        }
        w.key("remote").raw(if c.remote { "true" } else { "false" });
        w.key("receive_wait_s").float(c.receive_waited());
        w.key("send_wait_s").float(c.send_waited());
        ends(w.key("senders"), &c.senders);
        ends(w.key("receivers"), &c.receivers);
        for (name, list) in [("more_senders", &c.senders), ("more_receivers", &c.receivers)] {
            if list.len() > most {
                w.key(name).int((list.len() - most) as u64);
            }
        }
    });
}

fn cause(w: &mut Writer, c: &Cause) {
    w.object(|w| {
        w.key("code").string(c.code);
        w.key("weight").float(c.weight);
        w.key("sentence").string(&c.sentence);
    });
}

pub fn text(p: &Picture, causes: &[Cause]) -> String {
    limited(p, causes, ALL)
}

/// The same of the groups that ran most and the first channels; `left_out` says how many groups, VMs and channels there are besides.
pub fn brief(p: &Picture, causes: &[Cause]) -> String {
    limited(p, causes, BRIEF)
}

fn limited(p: &Picture, causes: &[Cause], most: Limits) -> String {
    let mut groups: Vec<&Group> = p.groups.iter().collect();
    let mut rest = (0, 0);
    if groups.len() > most.groups {
        groups.sort_by(|a, b| b.seconds.active.total_cmp(&a.seconds.active));
        rest = ((groups.len() - most.groups) as u64, groups.split_off(most.groups).iter().map(|g| g.count).sum());
    }
    let mut w = Writer::default();
    w.object(|w| {
        w.key("version").int(1);
        w.key("wall_s").float(p.wall);
        w.key("cpu_s").float(p.cpu);
        w.key("cores").object(|w| {
            w.key("logical").int(p.machine.logical as u64);
            w.key("physical").int(p.machine.physical as u64);
            w.key("quota").optional(p.machine.quota, |w, q| w.float(q));
            w.key("usable").float(p.machine.usable());
        });
        w.key("workers").list(&p.workers, |w, busy| {
            w.object(|w| {
                w.key("busy_s").float(*busy);
                w.key("idle_s").float((p.wall - busy).max(0.0));
            });
        });
        w.key("groups").list(groups, group);
        w.key("channels").list(p.channels.iter().take(most.channels), |w, c| channel(w, p, c, most.ends));
        let channels = p.channels.len().saturating_sub(most.channels) as u64;
        if rest.0 + channels > 0 {
            w.key("left_out").object(|w| {
                for (name, n) in [("groups", rest.0), ("vms", rest.1), ("channels", channels)] {
                    w.key(name).int(n);
                }
            });
        }
        w.key("timeline").object(|w| {
            w.key("part_s").float(p.part);
            w.key("active").list(p.timeline(), |w, n| w.float(n));
        });
        w.key("bottleneck").optional(causes.first(), cause);
        w.key("also").list(causes.iter().skip(1), cause);
    });
    w.text.push('\n');
    w.text
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn numbers_have_six_places_and_no_minus_before_a_nought() {
        let shown = |n: f64| {
            let mut w = Writer::default();
            w.float(n);
            w.text
        };
        assert_eq!([-1e-9, -0.0, f64::NAN, -1.5, 2.0 / 3.0].map(shown), ["0.000000", "0.000000", "0.000000", "-1.500000", "0.666667"]);
    }
}
