//! Jobs of other tools as suites, each with a report of what was lost.
//!
//! A text goes in, an [`Import`] comes out: the suite's text, and for every option of the source
//! whether it means the same, is approximated, harmless or refused. Each dialect declares its
//! options in one table; reader, report and page come from it. Pure: no file, no clock, no thread.

pub mod counters;
pub mod diskspd;
pub mod elbencho;
pub mod fio;
pub mod io500;
pub mod iometer;
pub mod iozone;
pub mod mpi;
pub mod packing;
pub mod results;
pub mod trace;
pub mod vdbench;

mod apart;
mod asked;
mod draft;
mod import;
mod loss;
mod page;
mod rows;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use asked::{Asked, Places, Quantity, joined};
pub use import::{Import, ImportError, MOST_BYTES, MOST_OPTIONS, SuiteText, World};
pub use loss::{Class, ReportedOption, Verdict};
pub use page::pages;
pub use words::values::Extent;

use std::str::FromStr;
use words::shell;

model::plain_words! {
    /// A tool whose jobs are understood.
    pub enum Dialect {
        /// fio.
        Fio = "fio",
        /// IOR.
        Ior = "ior",
        /// mdtest.
        Mdtest = "mdtest",
        /// DiskSpd.
        DiskSpd = "diskspd",
        /// IO500.
        Io500 = "io500",
        /// vdbench.
        Vdbench = "vdbench",
        /// elbencho.
        Elbencho = "elbencho",
        /// IOzone.
        Iozone = "iozone",
        /// Iometer.
        Iometer = "iometer",
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Dialect, String> {
        Dialect::ALL.iter().copied().find(|dialect| dialect.word() == text).ok_or_else(|| {
            let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.word()).collect();
            format!("`{text}` is no dialect; write {}", all.join(", "))
        })
    }
}

/// Reads a file in this dialect, or in the one that its content tells.
pub fn import(
    name: &str,
    text: &str,
    dialect: Option<Dialect>,
    world: &World<'_>,
) -> Result<Import, ImportError> {
    if text.len() > MOST_BYTES {
        let what = format!("it is larger than {MOST_BYTES} bytes");
        return Err(ImportError::new(name, what, "name a job file"));
    }
    if dialect.is_none() && is_script(name, text) {
        return Err(ImportError::new(name, "scripts are not read", A_LINE));
    }
    let dialect = dialect.or_else(|| detect(text)).ok_or_else(|| {
        let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.word()).collect();
        let remedy = format!("say which with --from: {}. Or {A_LINE}", all.join(", "));
        ImportError::new(name, "no dialect is known by its content", remedy)
    })?;
    match dialect {
        Dialect::Fio => fio::file(name, text, world),
        Dialect::Io500 => io500::file(name, text),
        Dialect::Vdbench => vdbench::file(name, text, world),
        Dialect::Elbencho => elbencho::file(name, text),
        Dialect::Iometer => iometer::file(name, text),
        Dialect::DiskSpd if diskspd::detect(text) => diskspd::file(name, text),
        Dialect::Ior | Dialect::Mdtest | Dialect::DiskSpd | Dialect::Iozone => {
            let what = format!("jobs of {dialect} are command lines");
            Err(ImportError::new(name, what, "give one with --command"))
        }
    }
}

