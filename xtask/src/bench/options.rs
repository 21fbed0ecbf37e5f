//! What the command line of `cargo xtask bench` says.

use crate::shell::Outcome;

/// What the command line says.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// Turns of each contender.
    pub rounds: usize,
    /// Length of each turn, in seconds.
    pub seconds: u32,
    /// The processor on which all run.
    pub cpu: u32,
    /// One bench instead of all.
    pub only: Option<String>,
    /// Keep the figures in the page: all of them, or with `only` those of one table, in the place
    /// of what stands there of it.
    pub write: bool,
}

impl Options {
    /// Reads the arguments; `names` are the benches that there are.
    ///
    /// # Errors
    /// An unknown option or bench, or a value that is no number.
    pub fn parse(arguments: &[String], names: &[&str]) -> Outcome<Options> {
        let mut options = Options { rounds: 3, seconds: 2, cpu: 1, only: None, write: false };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            let number = |text: &String| {
                text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"))
            };
            match word.as_str() {
                "--rounds" => options.rounds = number(value()?)?.max(1) as usize,
                "--seconds" => options.seconds = number(value()?)?.max(1),
                "--cpu" => options.cpu = number(value()?)?,
                "--only" => options.only = Some(value()?.clone()),
                "--write" => options.write = true,
                other => {
                    return Err(format!(
                        "`{other}` is no option; there are --rounds, --seconds, --cpu, --only, \
                         --write"
                    ));
                }
            }
        }
        match &options.only {
            Some(name) if !names.contains(&name.as_str()) => {
                Err(format!("there is no bench `{name}`; there are {}", names.join(", ")))
            }
            _ => Ok(options),
        }
    }

    /// Whether the bench of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(
            &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            &["cached", "zram"],
        )
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = parse("--rounds 3 --seconds 2 --cpu 0 --only zram").expect("good");
        assert_eq!(
            options,
            Options { rounds: 3, seconds: 2, cpu: 0, only: Some("zram".to_owned()), write: false }
        );
        assert!(parse("--write").expect("good").write);
        assert!(
            parse("--only zram --write")
                .is_ok_and(|options| options.write && !options.wants("cached"))
        );
        assert!(
            options.wants("zram")
                && !options.wants("cached")
                && parse("").expect("good").wants("cached")
        );
        assert!(parse("--rounds").unwrap_err().contains("wants a value"));
        assert!(parse("--rounds many").unwrap_err().contains("many"));
        assert!(parse("--only nothing").unwrap_err().contains("cached, zram"));
    }
}
