//! fio's options: a row for each in `options.txt`, and what values say that are not plain.

mod blocks;
mod commands;
mod engines;
mod files;

use super::job::Job;
pub use super::table::OPTIONS;
use crate::draft;
use crate::loss::Verdict;
use crate::rows::{Given, Reads, Row, Takes, Value, Values, unknown};
use crate::words::values::{self, Extent, Notation, flag, number, percent, three};

/// The chapter of the options of the command.
const TOOL: &str = "Options of the command";
/// Slots whose values are fields of a job; what they keep is the option alone.
const TYPED: [&str; 22] = [
    "rw", "bs", "range", "split", "spread", "filename", "directory", "size", "io_size", "filesize",
    "offset", "increment", "zones", "numjobs", "rate", "iops", "engine", "commands", "urgent",
    "urgent_sizes", "urgent_class", "urgent_level",
];
const ALL: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// The options of a job.
pub fn of_jobs() -> impl Iterator<Item = &'static Row> {
    let chapters = OPTIONS.chapters.iter().filter(|chapter| chapter.name != TOOL);
    chapters.flat_map(|chapter| &chapter.rows)
}

/// The option of a job of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    OPTIONS.chapters.iter().filter(|chapter| chapter.name != TOOL).find_map(|all| all.find(name))
}

/// The option of the command of this name.
pub fn find_tool(name: &str) -> Option<&'static Row> {
    OPTIONS.chapter(TOOL).find(name)
}

/// What is said of an option that there is not.
pub fn none_of_fio(name: &str) -> Verdict {
    unknown(of_jobs(), "fio", name)
}

impl Reads for Job {
    fn values(&mut self) -> &mut Values {
        &mut self.slots.0
    }

    fn kept(&self, row: &Row, text: &str) -> Result<Option<Value>, String> {
        let slot = row.slot.unwrap_or_default();
        if TYPED.contains(&slot) {
            return Ok(None);
        }
        let least = text.split(['-', ',']).next().unwrap_or_default();
        let second = if slot == "think" { MICROSECOND } else { SECOND };
        let own = Notation { kilo: self.kilo(), second, ..Notation::PLAIN };
        Ok(Some(match (slot, row.name) {
            ("kb_base", _) if !["1000", "1024"].contains(&text) => {
                return Err(format!("`{text}` is neither 1000 nor 1024"));
            }
            ("sync", _) if !["", "0", "1", "none", "sync", "dsync"].contains(&text) => {
                return Err(format!("`{text}` is no way of `sync` that fio knows"));
            }
            ("flow", _) if text.starts_with('-') => {
                return Err("a weight of at least 1: fio before 3.28 took negative ones".to_owned());
            }
            (_, "priohint") => first_of(text, |text| number(text, own.kilo), 0)?,
            ("align", _) => first_of(text, |text| number(text, own.kilo), 0)?,
            ("random", _) => first_of(text, percent, ALL)?,
            ("delay", _) => row.value(least, own)?,
            ("zone_skip", _) => Value::Number(files::skipped(self, text)?),
            ("reset_threshold" | "reset_frequency", _) => Value::Number(files::ratio(text)?),
            ("verify" | "sync", _) => Value::Is(!matches!(text, "0" | "none")),
            ("pinned", name) => Value::Text(name.to_owned()),
            (_, "rwmixwrite") => Value::Number(ALL - percent(text)?),
            (_, "buffered" | "invalidate") => Value::Is(!flag(text)?),
            _ if row.takes == Takes::Text => Value::Text(text.to_owned()),
            _ => row.value(text, own)?,
        }))
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let verdict = self.read(row, given)?;
        if let Some(slot) = row.slot.filter(|slot| TYPED.contains(slot)) {
            self.values().put(slot, Value::Is(true), given.id);
        }
        Ok(verdict)
    }
}

/// The first value that is given of a list for reads, writes and trims.
fn first_of(
    text: &str,
    read: impl Fn(&str) -> Result<u64, String>,
    default: u64,
) -> Result<Value, String> {
    let first = three(text, read)?.into_iter().flatten().next();
    Ok(Value::Number(first.unwrap_or(default)))
}

/// A list for reads, writes and trims over one that was given before, of which fio keeps what the
/// new one leaves out.
fn over<T: Clone>(before: &Option<[Option<T>; 3]>, own: [Option<T>; 3]) -> Option<[Option<T>; 3]> {
    let mut all = own;
    if let Some(before) = before {
        let both = all.iter_mut().zip(before);
        both.for_each(|(own, before)| *own = own.take().or_else(|| before.clone()));
    }
    Some(all)
}

/// What is said of an option until the whole job is known.
fn later() -> Verdict {
    Verdict::harmless("nothing in this job asks for it")
}

