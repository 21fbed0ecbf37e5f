//! What happened at an instant of a run and is no figure: a mark that somebody set, an event of the
//! suite, something that was found.

use crate::counters::{CounterSample, Layer, Metric};
use serde::{Deserialize, Serialize};

crate::words! {
    /// What kind of thing happened: stable words, which stand in run files and JSON.
    pub enum OccurrenceKind {
        /// Somebody said that something happened.
        Mark = "mark",
        /// An event of the suite was due; its command, if it has one, began.
        Planned = "planned",
        /// The command of an event of the suite ended, or was given up.
        CommandEnded = "command-ended",
        /// The command of an event of an earlier stage still ran when this stage began.
        StillRunning = "still-running",
        /// A host died, or was not heard of any more.
        HostLost = "host-lost",
        /// A host that was lost is there again.
        HostReturned = "host-returned",
        /// The kernel of a host logged an error of a device.
        KernelLog = "kernel-log",
        /// Processors of a host began to slow down because of heat.
        Throttled = "throttled",
        /// What was to be done before a point ended, was given up, or was left out.
        Prerun = "prerun",
    }
}

/// A label has at most so many bytes.
pub const MOST_LABEL_BYTES: usize = 200;
/// The words behind a label have at most so many bytes.
pub const MOST_DETAIL_BYTES: usize = 4096;

/// Something that happened at an instant of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// What kind of thing.
    pub kind: OccurrenceKind,
    /// The stage that ran then; `None` between stages.
    pub stage: Option<u32>,
    /// When, in ns after the stage was started: the axis of the samples. 0 where no stage ran.
    pub at_ns: u64,
    /// Wall-clock time, in ns since 1970, for people.
    pub unix_ns: u64,
    /// The host that it concerns; `None` for all, or for nobody in particular.
    pub host: Option<u32>,
    /// What, in a few words: one line of at most [`MOST_LABEL_BYTES`].
    pub label: String,
    /// More of it, such as the last lines that a command wrote: at most [`MOST_DETAIL_BYTES`].
    /// Often empty.
    pub detail: String,
    /// How a command ended: its exit status; `None` where none ended, or a signal ended it.
    pub status: Option<i32>,
    /// How long a command took, in ns; of a lost host, for how long it had not been heard of.
    pub duration_ns: Option<u64>,
}

impl Occurrence {
    /// Something at an instant that is still to be told. The label is [cleaned](one_line); where it
    /// is too long for one, all of it is the detail.
    pub fn new(kind: OccurrenceKind, label: &str) -> Occurrence {
        let detail = if label.trim().len() > MOST_LABEL_BYTES {
            last_lines(label, MOST_DETAIL_BYTES)
        } else {
            String::new()
        };
        Occurrence {
            detail,
            kind,
            stage: None,
            at_ns: 0,
            unix_ns: 0,
            host: None,
            label: one_line(label, MOST_LABEL_BYTES),
            status: None,
            duration_ns: None,
        }
    }

    /// When it happened, in seconds after the stage was started.
    pub fn at_s(&self) -> f64 {
        self.at_ns as f64 / 1e9
    }

    /// When what it says began, in ns after the stage was started: of a lost host, its last word
    /// and not the instant at which it was given up. Where that lies before the stage, 0.
    pub fn since_ns(&self) -> u64 {
        let before_ns =
            self.duration_ns.filter(|_| self.kind == OccurrenceKind::HostLost).unwrap_or(0);
        self.at_ns.saturating_sub(before_ns)
    }

    /// The same in seconds.
    pub fn since_s(&self) -> f64 {
        self.since_ns() as f64 / 1e9
    }

    /// Whether something of the outside may have begun at its instant, so that it is worth a look
    /// at what the figures did then.
    pub fn may_have_effects(&self) -> bool {
        !matches!(
            self.kind,
            OccurrenceKind::CommandEnded | OccurrenceKind::StillRunning | OccurrenceKind::Prerun
        )
    }
}

/// `text` in one line of at most so many bytes, without control characters: whoever shows it need
/// not be careful. Where it is cut, it is cut behind a word and ends in `…`.
pub fn one_line(text: &str, most_bytes: usize) -> String {
    // What is hostile may be long: more than this is not looked at.
    let text = printable(cut(text, most_bytes * 4), false);
    let text = text.trim();
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let kept = cut(text, most_bytes.saturating_sub(CUT.len()));
    // A word that would take half of the room is cut itself.
    let whole = kept
        .rfind(' ')
        .filter(|end| *end * 2 >= kept.len() && !text[kept.len()..].starts_with(' '));
    let kept = whole.map_or(kept, |end| &kept[..end]).trim_end();
    cut(&format!("{kept}{CUT}"), most_bytes).to_owned()
}

