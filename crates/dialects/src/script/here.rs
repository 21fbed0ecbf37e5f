//! Job files that stand inside of other texts: here-documents of a shell, texts of a Kubernetes
//! manifest.

use crate::import::MOST_BYTES;
use std::collections::HashMap;

/// No text holds more job files.
const MOST_TEXTS: usize = 256;

/// A text within a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The line at which its own text begins, from 1.
    pub line: usize,
    /// Its lines.
    pub text: String,
    /// Whether the shell puts variables in.
    pub expands: bool,
    /// The file that it is written to, as the script names it.
    pub path: Option<String>,
}

/// The word that ends a here-document, and what the shell does with it.
struct Opening {
    word: String,
    expands: bool,
    strips: bool,
}

/// The lines of a script, and where each text of a line stands: a word that ends no text is looked
/// for once, however many begin with it.
pub struct Lines<'a> {
    all: Vec<&'a str>,
    /// The places of each line, in rising order.
    places: HashMap<&'a str, Vec<usize>>,
    /// The same without the tabs before it, where it has some.
    tabbed: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    pub fn of(text: &'a str) -> Lines<'a> {
        let all: Vec<&str> = text.lines().collect();
        let mut lines = Lines { all, places: HashMap::new(), tabbed: HashMap::new() };
        if text.contains("<<") {
            for (at, line) in lines.all.iter().enumerate() {
                let line = line.trim_end_matches('\r');
                lines.places.entry(line).or_default().push(at);
                let bare = line.trim_start_matches('\t');
                if bare.len() < line.len() {
                    lines.tabbed.entry(bare).or_default().push(at);
                }
            }
        }
        lines
    }

    /// All lines from a place on.
    pub fn from(&self, at: usize) -> &[&'a str] {
        self.all.get(at..).unwrap_or_default()
    }

    /// The first line from `from` on that ends a text.
    fn end(&self, opening: &Opening, from: usize) -> Option<usize> {
        let first = |places: &HashMap<&str, Vec<usize>>| {
            let places = places.get(opening.word.as_str())?;
            places.get(places.partition_point(|place| *place < from)).copied()
        };
        let tabbed = if opening.strips { first(&self.tabbed) } else { None };
        first(&self.places).into_iter().chain(tabbed).min()
    }
}

/// The here-document that begins behind a line of a shell, which is line `number` (from 0), and the
/// first line behind it.
pub fn behind(lines: &Lines<'_>, number: usize) -> Option<(Here, usize)> {
    let line = lines.all.get(number)?;
    let opening = opening(line)?;
    let length = lines.end(&opening, number + 1)?.checked_sub(number + 1)?;
    let lines = &lines.all;
    let mut text = String::new();
    for line in &lines[number + 1..number + 1 + length] {
        text.push_str(if opening.strips { line.trim_start_matches('\t') } else { line });
        text.push('\n');
        if text.len() > MOST_BYTES {
            return None;
        }
    }
    let here = Here { line: number + 2, text, expands: opening.expands, path: written_to(line) };
    Some((here, number + 2 + length))
}

fn opening(line: &str) -> Option<Opening> {
    let (_, rest) = line.split_once("<<")?;
    if rest.starts_with('<') || line.trim_start().starts_with('#') {
        return None;
    }
    let (strips, rest) = match rest.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|first| ['"', '\'', '\\'].contains(first));
    let rest = quote.map_or(rest, |quote| rest.trim_start_matches(quote));
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-.!".contains(c);
    let word = &rest[..rest.find(|c| !is_letter(c)).unwrap_or(rest.len())];
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins.then(|| Opening { word: word.to_owned(), expands: quote.is_none(), strips })
}

/// The file behind `>` or `tee`.
fn written_to(line: &str) -> Option<String> {
    let line = line.replacen("<<", " <<", 1);
    let target = match line.rsplit_once('>') {
        Some((_, behind)) => behind.split_whitespace().next(),
        None => line.split_once("tee ").and_then(|(_, behind)| {
            behind.split_whitespace().find(|word| !word.starts_with(['-', '<']))
        }),
    };
    let path = target?.trim_matches(['"', '\'', ';']);
    (!path.is_empty() && !path.starts_with('&')).then(|| path.to_owned())
}

/// The job files in a manifest of Kubernetes, each with its key: texts behind `key: |`.
pub fn of_manifest(text: &str) -> Vec<(String, Here)> {
    let is_manifest = text.lines().any(|line| line.starts_with("apiVersion:"))
        && text.lines().any(|line| line.starts_with("kind:"));
    if !is_manifest {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut all = Vec::new();
    let mut at = 0;
    while at < lines.len() && all.len() < MOST_TEXTS {
        let line = lines[at].trim_end();
        at += 1;
        let Some((key, mark)) = line.rsplit_once(':') else { continue };
        if !["|", "|-", "|+"].contains(&mark.trim()) {
            continue;
        }
        let inside = lines[at..]
            .iter()
            .position(|next| !next.trim().is_empty() && indent(next) <= indent(line))
            .unwrap_or(lines.len() - at);
        let body = &lines[at..at + inside];
        let least = body.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line));
        let least = least.min().unwrap_or(0);
        let text: String =
            body.iter().map(|line| format!("{}\n", line.get(least..).unwrap_or(""))).collect();
        let key = key.trim().trim_start_matches("- ").trim_matches(['"', '\'']).to_owned();
        all.push((key, Here { line: at + 1, text, expands: false, path: None }));
        at += inside;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<(Here, usize)> {
        behind(&Lines::of(text), 0)
    }

    #[test]
    fn a_text_ends_at_its_word() {
        let (here, next) = first("cat <<EOF > /x/a.fio\n[a]\nrw=read\nEOF\nfio").expect("one");
        assert_eq!((here.text.as_str(), here.line, next), ("[a]\nrw=read\n", 2, 4));
        assert_eq!((here.path.as_deref(), here.expands), (Some("/x/a.fio"), true));
        let (here, _) = first("sudo tee -a \"b\" <<-'END'\n\tx $y\n\tEND\n").expect("one");
        assert_eq!((here.text.as_str(), here.expands), ("x $y\n", false));
        assert_eq!(here.path.as_deref(), Some("b"));
        let (here, _) = first("cat > j.fio << \\EOF\nx\nEOF").expect("one");
        assert_eq!((here.path.as_deref(), here.expands), (Some("j.fio"), false));
    }

    #[test]
    fn what_is_no_text_stays_a_line() {
        for line in ["x=$((1 << 4))\n4", "cat <<< word\nword", "# cat <<EOF\nEOF", "a << EOF\nx"] {
            assert_eq!(first(line), None, "{line}");
        }
    }

    #[test]
    fn a_manifest_has_its_texts_by_key() {
        let text = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.fio: |\n    [a]\n\n    rw=read\n  \
                    b: c\n  \"d\": |-\n    x\n";
        let all = of_manifest(text);
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].0.as_str(), all[0].1.text.as_str()), ("a.fio", "[a]\n\nrw=read\n"));
        assert_eq!((all[0].1.line, all[1].0.as_str()), (5, "d"));
        assert!(of_manifest("a: |\n  b\n").is_empty());
    }
}
