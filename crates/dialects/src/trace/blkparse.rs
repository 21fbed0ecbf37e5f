//! What blkparse prints by default: `8,0 1 42 0.000123456 697 D WS 223490 + 8 [kjournald]`.

use super::names::Names;
use super::{Read, Seen, TraceProblem, field, number, seconds_ns, sectors};
use model::Op;
use model::trace::op_of_letters;

/// Whether a line is one of an event.
pub(super) fn is_one(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().take(7).collect();
    let [device, cpu, sequence, time, pid, action, ..] = words.as_slice() else { return false };
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    is_device(device)
        && [cpu, sequence, pid].into_iter().all(|text| is_number(text))
        && time.parse::<f64>().is_ok()
        && action.len() <= 2
}

fn is_device(word: &str) -> bool {
    word.split_once(',')
        .is_some_and(|(major, minor)| major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok())
}

/// Reads line after line.
#[derive(Default)]
pub(super) struct Blkparse {
    /// Events are followed by a summary.
    is_summary: bool,
}

impl Blkparse {
    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        let mut words = line.split_ascii_whitespace();
        let Some(device) = words.next() else { return Ok(Read::Nothing) };
        if !is_device(device) || self.is_summary {
            self.is_summary |= device.starts_with("CPU") || device.starts_with("Total");
            return Ok(Read::Nothing);
        }
        let (_cpu, _sequence) = (words.next(), words.next());
        let at_ns = seconds_ns(words.next(), "time")?;
        let _pid = words.next();
        // What was handed to the driver: each request once, after merging.
        if field(words.next(), "action")? != "D" {
            return Ok(Read::Nothing);
        }
        let what = field(words.next(), "kind")?;
        let source = names.number(device)?;
        let rest: Vec<&str> = words.collect();
        let (sector, count) = match rest.as_slice() {
            [sector, "+", count, ..] => (Some(*sector), Some(*count)),
            _ => (None, None),
        };
        let Some(op) = op_of_letters(what, count.is_some_and(|count| count != "0")) else {
            return Ok(Read::LeftOut);
        };
        if op == Op::Fsync {
            return Ok(Read::Request(Seen::flush(at_ns, source)));
        }
        let offset = sectors(number(sector, "sector")?, "sector")?;
        let length = sectors(number(count, "number of sectors")?, "number of sectors")?;
        Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
    }
}
