//! A command line of fio.

use super::convert::{apply_all, finish, jobs};
use super::job::Job;
use super::options::{OPTIONS, find, find_tool};
use super::sections;
use super::sections::{Entry, Section};
use crate::import::{Import, ImportError, MOST_OPTIONS, World};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Row, Takes};

/// What people put before the command, and what changes no request.
const AROUND: [&str; 4] = ["sudo", "time", "nohup", "exec"];

/// A command line whose options begin at the word `first`; what stands before it is a launcher.
pub fn command(words: &[String], first: usize, world: &World<'_>) -> Result<Import, ImportError> {
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "write a job file"));
    }
    let mut losses = Losses::default();
    for (number, word) in words.iter().take(first.saturating_sub(1)).enumerate() {
        let place = format!("word {}", number + 1);
        let verdict = match AROUND.contains(&word.as_str()) {
            true => Verdict::harmless("it changes no request; start `plimsoll` with it, too"),
            false => Verdict::refused("what stands before `fio`; start `plimsoll` with it"),
        };
        losses.tell(word, "", &place, verdict);
    }
    let line = Line::read(words, first, &mut losses);
    let mut all = Vec::new();
    let mut name = "fio".to_owned();
    for file in &line.files {
        let text = (world.file)(file).map_err(|why| {
            let remedy = "fio takes a word without dashes for a job file";
            ImportError::new(file, format!("the job file cannot be read: {why}"), remedy)
        })?;
        name.clone_from(file);
        // What stands before the files is global for them, too.
        let mut sections = line.globals();
        sections.extend(sections::parse(file, &text, world)?);
        let first = all.len();
        all.extend(jobs(&sections, &line.only, world, &mut losses));
        // fio puts a stonewall between files.
        if let Some(job) = all.get_mut(first).filter(|_| first > 0) {
            job.begins_file = true;
        }
    }
    if line.files.is_empty() || line.sections.len() > 1 {
        let sections =
            if line.files.is_empty() { line.sections } else { line.sections[1..].to_vec() };
        all.extend(jobs(&sections, &[], world, &mut losses));
    }
    if all.is_empty() {
        // fio asks for a name; here, what is said is one job.
        let mut job = Job { name: "fio".to_owned(), ..Job::default() };
        apply_all(&mut job, &line.first, world, &mut losses);
        all.push(job);
    }
    finish(&name, &all, losses)
}

/// A command line in its parts.
struct Line {
    /// `global`, and a section for each `--name`.
    sections: Vec<Section>,
    files: Vec<String>,
    only: Vec<String>,
    /// What stands before the first name, where there is no other job.
    first: Vec<Entry>,
}

impl Line {
    fn read(words: &[String], first: usize, losses: &mut Losses) -> Line {
        let mut line =
            Line { sections: Vec::new(), files: Vec::new(), only: Vec::new(), first: Vec::new() };
        let mut before: Vec<Entry> = Vec::new();
        let mut number = first;
        while number < words.len() {
            let word = &words[number];
            let place = format!("word {}", number + 1);
            number += 1;
            // fio takes an option behind one dash, too (`getopt_long_only`).
            let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
                line.files.push(word.clone());
                continue;
            };
            let option = spelled_out(option);
            let option = option.as_str();
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => {
                    let next = words.get(number).filter(|word| takes(option, word)).cloned();
                    number += usize::from(next.is_some());
                    (option, next.unwrap_or_default())
                }
            };
            let entry = Entry { name: name.to_owned(), value, place, is_included: false };
            line.take(entry, &mut before, losses);
        }
        line.place_first(before);
        line
    }

    fn take(&mut self, entry: Entry, before: &mut Vec<Entry>, losses: &mut Losses) {
        if find(&entry.name).is_none() && tool(&entry, losses).is_some() {
            if entry.name == "section" {
                self.only.push(entry.value);
            }
            return;
        }
        if entry.name == "name" {
            let section = Section {
                name: entry.value.clone(),
                place: entry.place.clone(),
                entries: vec![entry],
            };
            self.sections.push(section);
            return;
        }
        match self.sections.last_mut() {
            Some(section) => section.entries.push(entry),
            None => before.push(entry),
        }
    }

    fn place_first(&mut self, before: Vec<Entry>) {
        if self.sections.is_empty() && self.files.is_empty() {
            self.first = before;
            return;
        }
        let place = "word 1".to_owned();
        self.sections.insert(0, Section { name: "global".to_owned(), place, entries: before });
    }

    fn globals(&self) -> Vec<Section> {
        let global = self.sections.first().filter(|section| section.name == "global");
        global.into_iter().cloned().collect()
    }
}

/// An option of the command itself, reported.
fn tool(entry: &Entry, losses: &mut Losses) -> Option<OptionId> {
    let option = find_tool(&entry.name)?;
    let id = losses.tell(&entry.name, &entry.value, &entry.place, Verdict::harmless(""));
    let given = Given { id, value: entry.value.clone() };
    let verdict = option.apply(&mut Job::default(), &given);
    losses.replace(id, verdict);
    Some(id)
}

/// `getopt_long` takes the beginning of a name for the name, where only one begins so.
fn spelled_out(option: &str) -> String {
    let (name, rest) = option.split_at(option.find('=').unwrap_or(option.len()));
    if name.len() < 2 || find(name).or_else(|| find_tool(name)).is_some() {
        return option.to_owned();
    }
    let begins = |row: &&Row| row.names().any(|own| own.starts_with(name));
    let begun: Vec<&str> = OPTIONS.rows().filter(begins).map(|row| row.name).collect();
    match begun.as_slice() {
        [only] => format!("{only}{rest}"),
        _ => option.to_owned(),
    }
}

/// Whether the word behind an option is its value; of a yes or no, `1` or `0` is.
fn takes(name: &str, word: &str) -> bool {
    find(name).or_else(|| find_tool(name)).is_some_and(|row| match row.takes.a_value() {
        true => !word.starts_with("--"),
        false => row.takes == Takes::Flag && ["0", "1"].contains(&word),
    })
}
