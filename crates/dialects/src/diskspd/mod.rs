//! DiskSpd: command lines and XML profiles. Both say the same things, in slots of one table.

mod command;
mod profile;
mod requests;

pub use command::{START_WORKLOAD, command};
pub use profile::{detect, file};

use crate::apart::{Apart, apart, beside};
use crate::draft::{Group, share};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Table, Takes, Value, Values};
use crate::words::values::{self, Notation};
use std::sync::LazyLock;

/// DiskSpd's options, and the elements of its profiles.
pub static OPTIONS: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_str!("../diskspd/options.txt")));

/// DiskSpd's block where none is given.
const BLOCK: u64 = 64 << 10;

/// What switches slots on (`true`) or off.
const SWITCHES: [(&str, &[&str], bool); 9] = [
    ("-Sh", &["durable", "direct"], true),
    ("-N", &["durable"], true),
    ("-Zr", &["compressible"], false),
    ("-a", &["floating"], false),
    ("DisableAllCache", &["durable", "direct"], true),
    ("DisableOSCache", &["direct"], true),
    ("WriteThrough", &["durable"], true),
    ("DisableAffinity", &["floating"], true),
    ("InterlockedSequential", &["interlocked"], true),
];

/// A command line, or a target of a profile.
#[derive(Clone)]
struct DiskSpd {
    values: Values,
    /// What `b` counts behind a number, wherever `-b` stands; `None` in the size of a block.
    block: Option<u64>,
    /// Hot spots, rate and priority as a suite has them.
    spots: Option<(String, OptionId)>,
    rate: Option<(String, OptionId)>,
    priority: Option<(&'static str, OptionId)>,
}

impl Reads for DiskSpd {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn notation(&self) -> Notation {
        Notation { block: self.block.or(Some(0)), ..Notation::BINARY }
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        if let Some((_, slots, on)) = SWITCHES.iter().find(|(name, ..)| *name == row.name) {
            if row.takes == Takes::Flag && !values::flag(&given.value)? {
                return Ok(Verdict::same("as without it"));
            }
            for slot in *slots {
                match on {
                    true => self.values.put(slot, Value::Is(true), given.id),
                    false => self.values.forget(slot),
                }
            }
            return Ok(row.verdict(&given.value));
        }
        match row.slot.filter(|slot| self.values.number(slot) == Some(0)) {
            Some(slot) => {
                self.values.forget(slot);
                Ok(match slot {
                    "total" => Verdict::harmless("threads are counted for each file"),
                    _ => Verdict::same("as without it"),
                })
            }
            None => self.special(row, given),
        }
    }
}

impl DiskSpd {
    fn new() -> DiskSpd {
        let values = Values::of(&OPTIONS);
        DiskSpd { values, block: Some(BLOCK), spots: None, rate: None, priority: None }
    }

    /// What is neither a value nor a switch.
    fn special(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let (text, id) = (given.value.as_str(), given.id);
        match row.name {
            "-z" if text.is_empty() => {
                return Ok(Verdict::near("every run has the same seed; `--set seed=N`"));
            }
            "-z" => {
                let seed = self.notation().number(text)?;
                self.values.put("seed", Value::Number(seed), id);
            }
            "-f" if text.starts_with(['r', 's', 't']) => {
                return Ok(Verdict::near("no hint is given to the cache"));
            }
            "-f" => {
                let most = self.notation().size(text)?;
                self.values.put("most", Value::Number(most), id);
            }
            "-B" => self.base(text, id)?,
            "-rd" | "Distribution" => self.spots = Some((spots(text)?, id)),
            "-g" | "Throughput" => match self.rate(text)? {
                Some(rate) => self.rate = Some((rate, id)),
                None => return Ok(Verdict::same("as fast as the target goes")),
            },
            "-I" => match text {
                "1" => self.priority = Some(("idle", id)),
                "2" => self.priority = Some(("best-effort/7", id)),
                "3" => return Ok(Verdict::harmless("the default")),
                other => return Err(format!("the priority `{other}`")),
            },
            "-Z" | "WriteBufferContent"
                if text.is_empty() || text.split(' ').nth(1) == Some("zero") =>
            {
                self.values.put("compressible", Value::Is(true), id);
                return Ok(Verdict::same("`contents.compressible`"));
            }
            _ => {}
        }
        Ok(row.verdict(text))
    }

    /// `-B`: where the part that is loaded begins, and behind a colon how long it is.
    fn base(&mut self, text: &str, id: OptionId) -> Result<(), String> {
        let (from, length) = text.split_once(':').unwrap_or((text, ""));
        let from = self.notation().size(from)?;
        self.values.put("base", Value::Number(from), id);
        if text.contains(':') {
            let length = self.notation().size(length)?;
            self.values.put("most", Value::Number(from.saturating_add(length)), id);
        }
        Ok(())
    }

