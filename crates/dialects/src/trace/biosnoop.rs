//! What biosnoop of bcc prints, in Python as in C: a head, then a line for each request that
//! completed.

use super::names::Names;
use super::{Read, Seen, TraceProblem, decimal_ns, field, number, sectors};
use model::Op;
use model::trace::op_of_letters;

/// The order of the columns behind the command, which may hold spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    behind: Vec<String>,
}

impl Columns {
    /// As a head tells them: `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`.
    pub(super) fn of(line: &str) -> Option<Columns> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (["TIME(s)", "COMM"], behind) = words.split_at_checked(2)? else { return None };
        let behind: Vec<String> = behind.iter().map(|word| (*word).to_owned()).collect();
        let has = |name: &str| behind.iter().any(|word| word == name);
        let is_whole = ["PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)"].into_iter().all(has);
        is_whole.then_some(Columns { behind })
    }

    fn value<'a>(&self, values: &[&'a str], name: &str) -> Option<&'a str> {
        values.get(self.behind.iter().position(|word| word == name)?).copied()
    }
}

/// Reads line after line.
#[derive(Default)]
pub(super) struct Biosnoop {
    columns: Option<Columns>,
}

impl Biosnoop {
    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        let Some(columns) = &self.columns else {
            self.columns = Columns::of(line);
            return match &self.columns {
                Some(_) => Ok(Read::Nothing),
                // bcc says first that it traces.
                None if line.starts_with("Tracing") => Ok(Read::Nothing),
                None => Err(TraceProblem::new(
                    "biosnoop's head `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)` is missing",
                    "keep it in the file, or name the form with --from",
                )),
            };
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let behind = words.len().checked_sub(columns.behind.len()).filter(|at| *at >= 1);
        let behind = behind.ok_or_else(|| {
            TraceProblem::new("the line has too few columns", "see whether it is whole")
        })?;
        let values = &words[behind..];
        // The line tells when the request completed, and how long it took.
        let done_ns = decimal_ns(words.first().copied(), "time", 1_000_000_000)?;
        let took_ns = decimal_ns(columns.value(values, "LAT(ms)"), "latency", 1_000_000)?;
        let letters = field(columns.value(values, "T"), "kind")?;
        let length = number(columns.value(values, "BYTES"), "number of bytes")?;
        let source = names.number(field(columns.value(values, "DISK"), "disk")?)?;
        let at_ns = done_ns - took_ns;
        let Some(op) = op_of_letters(letters, length > 0) else { return Ok(Read::LeftOut) };
        if op == Op::Fsync {
            return Ok(Read::Request(Seen {
                at_ns,
                op,
                offset: 0,
                length: 0,
                source,
                took_ns: Some(took_ns),
            }));
        }
        let sector = number(columns.value(values, "SECTOR"), "sector")?;
        let offset = sectors(sector, "sector")?;
        Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: Some(took_ns) }))
    }
}
