//! What a parameter file defines, with the values that are given for it.

use super::values::{
    begins, bytes, count, duration, extent, is_asked, list, millionths, number, numbers, part,
    range, rates, saved, seek, sizes, sizes_in_turn,
};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Table, Value, Values};
use crate::words::values::{percent, plain_text};
use std::sync::LazyLock;

/// vdbench's parameters.
pub static OPTIONS: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("options.txt")));

/// What is defined, in the order of the chapters of [`OPTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    General,
    Hosts,
    Storages,
    Workloads,
    FileSystems,
    FileWorkloads,
    Runs,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 7] = [
        Part::General,
        Part::Hosts,
        Part::Storages,
        Part::Workloads,
        Part::FileSystems,
        Part::FileWorkloads,
        Part::Runs,
    ];

    /// Its parameters.
    pub fn rows(self) -> &'static [Row] {
        &OPTIONS.chapters[self as usize].rows
    }

    /// The parameter of this name: every beginning of two letters or more is the first name that
    /// begins so.
    pub fn find(self, key: &str) -> Option<&'static Row> {
        let exact = self.rows().iter().find(|row| row.names().any(|name| name == key));
        let begins = |row: &&Row| row.names().any(|name| name.starts_with(key));
        exact.or_else(|| self.rows().iter().find(begins).filter(|_| key.len() >= 2))
    }
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What it is.
    pub part: Part,
    /// Its name.
    pub name: String,
    /// What is given for it.
    pub values: Values,
    /// The option that asks for direct I/O.
    pub direct: Option<OptionId>,
    /// The option that asks for durable writes.
    pub durable: Option<OptionId>,
}

impl Definition {
    /// One without a name, for which nothing is given.
    pub fn new(part: Part) -> Definition {
        let values = Values::of(&OPTIONS);
        Definition { part, name: String::new(), values, direct: None, durable: None }
    }

    /// Whether it asks for what has this name, by a list of names; without one, for all.
    pub fn asks(&self, slot: &str, name: &str) -> bool {
        let is_it = |one: &Value| matches!(one, Value::Text(pattern) if is_asked(pattern, name));
        self.values.list(slot).is_none_or(|all| all.iter().any(is_it))
    }

    /// Whether this word is in a list.
    pub fn has(&self, slot: &str, word: &str) -> bool {
        let is_it = |one: &Value| matches!(one, Value::Text(text) if text == word);
        self.values.list(slot).is_some_and(|all| all.iter().any(is_it))
    }

    /// A definition's value changed its meaning, now that all of the file is known.
    pub fn worsen(&self, slot: &str, losses: &mut Losses, verdict: Verdict) {
        worsen(&self.values, slot, losses, verdict);
    }

    /// vdbench ends at a name that nothing has.
    pub fn undefined(&self, slot: &str, all: &[Definition], losses: &mut Losses) {
        let is_there = |one: &Value| match one {
            Value::Text(pattern) => all.iter().any(|known| is_asked(pattern, &known.name)),
            _ => false,
        };
        if self.values.list(slot).is_some_and(|asked| !asked.iter().all(is_there)) {
            self.worsen(slot, losses, Verdict::refused("nothing of that name; define it"));
        }
    }

    /// How files are opened.
    fn open(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let mut verdict = row.verdict(&given.value);
        for flag in list(&given.value) {
            match flag.to_ascii_lowercase().as_str() {
                "o_direct" | "directio" | "f_nocache" => self.direct = Some(given.id),
                "directio_off" => self.direct = None,
                "o_sync" | "o_dsync" | "o_rsync" => self.durable = Some(given.id),
                "fsync" => verdict = Verdict::near("files are flushed when nothing is measured"),
                "clear_cache" | "clearcache" => {
                    verdict = Verdict::near("`engine.evict`, before a stage that reads");
                }
                flag => return Err(format!("the flag `{flag}`")),
            }
        }
        Ok(verdict)
    }
}

/// A value changed its meaning, now that all of the file is known.
pub fn worsen(values: &Values, slot: &str, losses: &mut Losses, verdict: Verdict) {
    if let Some(id) = values.id(slot) {
        losses.worsen(id, verdict);
    }
}

