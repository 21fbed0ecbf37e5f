//! The text of a parameter file: parameters in the order in which vdbench reads them.

use crate::import::{ImportError, MOST_BYTES, MOST_OPTIONS, World};

/// No file includes others any deeper.
const MOST_DEPTH: usize = 16;

/// A parameter, `keyword=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The keyword in small letters.
    pub key: String,
    /// The value as it is written, its brackets included.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Whether an included file has it: of such a file, nothing but keywords is shown.
    pub is_included: bool,
}

/// All parameters of a file and of those that it includes.
///
/// # Errors
/// A file that is included cannot be read, a bracket is open, or there is too much of it.
pub fn parameters(
    name: &str,
    text: &str,
    world: &World<'_>,
) -> Result<Vec<Parameter>, ImportError> {
    let mut scan = Scan { world, all: Vec::new(), bytes: 0 };
    scan.file(name, text, 0)?;
    Ok(scan.all)
}

struct Scan<'a> {
    world: &'a World<'a>,
    all: Vec<Parameter>,
    bytes: usize,
}

impl Scan<'_> {
    fn file(&mut self, name: &str, text: &str, depth: usize) -> Result<(), ImportError> {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > MOST_BYTES || depth > MOST_DEPTH {
            let what = "the files that it includes are too many or too large";
            return Err(ImportError::new(name, what, "include fewer"));
        }
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let place = format!("{name}:{}", number + 1);
            let mut line = content(line);
            if line.to_ascii_lowercase().starts_with("eof") {
                break;
            }
            // A comma at the end goes on in the next line that is no comment.
            while line.ends_with(',') {
                let Some((_, next)) = lines.next() else { break };
                if is_comment(next) {
                    continue;
                }
                line.push_str(&content(next));
                if line.len() > MOST_BYTES {
                    break;
                }
            }
            if let Some(other) = line.strip_prefix("include=") {
                let what = |what| ImportError::new(place.clone(), what, "put it beside this file");
                let base = other.rsplit('/').next().unwrap_or(other).to_owned();
                // The path may be one of another machine.
                let found = (self.world.file)(other);
                let found = found.or_else(|why| (self.world.file)(&base).map_err(|_| why));
                let text = found.map_err(what)?;
                self.file(&base, &text, depth + 1)?;
                continue;
            }
            self.line(&line, &place, depth > 0)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str, place: &str, is_included: bool) -> Result<(), ImportError> {
        for part in split(line).map_err(|what| ImportError::new(place, what, "close it"))? {
            if part.is_empty() {
                continue;
            }
            if self.all.len() >= MOST_OPTIONS {
                let what = "there are too many parameters";
                return Err(ImportError::new(place, what, "split the file"));
            }
            let (key, value) = part.split_once('=').unwrap_or((&part, ""));
            self.all.push(Parameter {
                key: key.trim().to_ascii_lowercase(),
                value: self.put_in(value.trim()),
                place: place.to_owned(),
                is_included,
            });
        }
        Ok(())
    }

    /// `$name` is a variable that the command line of vdbench gives; here, the environment, where
    /// it is a number.
    fn put_in(&self, value: &str) -> String {
        if !value.contains('$') {
            return value.to_owned();
        }
        let mut parts = value.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let inner = part.strip_prefix('{').and_then(|part| part.split_once('}'));
            let (name, rest) = inner.unwrap_or_else(|| {
                part.split_at(part.find(|c| !is_letter(c)).unwrap_or(part.len()))
            });
            match self.world.plain_variable(name).filter(|_| !name.is_empty()) {
                Some(found) => text.push_str(&found),
                None => text.push_str(&format!("${name}")),
            }
            text.push_str(rest);
        }
        text.chars().take(MOST_VALUE).collect()
    }
}

/// No value is longer once its variables are put in.
const MOST_VALUE: usize = 1 << 16;

/// vdbench wants comments at the first letter of a line; people set them in. `<pre>` is of the copy
/// that it makes of a file.
fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with(['#', '*', '/', '<'])
}

/// The line up to its first blank outside of quotes, which are taken away. What stands behind is a
/// comment.
fn content(line: &str) -> String {
    if is_comment(line) {
        return String::new();
    }
    let mut text = String::new();
    let (mut is_quoted, mut depth) = (false, 0_usize);
    for letter in line.trim().chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            letter if letter.is_whitespace() && is_quoted => text.push(' '),
            letter if letter.is_whitespace() => {
                // People put blanks behind commas; vdbench itself stops there.
                if depth == 0 && !text.ends_with(',') {
                    break;
                }
            }
            letter => {
                depth = match letter {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                text.push(if is_quoted && letter == ',' { HIDDEN } else { letter });
            }
        }
    }
    text
}

/// A comma in quotes.
const HIDDEN: char = '\u{1}';

/// The parameters of a line: commas in brackets part values, not parameters.
fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in line.chars() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Err("a bracket ) opens nowhere".to_owned()),
            ')' => depth -= 1,
            _ => {}
        }
        match letter {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
            HIDDEN => part.push(','),
            letter => part.push(letter),
        }
    }
    if depth > 0 {
        return Err("a bracket ( is not closed".to_owned());
    }
    parts.push(part);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_vdbench_reads_them() {
        let file = |name: &str| match name {
            "luns" => Ok("sd=sd2,lun=/dev/sdb\n".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        let variable = |name: &str| match name {
            "size" => Some("10g".to_owned()),
            "disk" => Some("/dev/sda".to_owned()),
            name => (name == "word").then(|| "hunter2".to_owned()),
        };
        let world = World { file: &file, variable: &variable };
        let text = "* a comment\n# another\nSD=sd1,lun=$disk,\n# between\nsize=$size a comment\n\
                    include=luns\nstartcmd=\"echo a, b\"\nwd=$word,xfersize=(4k,50,8k,50)\neof\n\
                    x=1\n";
        let all = parameters("a", text, &world).expect("good");
        let shown: Vec<String> =
            all.iter().map(|one| format!("{} {}={}", one.place, one.key, one.value)).collect();
        assert_eq!(
            shown,
            [
                "a:3 sd=sd1",
                "a:3 lun=/dev/sda",
                "a:3 size=10g",
                "luns:1 sd=sd2",
                "luns:1 lun=/dev/sdb",
                "a:7 startcmd=echo a, b",
                "a:8 wd=$word",
                "a:8 xfersize=(4k,50,8k,50)",
            ]
        );
        assert!(parameters("a", "include=gone\n", &world).is_err());
        let beside = parameters("a", "include=/opt/of/another/host/luns\n", &world);
        assert!(beside.is_ok_and(|all| !all.is_empty()), "its name is looked for beside the file");
        assert!(parameters("a", "wd=(a\n", &world).is_err());
        let circle = World { file: &|_| Ok("include=a\n".to_owned()), variable: &|_| None };
        assert!(parameters("a", "include=a\n", &circle).is_err());
    }
}
