//! A job file or a command line of fio as sections of options, each with its place.

use crate::import::{ImportError, MOST_BYTES, MOST_OPTIONS, World};

/// An option as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its value; empty where it has none.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Whether an included file has it: of such a file, nothing but names of options is shown.
    pub is_included: bool,
}

/// A section: `global`, or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// File and line of its head.
    pub place: String,
    /// Its options.
    pub entries: Vec<Entry>,
}

/// Files that include files that include files: no deeper.
const DEEPEST: usize = 16;

/// Reads a job file, and what it includes.
pub fn parse(name: &str, text: &str, world: &World<'_>) -> Result<Vec<Section>, ImportError> {
    let mut reader = SectionReader { world, sections: Vec::new(), options: 0, bytes: 0 };
    reader.read(name, text, 0)?;
    Ok(reader.sections)
}

struct SectionReader<'a> {
    world: &'a World<'a>,
    sections: Vec<Section>,
    options: usize,
    bytes: usize,
}

impl SectionReader<'_> {
    fn read(&mut self, file: &str, text: &str, depth: usize) -> Result<(), ImportError> {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > MOST_BYTES {
            let what = format!("the job is larger than {MOST_BYTES} bytes");
            return Err(ImportError::new(file, what, "name a job file"));
        }
        if depth > DEEPEST {
            let what = format!("files include each other more than {DEEPEST} deep");
            return Err(ImportError::new(file, what, "take an `include` out"));
        }
        for (number, line) in text.lines().enumerate() {
            let place = format!("{file}:{}", number + 1);
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            if let Some(head) = line.strip_prefix('[') {
                self.section(head, &place)?;
            } else if let Some(included) = included(line) {
                let text = (self.world.file)(included).map_err(|why| {
                    let what = format!("`{included}` cannot be included: {why}");
                    ImportError::new(&place, what, "put the file beside the job file")
                })?;
                self.read(included, &text, depth + 1)?;
            } else {
                self.option(line, place, depth > 0)?;
            }
        }
        Ok(())
    }

    fn section(&mut self, head: &str, place: &str) -> Result<(), ImportError> {
        let name = head.split(']').next().unwrap_or_default().trim();
        if !head.contains(']') || name.is_empty() {
            let what = "a section has no name between brackets";
            return Err(ImportError::new(place, what, "write [NAME]"));
        }
        let entries = Vec::new();
        self.sections.push(Section { name: name.to_owned(), place: place.to_owned(), entries });
        Ok(())
    }

    fn option(&mut self, line: &str, place: String, is_included: bool) -> Result<(), ImportError> {
        self.options += 1;
        if self.options > MOST_OPTIONS {
            let what = format!("the job has more than {MOST_OPTIONS} options");
            return Err(ImportError::new(place, what, "split it"));
        }
        let Some(section) = self.sections.last_mut() else {
            let what = match is_included {
                true => "an option stands before any section".to_owned(),
                false => format!("`{line}` stands before any section"),
            };
            return Err(ImportError::new(place, what, "write [global] or [NAME] above it"));
        };
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        section.entries.push(Entry {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            place,
            is_included,
        });
        Ok(())
    }
}

/// fio cuts a line at the first `;` or `#`, wherever it is.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim()
}

fn included(line: &str) -> Option<&str> {
    let name =
        line.strip_prefix("include")?.strip_prefix(|c: char| c.is_whitespace() || c == '=')?;
    (!name.contains('=')).then(|| name.trim())
}

/// Puts in the variables of the environment (`${NAME}`), or says which is not there, or is no
/// number and no word of a job.
pub fn expanded(value: &str, world: &World<'_>) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("${") {
        text.push_str(before);
        let Some((name, behind)) = behind.split_once('}') else {
            text.push_str("${");
            rest = behind;
            continue;
        };
        match world.plain_variable(name) {
            Some(found) => text.push_str(&found),
            None => return Err(name.to_owned()),
        }
        rest = behind;
        if text.len() > MOST_BYTES {
            return Err(name.to_owned());
        }
    }
    text.push_str(rest);
    Ok(text.replace("$pagesize", "4096"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_comments_and_includes_are_read_as_fio_reads_them() {
        let world = World {
            file: &|name| match name {
                "more.fio" => Ok("[b]\nrw = write # as it is\n".to_owned()),
                name => Err(format!("there is no {name}")),
            },
            variable: &|name| (name == "SIZE").then(|| "4k".to_owned()),
        };
        let text = "; head\n[global]\nbs=4k ; here\nthread\n[a]\ninclude more.fio\n";
        let all = parse("job.fio", text, &world).expect("good");
        let names: Vec<&str> = all.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["global", "a", "b"]);
        assert_eq!(all[0].entries[0].value, "4k");
        assert_eq!(
            (all[0].entries[1].name.as_str(), all[0].entries[1].value.as_str()),
            ("thread", "")
        );
        assert_eq!(all[2].entries[0].place, "more.fio:2");
        assert_eq!(expanded("${SIZE},8k", &world), Ok("4k,8k".to_owned()));
        assert_eq!(expanded("${NONE}", &world), Err("NONE".to_owned()));
        let error = parse("job.fio", "[a]\ninclude none\n", &world).expect_err("no such file");
        assert_eq!(error.place, "job.fio:2");
        assert!(parse("job.fio", "rw=read\n", &world).is_err());
    }

    #[test]
    fn a_file_that_includes_itself_ends() {
        let world = World { file: &|_| Ok("[a]\ninclude a.fio\n".to_owned()), variable: &|_| None };
        assert!(parse("a.fio", "include a.fio\n", &world).is_err());
    }
}
