//! The options of the command `fio` itself, which stand among those of jobs on its command line.

use crate::fio::job::Job;
use crate::table::{Opt, Rule, Takes};

/// The options of the command.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "output",
        aliases: &["output-format", "append-terse", "terse-version", "minimal"],
        takes: Takes::Text,
        rule: Rule::Harmless("the run file is named with `--out`, and JSON is `--json`"),
    },
    Opt {
        name: "eta",
        aliases: &["eta-newline", "eta-interval", "status-interval", "bandwidth-log"],
        takes: Takes::Text,
        rule: Rule::Harmless("a run shows its progress by itself"),
    },
    Opt {
        name: "section",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("only the sections of these names are read"),
    },
    Opt {
        name: "readonly",
        aliases: &[],
        takes: Takes::Nothing,
        rule: Rule::Harmless("`--existing` reads what is there and writes nothing"),
    },
    Opt {
        name: "debug",
        aliases: &[
            "warnings-fatal",
            "showcmd",
            "parse-only",
            "latency-log",
            "max-jobs",
            "alloc-size",
            "thread-eta",
            "trigger-timeout",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("only how fio itself works or talks"),
    },
    Opt {
        name: "idle-prof",
        aliases: &["aux-path", "inflate-log"],
        takes: Takes::Text,
        rule: Rule::Harmless("the kernel's counters of each CPU are always recorded"),
    },
    Opt {
        name: "client",
        aliases: &["remote-config", "server", "daemonize"],
        takes: Takes::Text,
        rule: Rule::Refused("hosts of a suite; name them with `--hosts`"),
    },
    Opt {
        name: "trigger",
        aliases: &["trigger-file", "trigger-remote"],
        takes: Takes::Text,
        rule: Rule::Refused("a command that a file triggers; `[[event]]` has commands at times"),
    },
];
