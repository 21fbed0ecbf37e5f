//! The field reference, generated from the tables.

use crate::event::EventSpec;
use crate::fields::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, KeepSpec, LayoutSpec, ObjectiveSpec,
    StagesSpec, SuiteSpec, SweepSpec, TreeSpec, VmsSpec, WorkloadSpec,
};
use form::arithmetic::Name;
use form::write_table;
use std::fmt::Write;

/// `docs/reference/suite.md`: every field with its type, its default and what it means.
pub fn reference() -> String {
    let mut page = String::from(
        "# The fields of a suite\n\nGenerated from the types by `cargo xtask docs`; do not \
         edit.\n\nA suite is a TOML file. Sizes: `4k`, `4K` and `4KiB` are 4096 bytes, `4KB` is \
         4000. Durations: `500ms`, `60s`, `1h30m`; a bare number counts seconds. Shares: \
         `\"70%\"` or `70`.\n\n`--set` gives any field another value:\n\n| option | changes \
         |\n|---|---|\n| `--set measure=10s`, `--set layout.size=1GiB` | a field |\n| `--set \
         depth=8` | all workloads |\n| `--set workload.NAME.depth=8` | one workload |\n| `--set \
         sweep.depth=[8]` | an axis of the sweep |\n",
    );
    let tables = [
        ("Top of the file", SuiteSpec::DOC, SuiteSpec::reference()),
        ("`[layout]`", LayoutSpec::DOC, LayoutSpec::reference()),
        ("`[tree]`", TreeSpec::DOC, TreeSpec::reference()),
        ("`[stages]`", StagesSpec::DOC, StagesSpec::reference()),
        ("`[engine]`", EngineSpec::DOC, EngineSpec::reference()),
        ("`[fleet]`", FleetSpec::DOC, FleetSpec::reference()),
        ("`[keep]`", KeepSpec::DOC, KeepSpec::reference()),
        ("`[contents]`", ContentsSpec::DOC, ContentsSpec::reference()),
        ("`[[workload]]`", WorkloadSpec::DOC, WorkloadSpec::reference()),
        ("`[[event]]`", EventSpec::DOC, EventSpec::reference()),
        ("`[objective]`", ObjectiveSpec::DOC, ObjectiveSpec::reference()),
        ("`[clients]`", ClientsSpec::DOC, ClientsSpec::reference()),
        ("`[vms]`", VmsSpec::DOC, VmsSpec::reference()),
        ("`[sweep]`", SweepSpec::DOC, SweepSpec::reference()),
    ];
    for (title, doc, rows) in tables {
        write_table(&mut page, title, doc, &rows);
    }
    page.push_str(
        "\nAn axis is a field of the workload (not `name` and `group`), or `files` or `size` of \
         the layout. Its value is a list, a range or a list of both:\n\n| axis | values \
         |\n|---|---|\n| `depth = [1, 8, 32]` | these |\n| `workers = \"1..1024 x2\"` | each \
         twice the one before |\n| `depth = \"1..10 +3\"` | each 3 more |\n| `block_size = [512, \
         \"4KiB..1MiB x4\"]` | both |\n\nA range ends at its end or at the last value below it. \
         Each workload runs at every combination; the last axis changes fastest. There are at \
         most 10,000 points, repetitions included.\n",
    );
    page.push_str(crate::placement::REFERENCE);
    page.push_str(crate::scenario::REFERENCE);
    write_arithmetic(&mut page);
    page
}

fn write_arithmetic(page: &mut String) {
    page.push_str(
        "\n## Arithmetic\n\nIn `[layout]`, `[tree]`, `[[workload]]` and the axes, a size or a \
         count can be computed. Examples are `size = \"2 * memory / workers\"`, `files = \"2048 / \
         workers\"` and `workers = [1, \"cpus / 2\", \"cpus\"]`.\n\n* Operators: `+ - * / ( )`, \
         `min(a, b, …)`, `max(a, b, …)`, `floor(a)`, numbers, and sizes with their units. In \
         `skip`, also `< <= > >= == !=`, `and`, `or` and `not`.\n* The result is rounded down to \
         a whole number, for each point anew. In `[tree]` only sizes are rounded: a part of a \
         file is refused without `floor`.\n* `plimsoll plan` shows the result. A value of 0 or a \
         division by zero is refused.\n\n| name | what it stands for |\n|---|---|\n",
    );
    for name in Name::ALL {
        let _ = writeln!(page, "| `{}` | {} |", name.word(), name.meaning());
    }
    page.push_str(
        "\nA name is known to a field when it is decided before it. The order is: `workers` from \
         the hosts, then `depth`, then the other fields of the workload, then `skip`, `files` and \
         `size`. In a tree, `files` is before its other fields.\n\nWhere `files` or `size` is \
         computed or swept, the layout is prepared once. Each file is as large as the largest \
         point needs. Each point loads the first `size` bytes of its first `files` files. With \
         `files = \"auto\"` it has as many as workers on a host.\n",
    );
}