/// The first option by which a way to storage (its run, its workload, itself) asks for something.
/// All ways get it: where one of them does not ask, the report says so.
pub fn opened(
    ways: &[[&Definition; 3]],
    asks: fn(&Definition) -> Option<OptionId>,
    losses: &mut Losses,
) -> Option<OptionId> {
    let ids: Vec<Option<OptionId>> =
        ways.iter().map(|way| way.iter().find_map(|one| asks(one))).collect();
    if ids.contains(&None) {
        let why = "all that runs beside it is opened so, too";
        ids.iter().flatten().for_each(|id| losses.worsen(*id, Verdict::near(why)));
    }
    ids.into_iter().flatten().next()
}

impl Reads for Definition {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn value(&self, row: &Row, text: &str) -> Result<Value, String> {
        let slot = row.slot.unwrap_or_default();
        if self.part == Part::Runs
            && let Some(found) = of_run(slot, text)
        {
            return found;
        }
        Ok(Value::Number(match slot {
            "storages" => return Ok(texts(list(text))),
            "lun" | "anchor" => return plain_text(text).map(Value::Text),
            "range" => return range(text).map(Value::Text),
            "xfersize" => return sizes(text, false).map(|_| Value::Text(text.to_owned())),
            "sizes" => return sizes(text, true).map(|_| Value::Text(text.to_owned())),
            "operation" => return Ok(Value::Text(unbracketed(text))),
            "verify" => return Ok(Value::Is(!text.eq_ignore_ascii_case("no"))),
            "everywhere" | "random" => return choice(slot, text).map(Value::Is),
            "seek" => return seek(text),
            "total" | "working_set" => return extent(text, self.part == Part::Runs),
            "skew" | "own_rate" => return number(text).map(millionths),
            "compressible" | "duplicate" => saved(text)?,
            "read" if row.name == "writepct" => 1_000_000 - percent(text)?,
            "read" => percent(text)?,
            "count" => return from_on(text),
            "streams" => bytes(&part(text, 0))?.clamp(1, 1_024),
            "threads" if self.part == Part::FileWorkloads => bytes(text)?.max(1),
            "threads" => count(text)?.max(1),
            "size" => count(text)?,
            "stride" => stride(text)?.0,
            "repetitions" => {
                let wrong = |_| "loops for a time; a count is understood".to_owned();
                bytes(text).map_err(wrong)?.clamp(1, 1_000)
            }
            _ => bytes(text)?,
        }))
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let text = given.value.to_ascii_lowercase();
        let first = part(&text, 0);
        Ok(match row.name {
            "openflags" => return self.open(row, given),
            "lun" if given.value.starts_with("/dev/") => Verdict::same("target"),
            "lun" if text.contains('\\') => {
                Verdict::near("a path of Windows; name the target with `--target`")
            }
            "stride" if stride(&text)?.1 => Verdict::near("`stride`: the mean of both"),
            "xfersize" if !sizes(&text, false)?.same => {
                Verdict::near("`block_size`: some of these sizes, equally often")
            }
            "validate" if text == "no" => Verdict::same("nothing is checked"),
            "concatenatesds" if given.value == "no" => Verdict::same("each target by itself"),
            "distribution" if text == "bottom" => {
                Verdict::same("files lie in the lowest directories")
            }
            "distribution" if begins(&first, &["uniform"]).is_some() => {
                Verdict::near("`arrivals = \"uniform\"`: at even distances, not at random")
            }
            "interval" if self.values.number("interval") > Some(60_000_000_000) => {
                Verdict::near("intervals of 60 s")
            }
            "iorate" | "fwdrate" if unbracketed(&text) == "curve" => Verdict::near(
                "`sweep.rate`: the maximum, and shares of what each workload has of it",
            ),
            "operations" if list(&text).len() == 1 => Verdict::same("its operation"),
            "formatxfersize" => return Ok(self.prepare_block(row)),
            "fileselect" => return file_select(row, &first),
            "fileio" => match list(&text).get(1).map(String::as_str) {
                None => row.verdict(&text),
                Some("shared") => Verdict::near("each worker has files of its own"),
                Some(other) => return Err(format!("`fileio` with `{other}`")),
            },
            "format" => match list(&text).iter().find(|part| !FORMATS.contains(&part.as_str())) {
                Some(part) => return Err(format!("`format={part}`")),
                None => row.verdict(&text),
            },
            _ => row.verdict(&text),
        })
    }
}

impl Definition {
    fn prepare_block(&mut self, row: &Row) -> Verdict {
        let bytes = self.values.number("prepare_block").unwrap_or_default();
        match (4_096..=64 << 20).contains(&bytes) && bytes.is_multiple_of(4_096) {
            true => row.verdict(""),
            false => {
                self.values.forget("prepare_block");
                Verdict::near("files are written in blocks of 1 MiB")
            }
        }
    }
}

