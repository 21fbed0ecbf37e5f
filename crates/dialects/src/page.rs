//! The pages of the dialects, made of their tables.

use crate::rows::Table;
use crate::{diskspd, elbencho, fio, io500, iometer, iozone, mpi, vdbench};
use std::fmt::Write;

/// What differs from fio, and what `cargo xtask equivalence --write` found: of jobs that were
/// chosen, and of random ones.
const FIO: &str = concat!(
    include_str!("fio/page.md"),
    include_str!("fio/held.md"),
    "\n## Random jobs\n\nJobs that nobody chose, compared with fio in this way. The last run:\n",
    include_str!("fio/drawn.md"),
);

/// Behind the differences of a tool that MPI starts.
macro_rules! drawn {
    ($page:literal, $drawn:literal) => {
        concat!(
            include_str!($page),
            "\n## Random command lines\n\nLines that nobody chose, compared on one host by system \
             calls. The last run:\n",
            include_str!($drawn),
        )
    };
}
const IOR: &str = drawn!("mpi/ior.md", "mpi/ior_drawn.md");
const MDTEST: &str = drawn!("mpi/mdtest.md", "mpi/mdtest_drawn.md");

/// The pages: path from the root of the project, and text.
pub fn pages() -> Vec<(&'static str, String)> {
    let all: [(&str, &str, &str, &'static Table); 9] = [
        ("docs/compat/diskspd.md", "DiskSpd", include_str!("diskspd/page.md"), &diskspd::OPTIONS),
        (
            "docs/compat/elbencho.md",
            "elbencho",
            include_str!("elbencho/page.md"),
            &elbencho::OPTIONS,
        ),
        ("docs/compat/fio.md", "fio", FIO, &fio::OPTIONS),
        ("docs/compat/io500.md", "IO500", include_str!("io500/page.md"), &io500::OPTIONS),
        ("docs/compat/iometer.md", "Iometer", include_str!("iometer/page.md"), &iometer::OPTIONS),
        ("docs/compat/ior.md", "IOR", IOR, &mpi::IOR),
        ("docs/compat/iozone.md", "IOzone", include_str!("iozone/page.md"), &iozone::OPTIONS),
        ("docs/compat/mdtest.md", "mdtest", MDTEST, &mpi::MDTEST),
        ("docs/compat/vdbench.md", "vdbench", include_str!("vdbench/page.md"), &vdbench::OPTIONS),
    ];
    all.map(|(path, tool, differences, table)| (path, page(tool, differences, table))).into()
}

/// The page of a dialect: what differs by intention, then the table of each chapter.
fn page(tool: &str, differences: &str, table: &'static Table) -> String {
    let tried = match table.tried {
        "never" => "It was not tried against the tool itself.".to_owned(),
        tried => format!("Tried: {tried}."),
    };
    let mut text = format!(
        "# Jobs of {tool}\n\nGenerated from the table of the dialect by `cargo xtask docs`; do not \
         edit.\n{tried}\n\n[Keep your tool](../guide/keep-your-tool.md) runs the job itself, \
         and measures what it does.\n\n{differences}\n"
    );
    for chapter in &table.chapters {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n{HEAD}", chapter.name);
        for row in &chapter.rows {
            let also: Vec<String> = row.others.iter().map(|other| format!("`{other}`")).collect();
            let (class, what) = row.doc();
            let (name, takes) = (row.name, row.takes.word());
            let (also, what) = (also.join(", "), what.replace('|', "\\|"));
            let _ = writeln!(text, "| `{name}` | {also} | {takes} | {class} | {what} |");
        }
    }
    text
}

const HEAD: &str = "
| option | also | takes | class | what becomes of it |
|---|---|---|---|---|
";