/// The end of `text`, of at most so many bytes, without control characters but line feeds.
pub fn last_lines(text: &str, most_bytes: usize) -> String {
    let text = printable(text, true);
    let text = text.trim_end();
    let mut from = text.len().saturating_sub(most_bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = &text[from..];
    // Half a line is left out, unless it is all that there is.
    if from == 0 {
        tail.to_owned()
    } else {
        tail.split_once('\n').map_or(tail, |(_, whole)| whole).to_owned()
    }
}

fn printable(text: &str, lines: bool) -> String {
    text.chars()
        .map(|c| if crate::printable::acts(c) && !(lines && c == '\n') { ' ' } else { c })
        .collect()
}

/// Ends what is not whole.
const CUT: &str = "…";

fn cut(text: &str, most_bytes: usize) -> &str {
    let mut end = text.len().min(most_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// How often processors of a host slowed down because of heat in a sample.
pub fn throttles(sample: &CounterSample) -> u64 {
    let of_cpus =
        sample.entries.iter().filter(|entry| matches!(entry.layer, Layer::Cpu | Layer::Clock));
    let count = |metric| move |entry: &crate::counters::Entry| entry.get(metric).unwrap_or(0);
    let sum = |metric| of_cpus.clone().map(count(metric)).fold(0, u64::saturating_add);
    sum(Metric::CoreThrottles).saturating_add(sum(Metric::PackageThrottles))
}

/// Which hosts' processors slow down because of heat just now.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    hot: Vec<bool>,
}

impl Heat {
    /// Of so many hosts, all of them cool.
    pub fn new(hosts: usize) -> Heat {
        Heat { hot: vec![false; hosts] }
    }

    /// What is found in the next sample of a host whose processors begin to slow down: one finding
    /// for a row of such intervals. Its instant is still to be told.
    pub fn began(&mut self, host: u32, sample: &CounterSample) -> Option<Occurrence> {
        let count = throttles(sample);
        let was_hot = std::mem::replace(self.hot.get_mut(host as usize)?, count > 0);
        let label = format!("CPUs slowed down because of heat, {count} times in an interval");
        let found =
            Occurrence { host: Some(host), ..Occurrence::new(OccurrenceKind::Throttled, &label) };
        (count > 0 && !was_hot).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Entry;

    #[test]
    fn a_label_is_one_line_without_tricks_and_cut_between_characters() {
        let label = Occurrence::new(OccurrenceKind::Mark, " a\u{1b}[31mb\nc\u{202e}d ").label;
        assert_eq!(label, "a [31mb c d");
        let long = one_line(&"ü".repeat(300), 201);
        assert_eq!((long.len(), long.chars().count(), long.ends_with('…')), (201, 100, true));
    }

    #[test]
    fn a_label_that_is_too_long_ends_behind_a_word_and_all_of_it_is_the_detail() {
        let long = format!(
            "host n7: no agent could be started: {}; check that `ssh n7 true` works",
            "it refused ".repeat(30)
        );
        let lost = Occurrence::new(OccurrenceKind::HostLost, &long);
        assert!(lost.label.len() <= MOST_LABEL_BYTES, "{}", lost.label);
        assert!(
            lost.label.ends_with(" it refused…") || lost.label.ends_with(" it…"),
            "{}",
            lost.label
        );
        assert_eq!(lost.detail, long);
        let short = Occurrence::new(OccurrenceKind::HostLost, "gone");
        assert_eq!((short.label.as_str(), short.detail.as_str()), ("gone", ""));
        assert_eq!(
            (one_line("one two three", 9), one_line("one", 2)),
            ("one…".to_owned(), String::new())
        );
    }

    #[test]
    fn the_last_lines_are_whole_ones() {
        assert_eq!(last_lines("one\ntwo\nthree\n", 100), "one\ntwo\nthree");
        assert_eq!(last_lines("one\ntwo\nthree\n", 8), "three");
        assert_eq!(last_lines("\u{1b}x\n", 100), " x");
        assert_eq!(last_lines("endless", 3), "ess");
        assert_eq!(last_lines("", 3), "");
    }

    #[test]
    fn throttles_of_all_cpus_are_added_up() {
        let entry = |name: &str, value| Entry {
            layer: Layer::Clock,
            name: name.to_owned(),
            values: vec![
                (Metric::FrequencyHz, 9),
                (Metric::CoreThrottles, value),
                (Metric::PackageThrottles, 1),
            ],
        };
        let sample = CounterSample {
            entries: vec![entry("0", 2), entry("1", 3)],
            ..CounterSample::default()
        };
        assert_eq!(throttles(&sample), 7);
        assert_eq!(throttles(&CounterSample::default()), 0);
    }
}
