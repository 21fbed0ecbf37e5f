//! `plimsoll mark`: something happened, says somebody, and the run that goes on takes it down.

use crate::failure::Failure;
use crate::marks::{self, Mark};
use clap::Args;
use model::printable;
use report::{ground, object};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, Args)]
#[command(after_help = crate::args::examples::of("mark"))]
pub(crate) struct MarkArgs {
    /// The file of the run, which goes on and was started on this machine.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// What happened, in at most 200 bytes, such as "migration started".
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,

    /// Print what was written as a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn mark(args: &MarkArgs) -> Result<(), Failure> {
    let called = Instant::now();
    marks::check(&args.text).map_err(Failure::usage)?;
    let mark = marks::send(&args.run, &args.text, called)
        .map_err(|why| Failure::run_file(format!("{}: {why}", args.run.display())))?;
    let told = if args.json { object(mark.as_ref()).to_string() } else { words(mark.as_ref()) };
    // Without a reader, it stands in the record all the same.
    let _ = writeln!(std::io::stdout(), "{}", printable::json(&told));
    Ok(())
}

const NOT_YET: &str =
    "the run took the mark, and has not recorded it yet; `plimsoll show RUN` will have it";

fn words(mark: Option<&Mark>) -> String {
    let Some(mark) = mark else { return NOT_YET.to_owned() };
    let name =
        if mark.stage_name.is_empty() { String::new() } else { format!(" ({})", mark.stage_name) };
    let place = match mark.stage {
        Some(stage) => {
            format!("{:.3} s into stage {}{name}", mark.at_ns as f64 / 1e9, stage.saturating_add(1))
        }
        None => "between stages".to_owned(),
    };
    format!("marked \"{}\" at {}, {place}", mark.label, ground::words::utc(mark.unix_ns))
}

/// `docs/reference/json.md`, "Marks".
fn object(mark: Option<&Mark>) -> Value {
    let Some(mark) = mark else { return json!({ "recorded": false }) };
    object! {
        recorded: true, label: mark.label, stage: mark.stage,
        stage_name: Some(&mark.stage_name).filter(|name| !name.is_empty()), at_ns: mark.at_ns,
        unix_ns: mark.unix_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_where_it_stands() {
        let mark = Mark {
            label: "migration started".to_owned(),
            stage: Some(1),
            stage_name: "w · measure".to_owned(),
            at_ns: 12_345_678_901,
            unix_ns: 1_000_000_000_000_000_000,
        };
        let told = words(Some(&mark));
        assert!(told.starts_with("marked \"migration started\" at 2001-09-09"), "{told}");
        assert!(told.ends_with("12.346 s into stage 2 (w · measure)"), "{told}");
        assert_eq!(object(Some(&mark))["at_ns"], 12_345_678_901_u64);
        let between = Mark { stage: None, stage_name: String::new(), ..mark };
        assert!(words(Some(&between)).ends_with("between stages"), "{}", words(Some(&between)));
        assert!(
            object(Some(&between))["stage_name"].is_null()
                && object(Some(&between))["stage"].is_null()
        );
        assert_eq!((words(None).as_str(), &object(None)["recorded"]), (NOT_YET, &json!(false)));
    }
}
