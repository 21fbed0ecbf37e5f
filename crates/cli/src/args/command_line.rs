//! The arguments, with the words that begin a run kept as they were typed.

use super::{Arguments, Command, Pattern, daily, fio_words};
use crate::files::outputs::instead_of;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, FromArgMatches, ValueEnum};
use form::nearest;
use model::plan::origin::is_kept;
use std::ffi::OsString;
use std::num::ParseIntError;
use suite::flag;

/// The arguments of this process; ends it where they ask for help or are wrong.
pub(crate) fn parse() -> Arguments {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

fn parse_from(line: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = daily();
    let line: Vec<OsString> = line.into_iter().collect();
    let line = with_words_of_fio(&mut command, &line)?;
    let matches = command.try_get_matches_from_mut(&line).map_err(|error| {
        let known = line
            .get(1)
            .and_then(|name| name.to_str())
            .and_then(|name| command.find_subcommand(name));
        led(error, known, &line)
    })?;
    let mut arguments =
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let words = matches.subcommand().and_then(|(name, given)| {
        let known = command.find_subcommand(name)?;
        typed(name, known.get_arguments(), given)
    });
    let words = words.unwrap_or_default();
    match &mut arguments.command {
        Command::Run(run) => run.work.words = words,
        Command::Loadline(loadline) => loadline.run.work.words = words,
        Command::Replay(replay) => replay.words = words,
        _ => {}
    }
    Ok(arguments)
}

/// The line with options of fio behind the quick form as our own.
fn with_words_of_fio(
    command: &mut clap::Command,
    line: &[OsString],
) -> Result<Vec<OsString>, clap::Error> {
    if !fio_words::is_quick(line) {
        return Ok(line.to_vec());
    }
    command.build();
    let name = line.get(1).and_then(|name| name.to_str()).unwrap_or_default();
    let longs: Vec<String> = command
        .find_subcommand(name)
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .flat_map(|arg| {
            arg.get_long().into_iter().chain(arg.get_all_aliases().into_iter().flatten())
        })
        .map(str::to_owned)
        .collect();
    let expanded = fio_words::expanded(line, &|name| longs.iter().any(|long| long == name));
    if let Some(why) = fio_words::refused(&expanded.told) {
        return Err(command.error(ErrorKind::ValueValidation, why));
    }
    fio_words::notes(&expanded.told).for_each(|note| eprintln!("{note}"));
    Ok(expanded.line)
}

/// A mistake of the command line with a way out that is one: of a flag of another tool, or of a
/// field of suites, what says the same here; of a slip, the flag that is really near. No guess
/// where neither is known.
fn led(mut error: clap::Error, command: Option<&clap::Command>, line: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::InvalidUtf8
        && let Some(word) = line.iter().find(|word| word.to_str().is_none())
    {
        let word = word.to_string_lossy();
        let what = format!("`{word}` is no UTF-8 text, as names in a plan and a report have to be");
        let remedy = "name it through a link: ln -s PATH LINK, then LINK";
        return clap::Error::raw(error.kind(), format!("{what}; {remedy}\n"));
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let [value, option, word] =
        [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand]
            .map(text);
    let is_number =
        std::error::Error::source(&error).is_some_and(<dyn std::error::Error>::is::<ParseIntError>);
    let remedy = if is_number {
        Some("write a whole number, such as 32".to_owned())
    } else if option.starts_with("--rate ") && value.ends_with('%') {
        Some(format!("a share of the maximum is an axis: --set 'sweep.rate=[\"{value}\"]'"))
    } else if let Some(meant) = meant(&word, line.get(1).and_then(|name| name.to_str())) {
        error.remove(ContextKind::SuggestedSubcommand);
        Some(format!("did you mean `plimsoll {meant}`?"))
    } else {
        instead_of(&value).map(str::to_owned)
    };
    if let Some(remedy) = remedy {
        insert(&mut error, remedy);
    }
    if error.kind() != ErrorKind::UnknownArgument || !option.starts_with("--") {
        return error;
    }
    let unknown = option.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
    let flags =
        command.into_iter().flat_map(|known| known.get_arguments().filter_map(Arg::get_long));
    let remedy = flag(&unknown)
        .or_else(|| of_fio(&unknown))
        .or_else(|| instead_of(&unknown).map(str::to_owned))
        .or_else(|| nearest(&unknown, flags).map(|near| format!("did you mean `--{near}`?")));
    // The parser's own guess is by likeness of letters alone, over all commands.
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::TrailingArg);
    error.remove(ContextKind::Suggested);
    if let Some(remedy) = remedy {
        insert(&mut error, remedy);
    }
    error
}

/// What somebody meant who wrote `word` in the place of a command, or of one below `command`.
fn meant(word: &str, command: Option<&str>) -> Option<String> {
    let below = match word {
        "create" | "make" | "new" | "start" | "add" => "up",
        "delete" | "remove" | "destroy" | "stop" | "rm" => "down",
        "ls" | "show" | "ps" => "list",
        _ => "",
    };
    match command {
        Some("lab") if below == "list" => Some("lab status".to_owned()),
        Some(group @ ("vms" | "lab")) if !below.is_empty() => Some(format!("{group} {below}")),
        Some(first) if first != word => None,
        _ if Pattern::from_str(word, true).is_ok() => Some(format!("run --rw {word} PATH")),
        _ if word.ends_with(".plimsoll") => Some(format!("show {word}")),
        _ if word.ends_with(".toml") || word.ends_with(".fio") => Some(format!("run {word}")),
        _ => word.starts_with('/').then(|| format!("run quick --target {word}")),
    }
}

fn insert(error: &mut clap::Error, remedy: String) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![remedy.into()]));
}

