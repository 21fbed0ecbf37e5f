//! The field reference, generated from the tables.

use super::fields::{ContentsSpec, EngineSpec, FieldDoc, FleetSpec, LayoutSpec, StagesSpec, SuiteSpec, WorkloadSpec};
use std::fmt::Write;

/// `docs/suite-reference.md`: every field with its type, its default and what it means.
pub fn reference() -> String {
    let mut page = String::from(
        "# The fields of a suite\n\n\
         Generated from the types by `cargo xtask docs`; do not edit.\n\n\
         A suite is a TOML file. Sizes: `4k`, `4K` and `4KiB` are 4096 bytes, `4KB` is 4000. Durations: `500ms`, `60s`, `1h30m`; \
         a bare number counts seconds. Shares: `\"70%\"` or `70`.\n\
         Every field can be given another value with `--set`: `--set measure=10s`, `--set layout.size=1GiB`, `--set depth=8` (all workloads), \
         `--set workload.NAME.depth=8` (one).\n",
    );
    let tables = [
        ("Top of the file", SuiteSpec::DOC, SuiteSpec::reference()),
        ("`[layout]`", LayoutSpec::DOC, LayoutSpec::reference()),
        ("`[stages]`", StagesSpec::DOC, StagesSpec::reference()),
        ("`[engine]`", EngineSpec::DOC, EngineSpec::reference()),
        ("`[fleet]`", FleetSpec::DOC, FleetSpec::reference()),
        ("`[contents]`", ContentsSpec::DOC, ContentsSpec::reference()),
        ("`[[workload]]`", WorkloadSpec::DOC, WorkloadSpec::reference()),
    ];
    for (title, doc, rows) in tables {
        write_table(&mut page, title, doc, &rows);
    }
    page.push_str(
        "\n## `[sweep]`\n\n\
         Every key is a field of the workload (not `name`), its value a list: `depth = [1, 8, 32]`. Each workload runs once for every \
         combination; the last axis changes fastest. At most 10,000 points.\n",
    );
    page
}

fn write_table(page: &mut String, title: &str, doc: &str, rows: &[FieldDoc]) {
    // Writing to a String cannot fail.
    let _ = write!(page, "\n## {title}\n\n{}\n\n| field | type | default | meaning |\n|---|---|---|---|\n", doc.trim());
    for row in rows {
        let default = row.default.as_ref().map_or("(must be given)".to_owned(), |text| format!("`{text}`"));
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", row.key, row.kind, default, row.doc);
    }
}
