//! What stands below the help of each command: examples, and the exit codes. Written for 80
//! columns, because a command that a terminal broke in two cannot be copied; a test holds them to
//! that, and to what the parser takes.

/// The table of exit codes, as the help and the man page print it.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, but the target failed some requests; the report counts them
  2    the arguments or the suite are wrong; nothing was touched
  3    a target or a host was refused (not ours, in use, no space, no
       permission, no answer)
  4    the run could not go on; what was recorded until then is kept
  5    a run file could not be read
  6    a condition of `compare` or `trend --fail-if` was met, the
       objective of `loadline` held at no rate, `gate` found a regression,
       or `canary` stopped because others may suffer
  7    verify: data are missing or damaged; they are counted
  8    an option or a command of another tool's job was refused; without
       --allow-loss or --allow-commands nothing was written or loaded
  9    gate: cannot tell; it says what it could find, and what it would take
  101  a bug in Plimsoll; please report it
  130  interrupted; what was recorded until then is kept

`plimsoll COMMAND --help` has examples of each.";

/// Below `plimsoll run --help`.
pub(crate) const RUN_SHORT: &str = "\
Examples:
  plimsoll run --target /mnt/x                           # suite four-corners
  plimsoll run --rw randread --bs 4k --iodepth 32 /mnt/x # fio's words
  plimsoll run --hosts node[01-16] -t /mnt/gpfs          # sixteen hosts
--help has more on each option, and more examples.";

/// Below `plimsoll run --help`.
pub(crate) const RUN: &str = "\
Examples:
  # the built-in suite four-corners on the disk below /mnt/x, two minutes
  plimsoll run --target /mnt/x
  # another suite; `plimsoll suites` lists them
  plimsoll run quick -t /mnt/x --out quick.plimsoll
  # one workload in fio's words
  plimsoll run --rw randread --bs 4k --iodepth 32 --size 4G --runtime 60 /mnt/x
  # sixteen hosts over ssh, one instant, one result
  plimsoll run --hosts node[01-16] -t /mnt/gpfs
  # a suite of your own, with one field changed
  plimsoll run my.toml --set measure=30s -t /mnt/x
  # no target at all: a simulated one
  plimsoll run quick -t sim:ssd";

/// Below `plimsoll loadline --help`.
pub(crate) const LOADLINE: &str = "\
Examples:
  plimsoll loadline --rw randread --bs 8k --numjobs 4 --runtime 30 -t /mnt/x \\
    --objective \"read p99 < 5ms, errors = 0\"
  plimsoll loadline four-corners --workload 4k-random-read -t /mnt/x \\
    --hosts node[01-08] --objective \"p99.9 < 20ms\"
Exit code 6: the objective held at no rate, or the search did not come to its
end.";

/// Below `plimsoll plan --help`.
pub(crate) const PLAN: &str = "\
Examples:
  plimsoll plan quick -t /mnt/x
  # for hosts that are not at hand
  plimsoll plan vsan-four-corners --set clients.count=16 \\
    --set clients.memory=128GiB";

/// Below `plimsoll watch --help`.
pub(crate) const WATCH: &str = "\
Examples:
  plimsoll watch
  plimsoll watch --hosts node[01-16]
  # ten lines for each host, and out
  plimsoll watch --interval 1s --count 10
  plimsoll watch run.plimsoll --speed 10";

/// Below `plimsoll inventory --help`.
pub(crate) const INVENTORY: &str = "\
Examples:
  plimsoll inventory /mnt/x
  plimsoll inventory --hosts node[01-16] --json
  plimsoll inventory --draft --hosts node[01-16] -o my-cluster.toml";

/// Below `plimsoll network --help`.
pub(crate) const NETWORK: &str = "\
Examples:
  plimsoll network --hosts node[01-04]
  # over the storage network, to a file that a ceiling takes
  plimsoll network --hosts node[01-16] --subnet 10.1.0.0/16 -o net.json
  plimsoll ceiling my-cluster.toml --network net.json
Exit code 4: a flow failed.";

/// Below `plimsoll suites --help`.
pub(crate) const SUITES: &str = "\
Examples:
  plimsoll suites
  plimsoll suites quick > my.toml
  # as a job file of fio; what fio cannot say goes to standard error
  plimsoll suites quick --as fio > quick.fio
