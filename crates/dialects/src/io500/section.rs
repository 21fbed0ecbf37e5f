//! The sections of an io500.ini, with their options and the values that are given.

use crate::apart::inside;
use crate::loss::Verdict;
use crate::rows::{Chapter, Given, Reads, Row, Table, Value, Values};
use crate::words::values::{number, plain_text};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The options of io500.ini.
pub static OPTIONS: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("options.txt")));

/// IO500 makes no more files in its time.
pub const MOST_ITEMS: u64 = 10_000_000;

/// What an io500.ini says, by its sections.
#[derive(Debug)]
pub struct Config {
    /// Those that are there.
    pub sections: BTreeMap<String, Section>,
    none: Values,
}

impl Config {
    /// One that says nothing.
    pub fn new() -> Config {
        Config { sections: BTreeMap::new(), none: Values::of(&OPTIONS) }
    }

    /// What a section says.
    pub fn of(&self, section: &str) -> &Values {
        self.sections.get(section).map_or(&self.none, |section| &section.values)
    }
}

/// A section: what holds for all phases, a phase, or the phases of one kind.
#[derive(Debug)]
pub struct Section {
    /// Its options.
    pub chapter: &'static Chapter,
    /// What is given in it.
    pub values: Values,
}

const MDTEST: usize = 3;
const UNSCORED: usize = 5;

/// Options that IO500 has in few of the sections of their chapter, and where.
const OF_FEW: [(&str, &[&str]); 3] = [
    ("transferSize blockSize filePerProc uniqueDir hintsFileName", &["ior-easy"]),
    ("segmentCount", &["ior-hard"]),
    ("n files-per-dir", &["mdtest-easy", "mdtest-hard"]),
];

impl Section {
    /// A section of this name; `None` where IO500 has none.
    pub fn of(name: &str) -> Option<Section> {
        let number = match name {
            "global" => 0,
            "debug" => 1,
            "ior-easy" | "ior-easy-write" | "ior-easy-read" | "ior-hard" | "ior-hard-write"
            | "ior-hard-read" => 2,
            "find" => 4,
            "timestamp" | "find-easy" | "find-hard" => 5,
            name if name.starts_with("mdtest-easy") || name.starts_with("mdtest-hard") => MDTEST,
            name if name.starts_with("mdworkbench") || name.starts_with("ior-rnd") => 5,
            _ => return None,
        };
        Some(Section { chapter: &OPTIONS.chapters[number], values: Values::of(&OPTIONS) })
    }

    /// The option of this name. IO500 compares names without regard to case.
    pub fn find(&self, key: &str) -> Option<&'static Row> {
        let is_it = |row: &&Row| row.names().any(|name| name.eq_ignore_ascii_case(key));
        self.chapter.rows.iter().find(is_it)
    }

    /// Why an option does not hold in this section, where it does not.
    pub fn misplaced(&self, section: &str, row: &Row) -> Option<Verdict> {
        let has = |(names, _): &&(&str, &[&str])| names.split(' ').any(|name| name == row.name);
        let (_, all) = OF_FEW.iter().find(has).filter(|(_, all)| !all.contains(&section))?;
        let is_scored = !std::ptr::eq(self.chapter, &OPTIONS.chapters[UNSCORED]);
        let all = all.join("]`, `[");
        let why = format!("IO500 has it in `[{all}]` alone and ends here; write it there");
        is_scored.then(|| Verdict::refused(why))
    }

    /// The interface, with options of its own.
    fn api(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let mut words = given.value.split_whitespace();
        let name = words.next().unwrap_or_default();
        let mut verdict = match name.to_ascii_uppercase().as_str() {
            "POSIX" => row.verdict(name),
            "MPIIO" => Verdict::near("POSIX calls in place of MPI-IO's: no hints of its own"),
            "DFS" | "DAOS" | "IME" | "CHFS" | "GFARM" | "FINCHFS" => {
                return Ok(Verdict::near(format!(
                    "POSIX calls on a mount of the same storage, in place of the library of \
                     {name}: the kernel's way is longer, and rates of small requests may be \
                     several times lower"
                )));
            }
            _ => return Err(format!("the interface {name}, a library of its own")),
        };
        for word in words {
            let is_direct = ["--posix.odirect", "--posix.odirect=1", "--posix.odirect=TRUE"];
            if is_direct.contains(&word) {
                self.values.put("direct", Value::Is(true), given.id);
            } else if word.starts_with("--posix.lustre.") || word.starts_with("--posix.gpfs.") {
                verdict =
                    Verdict::near(format!("`{word}`, a hint to the file system, is not given"));
            } else {
                return Err(format!("`{word}`, an option of the interface"));
            }
        }
        // An interface of its own takes the place of one for all phases.
        if self.values.id("direct").is_none() {
            self.values.put("direct", Value::Is(false), given.id);
        }
        let is_of_files = std::ptr::eq(self.chapter, &OPTIONS.chapters[MDTEST]);
        match is_of_files && self.values.id("direct") == Some(given.id) && self.values.is("direct")
        {
            true => Ok(Verdict::near("files are written without `O_DIRECT`")),
            false => Ok(verdict),
        }
    }
}

impl Reads for Section {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn value(&self, row: &Row, text: &str) -> Result<Value, String> {
        match row.slot.unwrap_or_default() {
            "directory" => plain_text(text).map(|path| Value::Text(inside(&path))),
            "drop_command" => plain_text(text).map(Value::Text),
            "run" if row.name == "noRun" => flag(text).map(|is| Value::Is(!is)),
            "run" | "drop_caches" | "each" | "direct" => flag(text).map(Value::Is),
            // `kib` is as much as `k`.
            _ => number(&text.to_ascii_lowercase().replace("ib", "b"), 1024).map(Value::Number),
        }
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        let value = given.value.as_str();
        Ok(match row.name {
            "API" | "api" => return self.api(row, given),
            "drop-caches-cmd" if value.contains("/proc/sys/vm/drop_caches") => {
                self.values.forget("drop_command");
                row.verdict(value)
            }
            "drop-caches-cmd" => {
                Verdict::near("`stages.prerun`, before each point, where `drop-caches` is TRUE")
            }
            "dataPacketType" if ["incompressible", "random"].contains(&value) => {
                Verdict::same("random bytes")
            }
            "collective" | "posix.odirect" if !flag(value)? => {
                Verdict::harmless("this value asks for nothing")
            }
            "run" | "noRun" if !self.values.is("run") => Verdict::same("no such workload"),
            "n" if self.values.number("items") > Some(MOST_ITEMS) => {
                Verdict::near("10,000,000 files for each worker, which none makes in 300 s")
            }
            _ => row.verdict(value),
        })
    }
}

/// Yes or no, as IO500 reads it.
fn flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" => Ok(false),
        _ => Err(format!("`{text}` is neither TRUE nor FALSE")),
    }
}
