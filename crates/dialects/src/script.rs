//! Scripts of a shell that hold lines of the tools: each line is imported by itself.

use crate::import::{Import, ImportError, SuiteText, World};
use crate::loss::{Class, ReportedOption};
use crate::{Dialect, import_command, shell};
use std::collections::BTreeMap;

/// No script has more lines of tools.
const MOST_LINES: usize = 500;

/// Tools whose lines are understood.
const TOOLS: [&str; 6] = ["fio", "ior", "mdtest", "diskspd", "elbencho", "iozone"];

/// Words that may stand before a tool.
const BEFORE: [&str; 16] = [
    "sudo",
    "time",
    "exec",
    "nohup",
    "numactl",
    "taskset",
    "env",
    "mpirun",
    "mpiexec",
    "srun",
    "mpiexec.hydra",
    "prun",
    "aprun",
    "jsrun",
    "orterun",
    "nice",
];

/// A command of a script, with the line at which it begins.
struct Command {
    line: usize,
    text: String,
}

/// Whether a text is a script with lines of the tools.
pub fn detect(text: &str) -> bool {
    text.starts_with("#!") && commands(text, &|_| None).iter().any(|one| tool(&one.text).is_some())
}

/// Every line of a tool in a script.
///
/// # Errors
/// There is none, or too many.
pub fn file(name: &str, text: &str, world: &World<'_>) -> Result<Import, ImportError> {
    let all = commands(text, world.variable);
    let lines: Vec<&Command> = all.iter().filter(|one| tool(&one.text).is_some()).collect();
    if lines.is_empty() || lines.len() > MOST_LINES {
        let what = format!("it has {} lines of tools that are understood", lines.len());
        let remedy = format!("name a script with 1 to {MOST_LINES} of them");
        return Err(ImportError::new(name, what, remedy));
    }
    let mut options: Vec<ReportedOption> = Vec::new();
    let mut suites = Vec::new();
    for command in lines {
        let place = format!("{name}:{}", command.line);
        let found = tool(&command.text).unwrap_or_default();
        match import_command(&command.text, None, world) {
            Ok(import) => {
                let told = import.options.into_iter();
                options.extend(told.map(|told| placed(told, &place)));
                let named = |suite: SuiteText| named(&suite, &found, command.line, &place);
                suites.extend(import.suites.into_iter().map(named));
            }
            Err(error) => options.push(ReportedOption {
                name: found,
                value: String::new(),
                place,
                class: Class::Refused,
                why: format!("{}; {}", error.what, error.remedy),
            }),
        }
    }
    Ok(Import { dialect: "script", options, suites })
}

fn placed(told: ReportedOption, place: &str) -> ReportedOption {
    let has_variable = told.value.contains('$') || told.name.contains('$');
    let (class, why) = match has_variable {
        true => (
            Class::Refused,
            "a variable of the script that is not known here; set it in the environment".to_owned(),
        ),
        false => (told.class, told.why),
    };
    ReportedOption { place: format!("{place} {}", told.place), class, why, ..told }
}

/// A suite of one line among others has a name of its own.
fn named(suite: &SuiteText, tool: &str, line: usize, place: &str) -> SuiteText {
    let name = format!("{tool}-line-{line}");
    let old = format!("name = \"{}\"\n", suite.name);
    let text = suite.text.replacen(&old, &format!("name = \"{name}\"\n"), 1);
    SuiteText { text: format!("# {place}\n{text}"), name }
}

/// The tool of a command, where one is understood.
fn tool(text: &str) -> Option<String> {
    let words = shell::words(text).ok()?;
    let base = |word: &str| {
        let base = word.rsplit(['/', '\\']).next().unwrap_or(word);
        base.trim_end_matches(".exe").to_ascii_lowercase()
    };
    let is_set = |word: &str| word.contains('=') && !word.starts_with('-');
    let first = words.iter().find(|word| !is_set(word))?;
    let is_tool = |word: &str| TOOLS.contains(&base(word).as_str());
    if is_tool(first) {
        return Some(base(first));
    }
    // Behind a launcher with its options.
    let behind = BEFORE.contains(&base(first).as_str());
    let found = words.iter().take(40).find(|word| is_tool(word)).filter(|_| behind)?;
    let found = base(found);
    found.parse::<Dialect>().ok().map(|_| found)
}

