//! How `prepare` writes: in order, or in one pass that ages flash.

use crate::fields::{ContentsSpec, LayoutSpec, StagesSpec};
use crate::{LayoutKind, PrepareOrder, Verify};
use form::{Auto, Problems};
use model::units::{Bytes, Percent};

/// Below this spare, no drive works.
const LEAST_SPARE: Percent = Percent { ppm: 10_000 };
/// What a drive maps, mostly.
const PAGE: Bytes = Bytes::kib(4);

impl StagesSpec {
    /// The size of each write in `prepare`.
    pub(crate) fn block(&self) -> Bytes {
        match (self.prepare_block.value, self.prepare_order.value) {
            (Auto::Fixed(block), _) => block,
            (Auto::Auto, PrepareOrder::Aged) => PAGE,
            (Auto::Auto, PrepareOrder::Sequential) => self.pass_block(),
        }
    }

    /// The size of each request that goes through the layout in order.
    pub(crate) fn pass_block(&self) -> Bytes {
        match (self.prepare_block.value, self.prepare_order.value) {
            (Auto::Fixed(block), PrepareOrder::Sequential) => block,
            _ => Bytes::mib(1),
        }
    }

    /// The spare of the drive that is aged; `None` where `prepare` writes in order.
    pub(crate) fn aged_for(&self) -> Option<Percent> {
        match (self.prepare_order.value, self.spare.value) {
            (PrepareOrder::Aged, Auto::Fixed(spare)) => Some(spare),
            _ => None,
        }
    }
}

/// Complains about a preparation that cannot be.
pub(crate) fn check(
    stages: &StagesSpec,
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    problems: &mut Problems,
) {
    if let Auto::Fixed(block) = stages.prepare_block.value
        && (!(4096..=64 << 20).contains(&block.0) || !block.0.is_multiple_of(4096))
    {
        let message = format!("a prepare_block of {block} is out of range");
        let remedy = "write a multiple of 4KiB, at most 64MiB";
        problems.push(stages.prepare_block.wrong(message, remedy));
    }
    if stages.purge.value && layout.kind.value == LayoutKind::Tree {
        let message = "small files come and go: there is no layout to purge";
        problems.push(stages.purge.wrong(message, "leave out purge"));
    }
    if stages.prepare_order.value == PrepareOrder::Aged {
        check_aged(stages, layout, contents, problems);
    } else if let Auto::Fixed(_) = stages.spare.value {
        let message = "a spare means nothing where `prepare` writes in order";
        let remedy = "add prepare_order = \"aged\", or leave it out";
        problems.push(stages.spare.wrong(message, remedy));
    }
}

fn check_aged(
    stages: &StagesSpec,
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    problems: &mut Problems,
) {
    let mut put = |message: &str, remedy: &str| {
        problems.push(stages.prepare_order.wrong(message, remedy));
    };
    if stages.spare.value == Auto::Auto {
        put(
            "one pass ages a drive only where its spare is known",
            "add spare, such as spare = \"7%\": flash beyond the capacity ÷ capacity. Where nobody \
             knows it, write prepare_order = \"sequential\" with until = \"steady\"",
        );
    }
    if !stages.prepare.value {
        put("nothing is aged where `prepare` is left out", "leave out prepare = false");
    }
    if layout.kind.value == LayoutKind::Tree {
        put("small files are created, not aged", "leave out prepare_order");
    }
    if contents.verify.value != Verify::No {
        put(
            "blocks that are written several times in one pass cannot be verified",
            "leave out contents.verify, or prepare_order",
        );
    }
    if let Auto::Fixed(spare) = stages.spare.value
        && !(LEAST_SPARE..=Percent::ALL).contains(&spare)
    {
        let message = format!("a spare of {spare} is out of range");
        problems.push(stages.spare.wrong(message, "write 1% to 100%"));
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use model::units::Bytes;

    fn read(stages: &str) -> Result<Spec, String> {
        let text = format!("name = \"n\"\n[[workload]]\nname = \"w\"\n[stages]\n{stages}\n");
        Spec::parse("n", &text, &[]).map_err(|errors| format!("{errors:?}"))
    }

    #[test]
    fn a_drive_is_aged_where_its_spare_is_known() {
        let aged = read("prepare_order = \"aged\"\nspare = \"28%\"").expect("good");
        let stages = &aged.first_scenario().stages;
        assert_eq!(stages.aged_for().map(|spare| spare.ppm), Some(280_000));
        assert_eq!((stages.block(), stages.pass_block()), (Bytes::kib(4), Bytes::mib(1)));
        let plain = read("").expect("good");
        assert_eq!(plain.first_scenario().stages.aged_for(), None);
        assert_eq!(plain.first_scenario().stages.block(), Bytes::mib(1));
    }

    #[test]
    fn what_cannot_be_aged_is_refused_with_a_remedy() {
        for (stages, word) in [
            ("prepare_order = \"aged\"", "its spare is known"),
            ("spare = \"7%\"", "in order"),
            ("prepare_order = \"aged\"\nspare = \"0.5%\"", "out of range"),
            ("prepare_order = \"aged\"\nspare = \"7%\"\nprepare = false", "left out"),
            (
                "prepare_order = \"aged\"\nspare = \"7%\"\n[contents]\nverify = true",
                "cannot be verified",
            ),
            (
                "prepare_order = \"aged\"\nspare = \"7%\"\n[layout]\nkind = \"tree\"",
                "created, not aged",
            ),
            ("prepare_block = \"5000\"", "out of range"),
            ("purge = true\n[layout]\nkind = \"tree\"", "no layout to purge"),
        ] {
            let said = read(stages).expect_err(stages);
            assert!(said.contains(word), "{stages}: {said}");
        }
    }
}
