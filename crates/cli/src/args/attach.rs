//! `plimsoll attach`.

use super::examples;
use clap::Args;
use model::Nanos;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("attach"))]
pub(crate) struct AttachArgs {
    /// The file of a run that has ended. It stays as it is.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// The file of counters: a CSV of perfmon (`relog -f csv`, English or German), of `esxtop -b`,
    /// the JSON of a Prometheus range query, or what `sadf -d` writes.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Add this to the file's times, where its clock or its time zone is off.
    #[arg(long, value_name = "±TIME", allow_hyphen_values = true, value_parser = offset)]
    pub(crate) offset: Option<i64>,

    /// Take this host alone; of a file that names no host, its name.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,

    /// Where to record the run with them [default: beside it, as RUN-attached.plimsoll].
    #[arg(short, long, value_name = "FILE.plimsoll")]
    pub(crate) out: Option<PathBuf>,

    /// Print what was attached as a JSON object (docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// `-1h`, `+90s`, `2m`.
fn offset(text: &str) -> Result<i64, String> {
    let (sign, time) = match text.strip_prefix('-') {
        Some(time) => (-1, time),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let time: Nanos = time.parse().map_err(|error| format!("{error}"))?;
    i64::try_from(time.0).map(|ns| sign * ns).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_a_sign() {
        assert_eq!(offset("-1h"), Ok(-3_600 * 1_000_000_000));
        assert_eq!((offset("+90s"), offset("2m")), (Ok(90 * 1_000_000_000), offset("+120s")));
        assert!(offset("--1h").is_err() && offset("").is_err());
    }
}