Exit code 8: fio's job does without a part of the suite.";

/// Below `plimsoll import --help`.
pub(crate) const IMPORT: &str = "\
Examples:
  plimsoll import job.fio -o suite.toml
  plimsoll import --command \"fio --name=a --rw=randread --bs=4k\" -o a.toml
  # a parameter file of vdbench, a configuration of IO500, a profile of DiskSpd
  plimsoll import vdbench.parm -o a.toml
  # what became of each option
  plimsoll import job.fio --json | jq .options
  # results of other tools, and their doubts; -o makes a run file
  plimsoll import result_summary.txt
  plimsoll import fio.json -o day1.plimsoll
  # a job file as it is
  plimsoll run job.fio -t /mnt/x
Exit code 8: an option was refused or is unknown.";

/// Below `plimsoll record --help`.
pub(crate) const RECORD: &str = "\
Examples:
  plimsoll record /dev/nvme1n1 --for 10m -o x.trace
  # the device below a file system, until Ctrl-C
  plimsoll record /var/lib/mysql -o x.trace";

/// Below `plimsoll replay --help`.
pub(crate) const REPLAY: &str = "\
Examples:
  # into a file of ours in a directory
  plimsoll replay x.trace -t /mnt/x
  # fio's log, at twice its speed, reads alone, on what is there
  plimsoll replay log.iolog --only reads --existing -t /dev/nvme1n1 --speed 2x
  # one volume of a public trace, folded onto a smaller device; its data is lost
  plimsoll replay io_traces.csv --source 7 --scale-space fold \\
    --destroy-data /dev/nvme1n1
  # a trace for each of two hosts, from one instant
  plimsoll replay a.trace b.trace --hosts node[01-02] -t /mnt/x";

/// Below `plimsoll distil --help`.
pub(crate) const DISTIL: &str = "\
Examples:
  plimsoll distil x.trace -o suite.toml
  plimsoll run suite.toml -t /mnt/x";

/// Below `plimsoll mark --help`.
pub(crate) const MARK: &str = "\
Examples:
  plimsoll mark run.plimsoll \"migration started\"";

/// Below `plimsoll report --help`.
pub(crate) const REPORT: &str = "\
Examples:
  # the page, beside the run
  plimsoll report run.plimsoll
  # Markdown for a wiki, its charts in report-charts/*.svg
  plimsoll report run.plimsoll -o report.md
  plimsoll report before.plimsoll after.plimsoll -o both.html
A report of ours is written again; any other file is overwritten with --force
alone.";

/// Below `plimsoll export --help`.
pub(crate) const EXPORT: &str = "\
Examples:
  # results.csv, quantiles.csv, series.csv, counters.csv, events.csv
  plimsoll export run.plimsoll --format csv -o tables/
  # one table
  plimsoll export run.plimsoll --table series -o series.csv
  # all tables in one object
  plimsoll export run.plimsoll --format json -o run.json
  plimsoll export run.plimsoll --table results -o - | column -ts,
  # for programs made for fio
  plimsoll export run.plimsoll --format fio-json
docs/reference/exports.md lists the columns.";

/// Below `plimsoll serve --help`.
pub(crate) const SERVE: &str = "\
Examples:
  plimsoll serve before.plimsoll after.plimsoll
  plimsoll serve run.plimsoll --address 127.0.0.1:0";

/// Below `plimsoll compare --help`.
pub(crate) const COMPARE: &str = "\
Examples:
  plimsoll compare before.plimsoll after.plimsoll
  plimsoll compare before.plimsoll after.plimsoll --fail-if \"iops < -5%\"
  plimsoll compare before.plimsoll after.plimsoll -o both.html";

/// Below `plimsoll gate --help`.
pub(crate) const GATE: &str = "\
Examples:
  # two builds of a program, by the time that they take
  plimsoll gate --base ./old --head ./new --detect 3% --budget 10m
  # two commands that write run files, for a CI server
  plimsoll gate --base \"plimsoll run ci.toml -t /mnt/a --out {out}\" \\
    --head \"plimsoll run ci.toml -t /mnt/b --out {out}\" \\
    --detect 10% --metric p99 --junit gate.xml
  # against a folder of runs that were recorded on such hosts
  plimsoll gate --base baselines/ --head new.plimsoll --detect 5%