/// The commands of a script, with variables that it sets itself put in.
fn commands(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Command> {
    let mut all = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let mut whole = line.trim().to_owned();
        // A line that goes on.
        while whole.ends_with('\\') && whole.len() < crate::import::MOST_BYTES {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push(' ');
            whole.push_str(next.trim());
        }
        if whole.starts_with('#') || all.len() >= 100_000 {
            continue;
        }
        let whole = put_in(&whole, &known, variable);
        if let Some((name, value)) = assignment(&whole) {
            known.insert(name, value);
            continue;
        }
        all.push(Command {
            line: number + 1,
            text: begun(shell::first_command(&whole, true).0).to_owned(),
        });
    }
    all
}

/// A command without words before it that change nothing of what it measures.
fn begun(line: &str) -> &str {
    const PLAIN: [&str; 5] = ["sudo", "time", "exec", "nohup", "then"];
    let mut rest = line.trim();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        if !PLAIN.contains(&word) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

/// `NAME=value` alone in a line; the last word of it counts.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = shell::words(value).ok()?;
    let is_plain = !name.is_empty() && name.chars().all(is_name) && words.len() <= 1;
    let value = words.first().cloned().unwrap_or_default();
    (is_plain && !value.contains('`') && value.len() < 4_096).then(|| (name.to_owned(), value))
}

fn put_in(
    line: &str,
    known: &BTreeMap<String, String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> String {
    if !line.contains('$') {
        return line.to_owned();
    }
    let mut parts = line.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let inner = part.strip_prefix('{').and_then(|part| part.split_once('}'));
        let plain = || part.split_at(part.find(|c| !is_letter(c)).unwrap_or(part.len()));
        let (name, rest) = inner.unwrap_or_else(plain);
        let found = known.get(name).cloned().or_else(|| variable(name));
        match found.filter(|_| !name.is_empty() && text.len() < 1 << 16) {
            Some(found) => text.push_str(&found),
            None if inner.is_some() => text.push_str(&format!("${{{name}}}")),
            None => text.push_str(&format!("${name}")),
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "#!/bin/bash\n# fio --name=not\nSIZE=4g\nDIR=\"/data\"\nset -e\n\
        sudo fio --name=a --rw=read --bs=1m \\\n  --size=$SIZE --directory=${DIR} > out.txt\n\
        mpirun -np 4 ./ior -w -r -b 1g -t 1m -o $DIR/f | tee log\n\
        echo fio\niozone -i 0 -s 1g -t 2 -f $UNKNOWN/x; sync\n";

    #[test]
    fn every_line_of_a_tool_is_imported_with_its_place() {
        assert!(detect(SCRIPT) && !detect("#!/bin/sh\necho fio\n"));
        let import = file("run.sh", SCRIPT, &World::NOTHING).expect("a script");
        let names: Vec<&str> = import.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["fio-line-6", "ior-line-8", "iozone-line-10"]);
        assert!(import.suites[0].text.contains("name = \"fio-line-6\""));
        assert!(import.suites[0].text.contains("\"/data/plimsoll-data\""));
        assert!(import.suites[0].text.contains("size = \"4GiB\""));
        assert!(import.options.iter().any(|told| told.place == "run.sh:8 word 2"));
        let refused: Vec<&ReportedOption> = import.refused().collect();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].value.contains("$UNKNOWN"), "{refused:?}");
        assert!(file("a.sh", "#!/bin/sh\necho\n", &World::NOTHING).is_err());
    }
}
