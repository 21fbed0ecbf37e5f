//! `cargo xtask bench`: Plimsoll beside its peers, interleaved in one run, as ratios of medians.
//!
//! Machines are noisy and differ, so that no figure here stands for itself: what counts is how two contenders compare that took turns on one
//! target in the same minutes.

mod contender;
mod figures;
mod target;

use crate::shell::{self, Outcome};
use contender::{Contender, Measured};
use figures::Comparison;
use std::path::PathBuf;
use target::Target;

/// One comparison: all contenders on one target.
struct Bench {
    /// Its name for `--only`.
    name: &'static str,
    /// What it is about, in words.
    title: &'static str,
    target: fn() -> Outcome<Target>,
    contenders: &'static [Contender],
    /// The least ratio of our I/Os per CPU-second to each other contender's that the project claims.
    claim: f64,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "cached",
        title: "one worker, 4 KiB random read, depth 32, on a page-cached file of 256 KiB",
        target: Target::cached_file,
        contenders: &[Contender::Plimsoll, Contender::Fio],
        claim: 1.5,
    },
    Bench {
        name: "zram",
        title: "one worker, 4 KiB random read, depth 32, direct, on a zram device that was never written",
        target: Target::zram,
        contenders: &[Contender::Plimsoll, Contender::Fio],
        claim: 1.5,
    },
];

/// What the command line says.
#[derive(Debug, PartialEq)]
struct Options {
    rounds: usize,
    seconds: u32,
    cpu: u32,
    only: Option<String>,
    write: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Options> {
        let mut options = Options { rounds: 7, seconds: 3, cpu: 1, only: None, write: false };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            let number = |text: &String| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"));
            match word.as_str() {
                "--rounds" => options.rounds = number(value()?)?.max(1) as usize,
                "--seconds" => options.seconds = number(value()?)?.max(1),
                "--cpu" => options.cpu = number(value()?)?,
                "--only" => options.only = Some(value()?.clone()),
                "--write" => options.write = true,
                other => {
                    return Err(format!(
                        "`{other}` is no option; there are --rounds, --seconds, --cpu, --only, --write"
                    ));
                }
            }
        }
        match &options.only {
            Some(_) if options.write => Err("--write renews every table of the page; run it without --only".to_owned()),
            Some(name) if BENCHES.iter().all(|bench| bench.name != name) => {
                let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
                Err(format!("there is no bench `{name}`; there are {}", names.join(", ")))
            }
            _ => Ok(options),
        }
    }
}

/// Runs the benches that can run here, prints their tables, and with `--write` keeps them in `docs/benchmarks.md`.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments)?;
    let binary = shell::build_plimsoll()?;
    let mut report = String::new();
    let mut missed = Vec::new();
    for bench in BENCHES.iter().filter(|bench| options.only.as_ref().is_none_or(|name| name == bench.name)) {
        println!("\n== {}: {}", bench.name, bench.title);
        let target = match (bench.target)() {
            Ok(target) => target,
            Err(why) => {
                println!("SKIPPED: {} because {why}", bench.name);
                report.push_str(&format!("\n### {}\n\nnot run, because {why}\n", bench.title));
                continue;
            }
        };
        let comparison = compare(bench, &target, &options, &binary)?;
        print!("{}", comparison.table());
        missed.extend(comparison.missed(bench.claim).into_iter().map(|what| format!("{}: {what}", bench.name)));
        report.push_str(&format!("\n### {}\n\n{}", bench.title, comparison.table()));
    }
    if options.write {
        write(&report, &options)?;
    }
    // A figure that misses its claim is told; noise on one machine is no reason to fail.
    missed.iter().for_each(|what| println!("MISSED: {what}"));
    Ok(())
}

/// All contenders take turns, round after round.
fn compare(bench: &Bench, target: &Target, options: &Options, binary: &std::path::Path) -> Outcome<Comparison> {
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); bench.contenders.len()];
    for round in 0..options.rounds {
        for (contender, results) in bench.contenders.iter().zip(&mut measured) {
            let result = contender.run(target, options.seconds, options.cpu, binary)?;
            println!(
                "round {} {:10} {:>10.0} IOPS {:>10.0} I/Os per CPU-second",
                round + 1,
                contender.name(),
                result.iops,
                result.ios_per_cpu_s()
            );
            results.push(result);
        }
    }
    let names = bench.contenders.iter().map(|contender| contender.name().to_owned()).collect();
    Ok(Comparison { names, measured })
}

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- written by `cargo xtask bench --write`: begin -->";
const END: &str = "<!-- end -->";

/// Puts the tables between the two marks of the page.
fn write(tables: &str, options: &Options) -> Outcome<()> {
    let path: PathBuf = shell::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE} cannot be read: {error}"))?;
    let (before, rest) = page.split_once(BEGIN).ok_or_else(|| format!("{PAGE} has lost the mark `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{PAGE} has lost the mark `{END}`"))?;
    let head =
        format!("\n`cargo xtask bench --rounds {} --seconds {}` on {}\n", options.rounds, options.seconds, machine()?);
    std::fs::write(&path, format!("{before}{BEGIN}\n{head}{tables}\n{END}{after}"))
        .map_err(|error| format!("{PAGE} cannot be written: {error}"))?;
    println!("written {PAGE}");
    Ok(())
}

/// Processor, kernel, peers and day.
fn machine() -> Outcome<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    let count = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = shell::capture(std::process::Command::new("uname").arg("-r"))?;
    let fio = shell::capture(std::process::Command::new("fio").arg("--version")).unwrap_or_default();
    let day = shell::capture(std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    // The number before the first dash is the kernel's; what follows names who built it.
    let kernel = kernel.trim().split('-').next().unwrap_or_default().to_owned();
    Ok(format!("{count} × {}, Linux {kernel}, {}, {}", model.unwrap_or("unknown CPU"), fio.trim(), day.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = parse("--rounds 3 --seconds 2 --cpu 0 --only zram").expect("good");
        assert_eq!(options, Options { rounds: 3, seconds: 2, cpu: 0, only: Some("zram".to_owned()), write: false });
        assert!(parse("--write").expect("good").write);
        assert!(parse("--only zram --write").unwrap_err().contains("without --only"));
        assert!(parse("--rounds").unwrap_err().contains("wants a value"));
        assert!(parse("--rounds many").unwrap_err().contains("many"));
        assert!(parse("--only nothing").unwrap_err().contains("cached, zram"));
    }

    #[test]
    fn the_page_has_its_marks() {
        let page = std::fs::read_to_string(shell::root().join(PAGE)).expect("the page");
        let (_, rest) = page.split_once(BEGIN).expect("the first mark");
        assert!(rest.contains(END));
    }
}
