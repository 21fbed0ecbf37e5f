//! IOR and mdtest: command lines, with the launcher that stands before them.

mod ior;
pub mod job;
pub mod line;
mod mdtest;

use crate::draft::{Draft, Fields, Group};
use crate::import::{Import, ImportError};
use crate::loss::Losses;
use crate::write;
use job::Ranks;

pub use ior::OPTIONS as IOR;
pub use mdtest::OPTIONS as MDTEST;

/// A command line of IOR; `words` begin where the launcher or the program does.
pub fn ior(words: &[String]) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let (ranks, first) = line::launcher(words, "ior", &mut losses);
    let mut job = ior::Ior::default();
    line::read(words, first, ior::OPTIONS, &mut job, "IOR", &mut losses)?;
    let group = ior::group(&job, &ranks, &mut losses);
    let top = ior::top(&job, &losses);
    finish("ior", top, group, losses)
}

/// A command line of mdtest.
pub fn mdtest(words: &[String]) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let (ranks, first) = line::launcher(words, "mdtest", &mut losses);
    let mut job = mdtest::Mdtest::default();
    line::read(words, first, mdtest::OPTIONS, &mut job, "mdtest", &mut losses)?;
    let group = mdtest::group(&job, &ranks, &mut losses)?;
    finish("mdtest", Fields::default(), group, losses)
}

fn finish(
    tool: &'static str,
    top: Fields,
    group: Group,
    losses: Losses,
) -> Result<Import, ImportError> {
    let draft = Draft {
        name: tool.to_owned(),
        description: format!("Imported from a command line of {tool}."),
        notes: vec![
            format!("Imported from a command line of {tool} by `plimsoll import`."),
            format!("Behind each field: the word that it came from. Others are {tool}'s defaults."),
        ],
        top,
        groups: vec![group],
    };
    let suite = write::suite(&draft);
    Ok(Import::new(tool, losses, vec![suite]))
}

/// Workers of all hosts, as the launcher has ranks.
fn workers(fields: &mut Fields, ranks: &Ranks) {
    match ranks.count {
        Some(count) => {
            fields.set("workers", count.clamp(1, 65_536).to_string(), ranks.from.clone());
            fields.text("spread", "all-hosts", "");
        }
        None => fields.set("workers", "1", "without a launcher"),
    }
}
