//! The field reference, generated from the tables.

use crate::event::EventSpec;
use crate::fields::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, LayoutSpec, StagesSpec, SuiteSpec, SweepSpec,
    TreeSpec, WorkloadSpec,
};
use form::arithmetic::Name;
use form::write_table;
use std::fmt::Write;

/// `docs/suite-reference.md`: every field with its type, its default and what it means.
pub fn reference() -> String {
    let mut page = String::from(
        "# The fields of a suite\n\nGenerated from the types by `cargo xtask docs`; do not \
         edit.\n\nA suite is a TOML file. Sizes: `4k`, `4K` and `4KiB` are 4096 bytes, `4KB` is \
         4000. Durations: `500ms`, `60s`, `1h30m`; a bare number counts seconds. Shares: \
         `\"70%\"` or `70`.\nEvery field can be given another value with `--set`: `--set \
         measure=10s`, `--set layout.size=1GiB`, `--set depth=8` (all workloads), `--set \
         workload.NAME.depth=8` (one), `--set sweep.depth=[8]` (an axis of the sweep).\n",
    );
    let tables = [
        ("Top of the file", SuiteSpec::DOC, SuiteSpec::reference()),
        ("`[layout]`", LayoutSpec::DOC, LayoutSpec::reference()),
        ("`[tree]`", TreeSpec::DOC, TreeSpec::reference()),
        ("`[stages]`", StagesSpec::DOC, StagesSpec::reference()),
        ("`[engine]`", EngineSpec::DOC, EngineSpec::reference()),
        ("`[fleet]`", FleetSpec::DOC, FleetSpec::reference()),
        ("`[contents]`", ContentsSpec::DOC, ContentsSpec::reference()),
        ("`[[workload]]`", WorkloadSpec::DOC, WorkloadSpec::reference()),
        ("`[[event]]`", EventSpec::DOC, EventSpec::reference()),
        ("`[clients]`", ClientsSpec::DOC, ClientsSpec::reference()),
        ("`[sweep]`", SweepSpec::DOC, SweepSpec::reference()),
    ];
    for (title, doc, rows) in tables {
        write_table(&mut page, title, doc, &rows);
    }
    page.push_str(
        "\nAn axis is a field of the workload (not `name` and `group`), or `files` or `size` of \
         the layout; its value is a list, a range or a list of both: `depth = [1, 8, 32]`, \
         `workers = \"1..1024 x2\"` (each twice the one before), `block_size = [512, \"4KiB..1MiB \
         x4\"]`, `depth = \"1..10 +3\"` (each 3 more); a range ends at its end or at the last \
         value below it. Each workload runs at every combination; the last axis changes fastest. \
         At most 10,000 points, repetitions included.\n",
    );
    page.push_str(crate::placement::REFERENCE);
    page.push_str(crate::scenario::REFERENCE);
    write_arithmetic(&mut page);
    page
}

fn write_arithmetic(page: &mut String) {
    page.push_str(
        "\n## Arithmetic\n\nIn `[layout]`, `[tree]`, `[[workload]]` and the axes, a size or a \
         count can be computed: `size = \"2 * memory / workers\"`, `files = \"2048 / workers\"`, \
         `workers = [1, \"cpus / 2\", \"cpus\"]`. There are `+ - * / ( )`, `min(a, b, …)`, \
         `max(a, b, …)`, `floor(a)`, numbers, and sizes with their units; in `skip`, also `< <= > \
         >= == !=`, `and`, `or` and `not`. The result is rounded down to a whole number (of \
         `[tree]` only sizes are: a part of a file is refused, unless `floor` says what is \
         meant), for each point anew; `plimsoll plan` shows it, and a value of 0 or a division by \
         zero is refused.\n\n| name | what it stands for |\n|---|---|\n",
    );
    for name in Name::ALL {
        let _ = writeln!(page, "| `{}` | {} |", name.word(), name.meaning());
    }
    page.push_str(
        "\nA name is known to a field when it is decided before it: `workers` is computed from \
         what the hosts are, then `depth`, then the other fields of the workload, then `skip`, \
         `files` and `size`, or the `files` of a tree and then its other fields. Where `files` or \
         `size` is computed or swept, each point loads the first `size` bytes of its first \
         `files` files (`files = \"auto\"`: as many as it has workers on a host), and each file \
         is as large as the largest point needs that loads it: the layout is prepared once.\n",
    );
}