    /// Bytes in a millisecond (`5`), or requests in a second (`5i`, `5 IOPS`), of each thread.
    fn rate(&self, text: &str) -> Result<Option<String>, String> {
        let (digits, unit) = match text.strip_suffix('i') {
            Some(digits) => (digits, "iops"),
            None => text.split_once(' ').unwrap_or((text, "")),
        };
        let rate = self.notation().number(digits)?;
        Ok(match (rate, unit.eq_ignore_ascii_case("iops")) {
            (0, _) => None,
            (1..=1_000_000_000, true) => Some(rate.to_string()),
            (1..=1_000_000_000, false) => Some(format!("\"{}B/s\"", rate * 1_000)),
            _ => return Err("a rate of more than 1,000,000,000 IOPS or 1 TB/s".to_owned()),
        })
    }

    /// `-O`: of the requests that a thread has on all targets together, each of `parts` workloads
    /// has an equal share. They count where `threads` are those of all targets.
    fn share_depth(&mut self, threads: &str, parts: u64, losses: &mut Losses) {
        let Some((all, id)) = self.got("shared_depth") else { return };
        if threads != "total" {
            let needs = "the number of all threads (`-F`, `ThreadCount`): it counts with it alone";
            losses.worsen(id, Verdict::refused(needs));
            return;
        }
        if let Some((_, own)) = self.got("depth") {
            let why = "the requests of each thread on all targets together count";
            losses.replace(own, Verdict::harmless(why));
        }
        self.values.put("depth", Value::Number(all / parts), id);
        if parts > 1 {
            let why = "`depth`: an equal share at each target, not so many over all by turns";
            losses.worsen(id, Verdict::near(why));
        }
    }

    /// A number, and the option that gave it.
    fn got(&self, slot: &str) -> Option<(u64, OptionId)> {
        Some((self.values.number(slot)?, self.values.id(slot)?))
    }
}

/// `pct10/10:60/30` or `Percent 10/10 60/30`: shares of requests and of the target.
fn spots(text: &str) -> Result<String, String> {
    let list = text.strip_prefix("pct").or_else(|| text.strip_prefix("Percent "));
    let list = list.ok_or("hot spots by bytes; those by percent are understood")?;
    let (mut parts, mut requests, mut space) = (Vec::new(), 0, 0);
    for part in list.split([':', ' ']).take(64) {
        let (io, target) = part.split_once('/').ok_or("a share without its space")?;
        let (io, target) = (values::percent(io)?, values::percent(target)?);
        (requests, space) = (requests + io, space + target);
        // What is left goes to the rest of the space.
        if target > 0 && space < 1_000_000 {
            parts.push(format!("{}:{}", share(io), share(target)));
        }
    }
    match !parts.is_empty() && requests <= 1_000_000 && space <= 1_000_000 {
        true => Ok(parts.join(", ")),
        false => Err(format!("`{list}` has no shares that add up to 100 %")),
    }
}

/// A target as it is written, and what stands for it, where it has a path here.
struct Place {
    text: String,
    path: Option<String>,
    id: OptionId,
}

impl Place {
    /// Reads a target, and reports it as the option `name`; `None` where it is refused.
    fn read(name: &str, text: &str, place: &str, losses: &mut Losses) -> Option<Place> {
        let (path, verdict) = match text {
            _ if values::plain_text(text).is_err() && !text.is_empty() => {
                (None, Verdict::refused("a path of at most 1,000 plain bytes"))
            }
            _ if text.starts_with('*') && name == "Path" => {
                let why = "a target that the command line names; name it with `--target`";
                (None, Verdict::near(why))
            }
            _ if text.starts_with("/dev/") => (Some(text.to_owned()), Verdict::same("target")),
            _ if text.starts_with('#') || text.contains(['\\', ':']) => {
                let why = "a path of Windows; name the target with `--target`";
                (None, Verdict::near(why))
            }
            _ => {
                let why = "a file of Plimsoll's own, in `plimsoll-data` beside that file";
                (Some(beside(text)), Verdict::near(why))
            }
        };
        let is_one = verdict.class != crate::Class::Refused;
        let id = losses.tell(name, text, place, verdict);
        is_one.then(|| Place { text: text.to_owned(), path, id })
    }
}

/// A target of its own for each of these, by its number among those of the group.
fn own_targets(all: &[Option<&Place>], losses: &mut Losses, group: &mut Group) -> Vec<usize> {
    let names: Vec<&str> =
        all.iter().map(|place| place.map_or("", |place| place.text.as_str())).collect();
    let mut paths = Vec::new();
    for (place, name) in all.iter().zip(&names) {
        let is_here = place.is_some_and(|place| place.path.is_some());
        paths.push(is_here.then_some(*name));
        if let Some(place) = place.filter(|_| !is_here) {
            let why = "a folder stands for it, and `--target` names \
                       others, in the order of `[targets]`";
            losses.worsen(place.id, Verdict::near(why));
        }
    }
    let Apart { targets, of } = apart(&paths, &names);
    group.targets = targets;
    of
}