/// What `format` may say.
const FORMATS: [&str; 10] =
    ["yes", "no", "only", "restart", "clean", "once", "limited", "complete", "dir", "directories"];

/// What a run alone reads so, most of it in lists.
fn of_run(slot: &str, text: &str) -> Option<Result<Value, String>> {
    let whole = |all: Vec<f64>| all.into_iter().map(|one| Value::Number((one as u64).max(1)));
    let share = |one: &f64| percent(&one.to_string()).map(Value::Number);
    let all = match slot {
        "rate" => rates(text),
        "xfersize" => sizes_in_turn(text),
        "threads" => numbers(text).map(|all| whole(all).collect()),
        "read" => numbers(text).and_then(|all| all.iter().map(share).collect()),
        "seek" => list(text).iter().map(|one| seek(one)).collect(),
        "workloads" | "operations" => return Some(Ok(texts(list(text)))),
        "format" => return Some(Ok(texts(list(&text.to_ascii_lowercase())))),
        "arrivals" => return Some(choice(slot, text).map(Value::Is)),
        "depth" | "width" | "files" => return Some(alone(text).map(Value::Number)),
        "elapsed" | "interval" | "warmup" => return Some(duration(text).map(Value::Number)),
        "amount" => return Some(amount(text).map(Value::Number)),
        _ => return None,
    };
    Some(all.map(Value::List))
}

fn texts(all: Vec<String>) -> Value {
    Value::List(all.into_iter().map(Value::Text).collect())
}

fn unbracketed(text: &str) -> String {
    text.trim_matches(['(', ')']).to_ascii_lowercase()
}

/// Which of two things a word says: whether files lie everywhere, and whether requests go to
/// random places or come at random times.
fn choice(slot: &str, text: &str) -> Result<bool, String> {
    let first = part(&text.to_ascii_lowercase(), 0);
    match slot {
        "everywhere" => match text {
            "all" | "bottom" => Ok(text == "all"),
            other => Err(format!("files distributed as `{other}`")),
        },
        "random" => begins(&first, &["random", "sequential"])
            .map(|word| word == "random")
            .ok_or_else(|| format!("requests in the order `{first}`")),
        _ => begins(&first, &["exponential", "deterministic", "uniform"])
            .map(|word| word == "exponential")
            .ok_or_else(|| format!("arrivals in bursts (`{first}`)")),
    }
}

fn file_select(row: &Row, word: &str) -> Result<Verdict, String> {
    match (word, begins(word, &["random", "sequential"])) {
        ("once", _) => Ok(Verdict::near("files come in turn, again and again")),
        ("poisson", _) | (_, Some("random")) => Ok(row.verdict(word)),
        (_, Some(_)) => Ok(Verdict::same("files come in turn")),
        _ => Err(format!("files selected by `{word}`")),
    }
}

/// The length of a stride, and whether it is the mean of several.
fn stride(text: &str) -> Result<(u64, bool), String> {
    let all = list(text).iter().map(|text| bytes(text)).collect::<Result<Vec<_>, _>>()?;
    let (Some(least), Some(most)) = (all.iter().min(), all.iter().max()) else {
        return Err("a stride without a length".to_owned());
    };
    match least == most {
        true => Ok((*least, false)),
        false => Ok(((least.midpoint(*most) / 512 * 512).max(*least), true)),
    }
}

/// An amount in bytes; 1 is all of the storage.
fn amount(text: &str) -> Result<u64, String> {
    match number(text)? {
        number if number != 1.0 && number < 100.0 => {
            Err("an amount in multiples of the storage".to_owned())
        }
        number => Ok(number as u64),
    }
}

/// The first number, and how many there are.
fn from_on(text: &str) -> Result<Value, String> {
    let [first, many] = [bytes(&part(text, 0))?, bytes(&part(text, 1))?];
    let is_one = many > 0 && first.saturating_add(many) <= 1 << 32;
    let both = || Value::List(vec![Value::Number(first), Value::Number(many)]);
    is_one.then(both).ok_or_else(|| "no count, or too large a number".to_owned())
}

/// One number; lists of layouts are not understood.
fn alone(text: &str) -> Result<u64, String> {
    match numbers(text)?.as_slice() {
        [one] => Ok(*one as u64),
        _ => Err("several layouts, one after the other; write a run for each".to_owned()),
    }
}
