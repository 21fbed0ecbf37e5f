//! What was typed to begin a run, and the suite it was begun with: enough to begin it again to the
//! letter.

use serde::{Deserialize, Serialize};

/// More bytes of words than this are not kept: a list of hosts by their names comes to some of
/// them, a page that has to show them ends here.
pub const MOST_WORD_BYTES: usize = 64 * 1024;

/// More words than this are not kept.
pub const MOST_WORDS: usize = 512;

/// More bytes of a suite than this are not kept. A suite file is at most 1 MiB.
pub const MOST_SUITE_BYTES: usize = 1 << 20;

/// The commands that begin a run.
const COMMANDS: [&str; 3] = ["run", "loadline", "replay"];

/// The options that are kept, a blank between two: those that say what is loaded, with what and
/// from where. Where a run is recorded and who is shown it (among these `--token`) is not kept, nor
/// is `--keep-data`: no figure depends on it.
pub const OPTIONS: &str = "objective along workload target set scenario scale buffered existing \
    destroy-data hosts slurm kubernetes kubectl launcher simulate sim-hosts agent fanout \
    connections rw bs iodepth numjobs size runtime rwmixread ramp rate dsync verify name quotable \
    counters provider guest guest-kernel from source only split speed scale-space depth workers";

/// Whether an option of this name is kept.
pub fn is_kept(option: &str) -> bool {
    OPTIONS.split(' ').any(|kept| kept == option)
}

/// Those of them that have no value.
pub const FLAGS: [&str; 4] = ["buffered", "existing", "dsync", "quotable"];

/// What was typed to begin a run, and the suite's text. Runs of versions that kept neither have the
/// default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The command, its options as `--name=value` or `--name` in the order in which they were
    /// typed, and behind these what had no name. None where they were too many or too long, or are
    /// not of text.
    pub words: Vec<String>,
    /// The text of the suite, before any option changed it; empty where it is not known.
    pub suite: String,
    /// Whether the suite was read from a file, which is then the last word; it came with Plimsoll
    /// or from options otherwise.
    pub is_file: bool,
}

impl Origin {
    /// What of this is kept: words or suite are left out where they exceed what a run file has room
    /// for, or where no shell's line holds them.
    pub fn new(words: Vec<String>, suite: String, is_file: bool) -> Origin {
        let suite = if suite.len() > MOST_SUITE_BYTES { String::new() } else { suite };
        let mut origin = Origin { words, suite, is_file };
        if origin.line().is_none() {
            origin.words.clear();
        }
        origin
    }

    /// The words, if they are such as are kept: a command, options that [are kept](is_kept), and
    /// names behind them. A run file may come from anybody.
    pub fn line(&self) -> Option<Line<'_>> {
        let (command, others) = self.words.split_first()?;
        let bytes = self.words.iter().map(String::len).sum::<usize>();
        let is_told = COMMANDS.contains(&command.as_str())
            && self.words.len() <= MOST_WORDS
            && bytes <= MOST_WORD_BYTES
            && !self.words.iter().any(|word| word.chars().any(char::is_control));
        if !is_told {
            return None;
        }
        let end = others
            .iter()
            .position(|word| !word.starts_with("--") || word == "--")
            .unwrap_or(others.len());
        let (named, names) = others.split_at(end);
        let options = named.iter().map(|word| option(word)).collect::<Option<Vec<_>>>()?;
        let names = match names.split_first() {
            Some((dashes, names)) if dashes == "--" => names,
            _ if names.iter().any(|name| name.starts_with('-')) => return None,
            _ => names,
        };
        Some(Line { command, options, names })
    }
}

/// The words of an [`Origin`], told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// `run`, `loadline` or `replay`.
    pub command: &'a str,
    /// Each option's name without its dashes, and its value; those that have none say yes.
    pub options: Vec<(&'a str, Option<&'a str>)>,
    /// What stood without a name: the suite, the paths of the quick form, or the traces.
    pub names: &'a [String],
}

impl Line<'_> {
    /// Whether it replays traces, which its names are.
    pub fn is_replay(&self) -> bool {
        self.command == "replay"
    }

    /// The values of the options of this name.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.options.iter().filter(move |(own, _)| *own == name).filter_map(|(_, value)| *value)
    }
}

/// Name and value of `--name=value`; `None` if it is none that is kept.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = match word.strip_prefix("--")?.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.strip_prefix("--")?, None),
    };
    // An option that has a value and was kept without it would take the next word.
    let is_whole = value.is_some() != FLAGS.contains(&name);
    (is_kept(name) && is_whole).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Origin {
        Origin { words: words.iter().map(|word| (*word).to_owned()).collect(), ..Origin::default() }
    }

    #[test]
    fn words_are_told_apart() {
        let origin = of(&["run", "--set=a=b=c", "--buffered", "--set=x=", "--", "-odd.toml"]);
        let line = origin.line().expect("kept");
        assert_eq!((line.command, line.names), ("run", &["-odd.toml".to_owned()][..]));
        assert_eq!(line.options, [("set", Some("a=b=c")), ("buffered", None), ("set", Some("x="))]);
        assert_eq!(line.values("set").collect::<Vec<_>>(), ["a=b=c", "x="]);
        assert!(
            of(&["run"])
                .line()
                .is_some_and(|line| line.options.is_empty() && line.names.is_empty())
        );
    }

    #[test]
    fn what_is_no_line_of_ours_is_none() {
        let none: [&[&str]; 9] = [
            &[],
            &["clean", "/"],
            &["run", "--token=secret"],
            &["run", "--out=/etc/passwd"],
            &["run", "--destroy-data", "/dev/sda"],
            &["run", "--buffered=no"],
            &["run", "a.toml", "--set=x=1"],
            &["run", "-t"],
            &["run", "--target=/mnt/\u{3}"],
        ];
        for words in none {
            assert_eq!(of(words).line(), None, "{words:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_left_out_whole() {
        let long = |bytes: usize| vec!["run".to_owned(), format!("--hosts={}", "a".repeat(bytes))];
        let fits = MOST_WORD_BYTES - "run--hosts=".len();
        assert_eq!(Origin::new(long(fits), "name".to_owned(), true).words.len(), 2);
        let over = Origin::new(long(fits + 1), "name".to_owned(), true);
        assert!(over.words.is_empty() && over.suite == "name");
        let many = std::iter::once("run".to_owned())
            .chain((0..MOST_WORDS).map(|_| "--buffered".to_owned()));
        assert!(Origin::new(many.collect(), String::new(), false).words.is_empty());
        assert!(Origin::new(Vec::new(), "x".repeat(MOST_SUITE_BYTES + 1), true).suite.is_empty());
    }

    #[test]
    fn a_run_without_it_is_read() {
        let read: Origin = toml::from_str("").expect("good");
        assert_eq!(read, Origin::default());
    }
}