/// Reads a command line: the tool's name, and what stands behind it.
pub fn import_command(
    line: &str,
    dialect: Option<Dialect>,
    world: &World<'_>,
) -> Result<Import, ImportError> {
    if line.len() > MOST_BYTES {
        let what = format!("it is larger than {MOST_BYTES} bytes");
        return Err(ImportError::new("command", what, "name a job file"));
    }
    // A launcher may stand before the tool.
    let program = |word: &str| {
        let base = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
        match base.trim_end_matches(".exe") {
            diskspd::START_WORKLOAD => Some(Dialect::DiskSpd),
            base => base.parse::<Dialect>().ok(),
        }
    };
    // PowerShell starts a quoted path with `&`.
    let line = line.trim().trim_start_matches("& ");
    let of_windows = |word: &str| program(word.trim_matches(['"', '\''])) == Some(Dialect::DiskSpd);
    let is_windows = dialect == Some(Dialect::DiskSpd) || line.split_whitespace().any(of_windows);
    let (first, rest) = shell::first_command(line, !is_windows);
    let words = if is_windows { shell::windows_words(first) } else { shell::words(first) };
    let words = words.map_err(|what| ImportError::new("command", what, "close the quotes"))?;
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "take some out"));
    }
    shell::no_typeset_dash(&words)?;
    let at = words.iter().position(|word| program(word).is_some());
    let told = at.and_then(|at| program(&words[at]));
    let wanted = dialect.or(told);
    let behind = if told == wanted { at.map_or(0, |at| at + 1) } else { 0 };
    let mut import = match wanted {
        Some(Dialect::Fio) => fio::command(&words, behind, world),
        Some(Dialect::DiskSpd) => Ok(diskspd::command(&words, behind)),
        Some(Dialect::Ior) => Ok(mpi::ior(&words)),
        Some(Dialect::Elbencho) => elbencho::command(&words, behind),
        Some(Dialect::Iozone) => Ok(iozone::command(&words, behind)),
        Some(Dialect::Mdtest) => mpi::mdtest(&words),
        Some(Dialect::Io500) => {
            let what = "a configuration of IO500 is a file";
            Err(ImportError::new("command", what, "name its io500.ini in place of a command"))
        }
        Some(Dialect::Iometer) => {
            let what = "a configuration of Iometer is a file";
            Err(ImportError::new("command", what, "name its .icf in place of a command"))
        }
        Some(Dialect::Vdbench) => {
            let what = "parameters of vdbench are a file";
            Err(ImportError::new("command", what, "name the file behind its `-f`"))
        }
        None => {
            let what = "no tool is named whose command lines are understood";
            Err(ImportError::new("command", what, "say which with --from"))
        }
    }?;
    import.options.extend(behind_it(rest));
    Ok(import)
}

/// What a shell makes of a line behind its first command, reported.
fn behind_it(rest: &str) -> Option<ReportedOption> {
    let rest = rest.trim();
    // `2>&1` and `&>` are no end of a command.
    let plain = rest.replace(">&", ">").replace("&>", ">");
    let goes_on =
        plain.split([';', '&']).skip(1).any(|next| !next.trim().is_empty()) || plain.contains("||");
    let (class, why) = match goes_on {
        true => (Class::Refused, "a second command; import each by itself"),
        false => (Class::Harmless, "where a shell sends what the tool prints"),
    };
    let (name, value, place) = (rest.to_owned(), String::new(), "behind the command".to_owned());
    (!rest.is_empty()).then(|| ReportedOption { name, value, place, class, why: why.to_owned() })
}

/// What to do about a script.
const A_LINE: &str = "paste a line that holds a tool into `plimsoll import --command \"LINE\"`";

/// Whether a file is a job, in a dialect that its content tells, or a script, which is refused.
pub fn is_job(name: &str, text: &str) -> bool {
    is_script(name, text) || detect(text).is_some()
}

/// Whether a file is a script of a shell, PowerShell or Windows' batch files. A job of fio may
/// begin with its interpreter, which is fio.
fn is_script(name: &str, text: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_named = ["sh", "bash", "ps1", "bat", "cmd"].map(Some).contains(&ending.as_deref());
    let first = text.lines().next().unwrap_or_default();
    is_named || (first.starts_with("#!") && !first.contains("fio"))
}

/// The dialect that a text is written in, where its content tells.
pub fn detect(text: &str) -> Option<Dialect> {
    if is_script("", text) {
        return None;
    }
    let mut lines = text.lines().map(str::trim);
    // A suite has tables of workloads, and no section of fio has two brackets.
    if lines.clone().any(|line| line.starts_with("[[")) {
        return None;
    }
    if diskspd::detect(text) {
        return Some(Dialect::DiskSpd);
    }
    if iometer::detect(text) {
        return Some(Dialect::Iometer);
    }
    if io500::detect(text) {
        return Some(Dialect::Io500);
    }
    if elbencho::detect(text) {
        return Some(Dialect::Elbencho);
    }
    if vdbench::detect(text) {
        return Some(Dialect::Vdbench);
    }
    let has_section = lines.any(|line| line.starts_with('[') && line.contains(']'));
    let is_option = |line: &str| {
        let name = line.split('=').next().unwrap_or_default();
        fio::knows(name.trim())
    };
    let is_comment = |line: &&str| line.is_empty() || line.starts_with([';', '#', '[']);
    let words = || text.lines().map(str::trim).filter(|line| !is_comment(line));
    let known = words().filter(|line| is_option(line)).count();
    // Other files have sections, too, and here and there a word of fio's.
    (has_section && known > 0 && known * 2 >= words().count()).then_some(Dialect::Fio)
}