impl Job {
    /// Sizes as a range, which takes the place of a split, or as a split.
    fn mix(&mut self, slot: &str, text: &str) -> Result<(), String> {
        let kilo = self.kilo();
        if slot == "split" {
            let own = three(text, |text| blocks::split(text, kilo))?;
            self.split = over(&self.split, own);
            return Ok(());
        }
        let own = three(text, |text| blocks::range(text, kilo))?;
        self.range = over(&self.range, own);
        self.split = None;
        self.values().forget("split");
        Ok(())
    }

    /// What a row cannot say: values with a form of their own, and classes that depend on them.
    fn read(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let (text, kilo) = (given.value.as_str(), self.kilo());
        let told = row.verdict(text);
        match row.slot.unwrap_or(row.name) {
            "rw" => return blocks::rw(self, text, told),
            "bs" => self.bs = over(&self.bs, three(text, |text| number(text, kilo))?),
            slot @ ("range" | "split") => self.mix(slot, text)?,
            "spread" => self.spread = Some(blocks::distribution(text)?),
            "random" if !blocks::are_alike(text, percent)? => {
                return Ok(Verdict::near(
                    "`random`, with the share of the first direction for all",
                ));
            }
            "align" if !blocks::are_alike(text, |text| number(text, kilo))? => {
                return Ok(Verdict::near("`align`, as of the first direction for all"));
            }
            "filename" if row.name == "filename" => files::add(self, given)?,
            "filename" => self.filename = Some(vec![text.to_owned()]),
            "directory" => self.directory = Some(files::list(text)?),
            "size" => {
                let own = files::zoned(self, text)?;
                // fio keeps a share that was given before, and takes it of these bytes.
                if let (Some(Extent::Share(ppm)), Extent::Bytes(bytes)) = (self.size, own) {
                    let part = u128::from(bytes) * u128::from(ppm) / 1_000_000;
                    self.size = Some(Extent::Bytes(part as u64));
                    let why = "the share given before, of these bytes; fio takes it of the bytes \
                               before `offset` too";
                    return Ok(Verdict::near(why));
                }
                self.size = Some(own);
            }
            "io_size" => self.io_size = Some(files::zoned(self, text)?),
            "offset" => match (self.offset, files::zoned(self, text)?) {
                (Some(Extent::Share(_)), Extent::Bytes(_)) => {
                    return Ok(Verdict::harmless("fio keeps the share given before"));
                }
                (_, own) => self.offset = Some(own),
            },
            "increment" => self.increment = Some(files::zoned(self, text)?),
            "filesize" => return files::filesize(self, text, told),
            "service" => return Ok(files::service(text)),
            "zones" => return files::zonemode(self, text),
            "zone_capacity" => return Ok(files::capacity(self, told)),
            "name" => self.name = text.to_owned(),
            "numjobs" if text.trim() == "$ncpus" => self.numjobs = Some(None),
            "numjobs" => self.numjobs = Some(Some(number(text, kilo)?)),
            "rate" => self.rate = over(&self.rate, three(text, |text| number(text, kilo))?),
            "iops" => self.iops = over(&self.iops, three(text, |text| number(text, kilo))?),
            "latency_target" => return latency_target(text),
            "flow" if self.number("flow") == Some(0) => {
                return Ok(Verdict::harmless("no ratio is kept"));
            }
            "sync" if ["", "1", "sync"].contains(&text) => {
                let why = "`dsync`: `O_DSYNC` in place of `O_SYNC`, without the file's times";
                return Ok(Verdict::near(why));
            }
            "engine" => return Ok(engines::engine(self, text)),
            "libblkio_driver" => return Ok(engines::driver(self, text)),
            "commands" => return commands::commands(self, text),
            "urgent" => self.urgent = Some(commands::both(text, 100)?),
            "urgent_sizes" => return commands::urgent_sizes(self, text, told),
            "urgent_class" => self.urgent_class = Some(commands::both(text, 3)?),
            "urgent_level" => self.urgent_level = Some(commands::both(text, 7)?),
            _ => {}
        }
        let is_later = LATER.contains(&row.slot.unwrap_or_default());
        Ok(if is_later { later() } else { told })
    }
}

/// Of these, only the whole job says what they become.
const LATER: [&str; 7] =
    ["filename", "io_size", "increment", "loops", "exitall", "urgent_class", "urgent_level"];

fn latency_target(text: &str) -> Result<Verdict, String> {
    if text == "0" {
        return Ok(Verdict::harmless("no depth is searched"));
    }
    let limit = draft::time(values::time(text, MICROSECOND)?);
    let limit = limit.trim_matches('"');
    Ok(Verdict::near(format!(
        "`run` keeps `depth`; `plimsoll loadline SUITE --along depth --objective \"p99 < \
         {limit}\"` searches the one that holds it"
    )))
}
