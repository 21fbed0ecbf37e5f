//! Measuring and reporting: what fio counts and writes.

use crate::fio::job::{Job, later};
use crate::loss::{Class, Verdict};
use crate::table::{Opt, Rule, Takes};

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "kb_base",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "read with all sizes behind it", |job, given| {
            job.kb_base = match given.value.as_str() {
                "1024" => 1024,
                "1000" => 1000,
                other => return Err(format!("`{other}` is neither 1000 nor 1024")),
            };
            Ok(Verdict::same("all sizes behind it are read so"))
        }),
    },
    Opt {
        name: "unit_base",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Harmless("only how fio prints bandwidth"),
    },
    Opt {
        name: "group_reporting",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("the workers of a workload are always added up"),
    },
    Opt {
        name: "write_bw_log",
        aliases: &["write_lat_log", "write_iops_log", "write_hist_log"],
        takes: Takes::Text,
        rule: RECORDED,
    },
    Opt {
        name: "log_avg_msec",
        aliases: &["log_hist_msec", "bwavgtime", "iopsavgtime"],
        takes: Takes::Number,
        rule: Rule::Harmless("each interval of a run is recorded; `--set interval=…` sets it"),
    },
    Opt {
        name: "per_job_logs",
        aliases: &[
            "log_entries",
            "log_hist_coarseness",
            "log_max_value",
            "log_window_value",
            "log_offset",
            "log_prio",
            "log_issue_time",
            "log_compression",
            "log_compression_cpus",
            "log_store_compressed",
            "log_unix_epoch",
            "log_alternate_epoch",
            "log_alternate_epoch_clock_id",
            "job_start_clock_id",
        ],
        takes: Takes::Text,
        rule: RECORDED,
    },
    Opt {
        name: "clat_percentiles",
        aliases: &[
            "lat_percentiles",
            "slat_percentiles",
            "percentile_list",
            "significant_figures",
            "block_error_percentiles",
        ],
        takes: Takes::Text,
        rule: Rule::Harmless("whole histograms are recorded; every quantile comes from them"),
    },
    Opt {
        name: "disable_lat",
        aliases: &[
            "disable_clat",
            "disable_slat",
            "disable_bw_measurement",
            "disable_bw",
            "gtod_reduce",
            "stats",
        ],
        takes: Takes::Flag,
        rule: Rule::Harmless(
            "everything is measured; `plimsoll run smoke --set backend=null` shows \
                              what that costs",
        ),
    },
    Opt {
        name: "gtod_cpu",
        aliases: &["clocksource"],
        takes: Takes::Text,
        rule: Rule::Harmless("Plimsoll has a clock of its own"),
    },
    Opt {
        name: "disk_util",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("the kernel's counters of each device are always recorded"),
    },
    Opt {
        name: "unified_rw_reporting",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Harmless("reads, writes and both together are always reported"),
    },
    Opt {
        name: "continue_on_error",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "errors are counted and the run goes on, which is Plimsoll's only way",
            |_, given| {
                Ok(match given.value.as_str() {
                    "none" | "0" => Verdict::near("the run goes on; errors are counted"),
                    _ => Verdict::same("errors are counted, and the run goes on"),
                })
            },
        ),
    },
    Opt {
        name: "ignore_error",
        aliases: &["error_dump"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "all errors are counted by number, and none is hidden",
            |_, _| Ok(Verdict::near("all errors are counted by number, and none is hidden")),
        ),
    },
    Opt {
        name: "write_iolog",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a log of every request"),
    },
    Opt {
        name: "read_iolog",
        aliases: &[
            "read_iolog_chunked",
            "replay_no_stall",
            "replay_redirect",
            "replay_scale",
            "replay_align",
            "replay_time_scale",
            "replay_skip",
            "merge_blktrace_file",
            "merge_blktrace_scalars",
            "merge_blktrace_iters",
        ],
        takes: Takes::Text,
        rule: Rule::Refused("a log played back: `plimsoll replay LOG --target TARGET` does that"),
    },
    Opt {
        name: "profile",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Refused,
            "fio's built-in profiles; `plimsoll suites` lists ours",
            |job, given| {
                later(&mut job.description, given, String::new())?;
                Err("fio's built-in profiles; `plimsoll suites` lists ours".to_owned())
            },
        ),
    },
];

const RECORDED: Rule<Job> = Rule::Harmless(
    "the run file has every interval of every worker; `plimsoll export` writes them",
);