Exit codes: 0 no change so large, or an improvement; 6 a regression; 9 cannot
tell.";

/// Below `plimsoll canary --help`.
pub(crate) const CANARY: &str = "\
Examples:
  # 50 requests per second of 4 KiB for weeks, 99.9 % of them within 5 ms
  plimsoll canary --dir /var/lib/plimsoll/canary --objective \"p99.9 < 5ms\" \\
    --rw randread --size 1GiB --rate 50 --target /mnt/x
  # a hundredth of the load line, alerts to a command
  plimsoll canary --dir canary --objective \"p99 < 5ms\" --rw randread \\
    --size 1GiB --share 1% --of line.plimsoll --target /mnt/x \\
    --on-alert ./page.sh
  plimsoll canary status canary
Exit codes: 0 all --segments ended; 6 --on-harm stop, and others may suffer;
130 stopped. The next start goes on where this one ended.";

/// Below `plimsoll trend --help`.
pub(crate) const TREND: &str = "\
Examples:
  # all *.plimsoll of a folder, in the order of time
  plimsoll trend nightly/ -o trend.html
  # the latest run against the level before it, as a gate
  plimsoll trend nightly/*.plimsoll --fail-if \"read p99 > 10%\"";

/// Below `plimsoll show --help`.
pub(crate) const SHOW: &str = "\
Examples:
  plimsoll show run.plimsoll
  plimsoll show run.plimsoll --by host
  plimsoll show run.plimsoll --against vsan-four-corners
  plimsoll show long.plimsoll --predicted fitted.toml
  plimsoll show run.plimsoll --suite > again.toml
  plimsoll show run.plimsoll --json | jq .results";

/// Below `plimsoll ceiling --help`.
pub(crate) const CEILING: &str = "\
Examples:
  # the testbeds that are built in
  plimsoll ceiling
  # which layer binds once the cache is full
  plimsoll ceiling vsan-four-corners --footprint 16TB
  plimsoll ceiling pixstor-nvme --rw read --bs 8m --measured 84.5GB/s \\
    --what-if ports+1 --what-if nodes-2
  # a testbed to start from, and what it carries
  plimsoll ceiling --print azure-stack-hci > my.toml
  plimsoll ceiling my.toml --suite four-corners --set nodes.count=8 \\
    -o ceiling.html
  # the drives whose figures are known
  plimsoll ceiling --devices";

/// Below `plimsoll calibrate --help`.
pub(crate) const CALIBRATE: &str = "\
Examples:
  # seven rows of a report are fitted, the other eight are predicted
  plimsoll calibrate vsan-four-corners --against vsan-four-corners
  # your own cluster: a short run's rows, and a testbed file for predictions
  plimsoll run calibration --hosts node[01-16] -t /mnt/data --out short.plimsoll
  plimsoll calibrate lab.toml short.plimsoll -o fitted.toml
  # a long run beside what the short one implies
  plimsoll show long.plimsoll --predicted fitted.toml
  plimsoll calibrate lab.toml a.plimsoll b.plimsoll --hold 8k --hold 3";

/// Below `plimsoll predict --help`.
pub(crate) const PREDICT: &str = "\
Examples:
  plimsoll predict fitted.toml four-corners
  plimsoll predict fitted.toml four-corners --what-if nodes+2 --what-if drives+4
  plimsoll predict fitted.toml four-corners --one-more --objective \"p99 < 5ms\"
  plimsoll predict fitted.toml four-corners --simulate
  plimsoll predict fitted.toml my-suite.toml --hosts 8 --json | jq .results";

/// Below `plimsoll verify --help`.
pub(crate) const VERIFY: &str = "\
Examples:
  plimsoll run quick -t /mnt/x --set contents.verify=after --keep-data \\
    --out run.plimsoll
  plimsoll verify run.plimsoll
  # of several hosts, on the one that has the data
  plimsoll verify run.plimsoll --host node01
Exit code 7: data are missing or damaged.";

/// Below `plimsoll resume --help`.
pub(crate) const RESUME: &str = "\
Examples:
  plimsoll resume run.plimsoll
  plimsoll resume run.plimsoll --out whole.plimsoll
  # where nothing of the run is left at its target: look, then name it again
  plimsoll resume run.plimsoll --target /mnt/x";

/// Below `plimsoll take --help`.
pub(crate) const TAKE: &str = "\
Examples:
  # on another machine that sees the run file, within fleet.hold
  plimsoll take day.plimsoll --hosts node[01-16]";

/// Below `plimsoll clean --help`.
pub(crate) const CLEAN: &str = "\
Examples:
  plimsoll clean /mnt/x
  plimsoll clean --hosts node[01-16] /mnt/x";

/// Below `plimsoll vms --help`.
pub(crate) const VMS: &str = "\
Examples:
  plimsoll vms up --set vms.count=2 --set vms.disk_size=1GiB
  plimsoll run quick --hosts vms:plimsoll
  plimsoll vms list
  plimsoll vms move plimsoll --to /mnt/other
  plimsoll vms down plimsoll";

/// Below `plimsoll completions --help`.
pub(crate) const COMPLETIONS: &str = "\
Examples:
  source <(plimsoll completions bash)
  plimsoll completions zsh > ~/.zfunc/_plimsoll
  plimsoll completions fish > ~/.config/fish/completions/plimsoll.fish";

/// Below `plimsoll help --help`.
pub(crate) const HELP: &str = "\
Examples:
  plimsoll help all
  plimsoll help run
  plimsoll help comparing";

/// Below `plimsoll man --help`.
pub(crate) const MAN: &str = "\
Examples:
  plimsoll man | man -l -
  plimsoll man --directory ~/.local/share/man/man1";

#[cfg(test)]
mod tests {
    use crate::args::Arguments;
    use clap::{CommandFactory, Parser};
    use std::path::{Path, PathBuf};

    /// The pages for newcomers: README, start, questions, the guide and the reports.
    fn pages() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = |folder: &str| {
            let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
            entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
        };
        let mut paths =
            ["README.md", "docs/start.md", "docs/faq.md"].map(|p| root.join(p)).to_vec();
        paths.extend(files("docs/guide").into_iter().chain(files("docs/reports")));
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).expect("a page");
            (path.display().to_string(), text)
        };
        paths.into_iter().map(read).collect()
    }

    /// The words of a line as a shell would hand them over: quotes hold together, and a
    /// redirection, pipe or comment ends it.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![];
        let (mut word, mut quote) = (String::new(), None);
        for letter in line.chars() {
            match letter {
                '"' | '\'' if quote == Some(letter) => quote = None,
                '"' | '\'' if quote.is_none() => quote = Some(letter),
                ' ' if quote.is_none() => {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                }
                '>' | '|' | '#' if quote.is_none() && word.is_empty() => return words,
                _ => word.push(letter),
            }
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }

    fn below(command: &clap::Command) -> String {
        command.get_after_help().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn every_example_is_a_command_that_the_parser_takes() {
        let mut seen = 0;
        for command in Arguments::command().get_subcommands() {
            let text = below(command).replace("\\\n", "");
            let examples: Vec<&str> =
                text.lines().filter(|line| line.starts_with("  plimsoll ")).collect();
            assert!(
                !examples.is_empty() || command.get_name() == "agent",
                "{} has no example",
                command.get_name()
            );
            assert!(
                examples.iter().any(|line| words(line)[1] == command.get_name())
                    || examples.is_empty()
            );
            for line in examples {
                let parsed = Arguments::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn every_command_on_a_page_for_newcomers_is_one_that_the_parser_takes() {
        let mut seen = 0;
        for (page, text) in pages() {
            let text = text.replace("\\\n", "");
            let lines = text.lines().map(|line| line.trim_start_matches("$ "));
            for line in lines.filter(|line| line.starts_with("plimsoll ")) {
                let parsed = Arguments::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{page}: {line}: {}", parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 80, "{seen}");
    }

    #[test]
    fn nothing_below_a_help_is_wider_than_80_columns() {
        let arguments = Arguments::command();
        for command in std::iter::once(&arguments).chain(arguments.get_subcommands()) {
            for line in below(command).lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }
}