fn of_fio(flag: &str) -> Option<String> {
    dialects::fio::said_of(flag.trim_start_matches('-')).map(|(class, what)| {
        format!(
            "it is an option of fio ({class}: {what}); `plimsoll import --command \"fio …\"` reads \
             a whole line of fio"
        )
    })
}

/// The words of this command that a run file keeps, names of options written out; `None` where one
/// is no text.
fn typed<'a>(
    name: &str,
    known: impl Iterator<Item = &'a Arg>,
    given: &ArgMatches,
) -> Option<Vec<String>> {
    let (mut options, mut names) = (Vec::new(), Vec::new());
    for arg in known {
        let id = arg.get_id().as_str();
        if given.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let long = match arg.get_long() {
            Some(long) if is_kept(long) => Some(long),
            Some(_) => continue,
            None => None,
        };
        let places = given.indices_of(id).into_iter().flatten();
        for (place, value) in places.zip(given.get_raw(id).into_iter().flatten()) {
            let value = value.to_str()?;
            match long {
                Some(long) if arg.get_action().takes_values() => {
                    options.push((place, format!("--{long}={value}")));
                }
                Some(long) => options.push((place, format!("--{long}"))),
                None => names.push(value.to_owned()),
            }
        }
    }
    options.sort_by_key(|(place, _)| *place);
    let dashes = names.iter().any(|name| name.starts_with('-')).then(|| "--".to_owned());
    let options = options.into_iter().map(|(_, word)| word);
    Some(std::iter::once(name.to_owned()).chain(options).chain(dashes).chain(names).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{RunArgs, WorkArgs};
    use clap::CommandFactory;
    use model::plan::Origin;
    use model::plan::origin::{FLAGS, OPTIONS};

    fn words_of(line: &str) -> Vec<String> {
        let words = std::iter::once("plimsoll").chain(line.split('|')).map(OsString::from);
        let work: WorkArgs = match parse_from(words).expect("good arguments").command {
            Command::Run(run) => run.work,
            Command::Loadline(loadline) => loadline.run.work,
            Command::Replay(replay) => RunArgs::of_replay(&replay).work,
            _ => panic!("a run"),
        };
        work.words
    }

    /// What is typed is kept, and typed again says the same.
    fn kept(line: &str, wanted: &[&str]) {
        let words = words_of(line);
        assert_eq!(words, wanted);
        assert_eq!(words_of(&words.join("|")), wanted, "typed again");
        assert_eq!(Origin::new(words, String::new(), false).words, wanted, "a run file keeps them");
    }

    #[test]
    fn what_says_what_is_loaded_is_kept_in_its_order() {
        kept(
            "run|my suite.toml|-t|node1:/mnt/a \
             b|--set|measure=30s|--scenario|x|--set=measure=9s|--buffered|--scale|1/10",
            &[
                "run",
                "--target=node1:/mnt/a b",
                "--set=measure=30s",
                "--scenario=x",
                "--set=measure=9s",
                "--buffered",
                "--scale=1/10",
                "my suite.toml",
            ],
        );
        kept("run|--simulate|--sim-hosts|4", &["run", "--simulate=", "--sim-hosts=4"]);
        kept("run|--slurm|-N4 -p x|--|-odd.toml", &["run", "--slurm=-N4 -p x", "--", "-odd.toml"]);
        kept(
            "run|--rw|randread|--bs|4k|/mnt/x|/mnt/y",
            &["run", "--rw=randread", "--bs=4k", "/mnt/x", "/mnt/y"],
        );
        kept(
            "loadline|--objective|p99 < 1ms|--hosts=a[1-3]|quick|--destroy-data=a1:/dev/sdb",
            &[
                "loadline",
                "--objective=p99 < 1ms",
                "--hosts=a[1-3]",
                "--destroy-data=a1:/dev/sdb",
                "quick",
            ],
        );
        kept("run", &["run"]);
        kept(
            "run|--quotable|--rw=write|--dsync|--verify|/x",
            &["run", "--quotable", "--rw=write", "--dsync", "--verify=crc32c", "/x"],
        );
        kept(
            "replay|a.trace|b|-t|/x|--speed|2x|--hosts=local:2|--only=reads",
            &[
                "replay", "--target=/x", "--speed=2x", "--hosts=local:2", "--only=reads",
                "a.trace", "b",
            ],
        );
    }

    #[test]
    fn flags_of_other_tools_are_answered_with_ours_and_no_flag_is_guessed() {
        let told = |line: &str| {
            let words = std::iter::once("plimsoll").chain(line.split('|')).map(OsString::from);
            parse_from(words).expect_err(line).to_string()
        };
        for (line, remedy) in [
            ("run|--rw|randread|--thinktime|1000|/x", "--set think=VALUE"),
            ("run|--rw=randread|--direct=1|/x", "`--buffered`"),
            ("run|--ioengine=libaio", "--set engine.backend=VALUE"),
            ("run|--filename|/x", "--target PATH"),
            ("run|--iodept=4|--rw|read", "did you mean `--iodepth`?"),
            ("run|--rw|read|--iodepth=abc|x", "write a whole number"),
            ("run|--rw|read|--rate|70%|x", "sweep.rate=[\"70%\"]"),
            ("randread", "`plimsoll run --rw randread PATH`"),
            ("x.plimsoll", "`plimsoll show x.plimsoll`"),
            ("vms|create", "`plimsoll vms up`"),
            ("lab|ls", "`plimsoll lab status`"),
        ] {
            let told = told(line);
            assert!(told.contains(remedy) && !told.contains("similar argument"), "{line}: {told}");
        }
        let told = told("run|--frobnicate");
        assert!(told.contains("--frobnicate") && !told.contains("tip:"), "{told}");
    }

    #[test]
    fn options_of_fio_behind_the_quick_form_are_kept_as_fields() {
        let line = "run|--rw|randrw|--bs|4k|--rwmixwrite=30|/mnt/x";
        assert_eq!(words_of(line), ["run", "--set=read=70%", "--rw=randrw", "--bs=4k", "/mnt/x"]);
        let line = "plimsoll|run|--rw|read|--bssplit|x|/mnt/x";
        let refused = parse_from(line.split('|').map(OsString::from)).expect_err("no time");
        assert!(refused.to_string().contains("--bssplit=x"), "{refused}");
    }

    #[test]
    fn where_it_is_recorded_and_shown_and_by_which_token_is_not_kept() {
        let line = "run|quick|--serve|--token|sesame-opens-every-door|--out|x.\
                    plimsoll|-q|--json|--events|e|--keep-data";
        assert_eq!(words_of(line), ["run", "quick"]);
    }

    #[test]
    fn every_argument_of_a_run_is_kept_or_left_out_on_purpose() {
        // With `allow-loss`: the suite is kept as it was made of the job.
        let left_out = "allow-loss allow-commands out fail-if counters-from keep-data keep-vms \
             json watch quiet explain serve token keep-serving tls-cert tls-key prove push events \
             help";
        let left_out: Vec<&str> = left_out.split(' ').collect();
        let mut command = Arguments::command();
        command.build();
        let mut seen = Vec::new();
        for name in ["run", "loadline", "replay"] {
            let known = command.find_subcommand(name).expect("a command");
            for arg in known.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                assert!(is_kept(long) != left_out.contains(&long), "{long}");
                let has_value = arg.get_action().takes_values() || left_out.contains(&long);
                assert_ne!(has_value, FLAGS.contains(&long), "{long}");
                seen.push(long);
            }
        }
        assert!(OPTIONS.split(' ').all(|option| seen.contains(&option)), "{seen:?}");
    }
}
