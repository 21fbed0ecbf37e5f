//! Whether what a workload asks of zones goes together, and what becomes of it in a plan.

use crate::{
    ContentsSpec, EngineSpec, LayoutKind, LayoutSpec, PointSpec, StagesSpec, Verify, WorkloadSpec,
    Zones,
};
use form::{Auto, Count, Problem, Problems};
use model::Percent;
use model::choices::{Access, Backend};
use model::plan::ZoneRules;
use model::units::Bytes;

/// The tables beside a workload that speak of zones, too.
pub(crate) struct Beside<'a> {
    pub(crate) stages: &'a StagesSpec,
    pub(crate) layout: &'a LayoutSpec,
    pub(crate) engine: &'a EngineSpec,
    pub(crate) contents: &'a ContentsSpec,
}

/// How the work of this workload keeps to zones, if it does.
pub(crate) fn rules(workload: &WorkloadSpec) -> Option<ZoneRules> {
    let size = workload.zone_size.value.fixed().unwrap_or_default();
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    (workload.zones.value == Zones::Device).then(|| ZoneRules {
        size,
        open: count(workload.open_zones.value),
        worker_open: count(workload.worker_open_zones.value),
        reset_threshold: workload.zone_reset_threshold.value,
        reset_frequency: workload.zone_reset_frequency.value,
        unwritten_reads: workload.unwritten_reads.value,
    })
}

/// Complains about zones that no device has, and about what does not go with zones.
pub(crate) fn check(beside: &Beside<'_>, points: &[PointSpec], problems: &mut Problems) {
    for workload in points.iter().flat_map(|point| &point.workloads) {
        match workload.zones.value {
            Zones::Ignored => idle(workload, problems),
            Zones::Device => {
                order(workload, problems);
                sizes(workload, problems);
                tables(workload, beside, problems);
            }
        }
    }
}

/// Fields of zones where there are none.
fn idle(workload: &WorkloadSpec, problems: &mut Problems) {
    let of_zones = "zone_size open_zones worker_open_zones zone_reset_threshold \
                    zone_reset_frequency unwritten_reads";
    for (name, span) in workload.given_of(of_zones) {
        let message = format!("`{name}` means nothing where zones are ignored");
        let remedy = "add zones = \"device\", or leave it out";
        problems.push(Problem::new(span, message, remedy));
    }
}

/// Zones are gone through in order or at random, and in no other way.
fn order(workload: &WorkloadSpec, problems: &mut Problems) {
    let is_mixed = |share: Percent| share > Percent::ZERO && share < Percent::ALL;
    let partly = matches!(workload.random.value, Auto::Fixed(share) if is_mixed(share));
    let is_fixed = |given: Auto<Bytes>| given != Auto::Auto;
    let is_odd = [
        (workload.streams.value != Count(1), "streams"),
        (is_fixed(workload.stride.value), "stride"),
        (is_fixed(workload.run.value), "run"),
        (workload.backward.value, "backward"),
        (partly, "random"),
        (workload.access.value == Access::Sequential && workload.random.span.is_some(), "random"),
    ];
    if let Some((_, name)) = is_odd.into_iter().find(|(is_odd, _)| *is_odd) {
        let message = format!("zones are loaded in order or at random, which `{name}` is not");
        let remedy = format!("leave out {name}, or zones");
        problems.push(workload.zones.wrong(message, remedy));
    }
    if is_mixed(workload.trim.value) {
        let message = "a trim resets a whole zone, and has no share among other requests";
        let remedy = "write trim = \"100%\" in a workload of its own, and bind both with share";
        problems.push(workload.trim.wrong(message, remedy));
    }
}

fn sizes(workload: &WorkloadSpec, problems: &mut Problems) {
    let Auto::Fixed(zone) = workload.zone_size.value else { return };
    if !(512..=1 << 50).contains(&zone.0) || !zone.0.is_multiple_of(512) {
        let message = format!("a zone of {zone} is out of range");
        let remedy = "write a multiple of 512 bytes";
        problems.push(workload.zone_size.wrong(message, remedy));
    }
    let largest = workload.sizes().max().unwrap_or_default();
    if largest > zone {
        let message = format!("a block of {largest} is larger than a zone of {zone}");
        problems.push(workload.zone_size.wrong(message, "write smaller blocks"));
    }
    let trims = workload.trim.value == Percent::ALL;
    if trims && workload.sizes().any(|size| size != zone) {
        let message = "a trim resets a whole zone, so its block has the size of one";
        let remedy = format!("write block_size = \"{zone}\"");
        problems.push(workload.block_size.wrong(message, remedy));
    }
}

/// What other tables have that zones do not allow.
fn tables(workload: &WorkloadSpec, beside: &Beside<'_>, problems: &mut Problems) {
    let Beside { stages, layout, engine, contents } = beside;
    let mut put = |is_odd: bool, message: &str, remedy: &str| {
        if is_odd {
            problems.push(workload.zones.wrong(message, remedy));
        }
    };
    put(
        stages.prepare.value,
        "`prepare` writes past the write pointers of zones",
        "write prepare = false under [stages]; a workload that writes fills zones",
    );
    put(
        contents.verify.value != Verify::No,
        "what a reset took away cannot be verified",
        "leave out contents.verify, or zones",
    );
    put(
        layout.kind.value == LayoutKind::Tree,
        "a tree of files has no zones",
        "leave out zones, or write [layout] kind = \"files\"",
    );
    put(
        !engine.direct.value,
        "zones are written past the page cache, which keeps no order",
        "write direct = true under [engine]",
    );
    put(
        workload.trim.value > Percent::ZERO && engine.backend.value != Backend::Sync,
        "a reset of a zone is a call of its own, which only the backend `sync` makes",
        "write backend = \"sync\" under [engine], with a depth of 1",
    );
}

#[cfg(test)]
mod tests {
    use crate::Spec;

    fn complaints(tables: &str, workload: &str) -> Vec<String> {
        let text = format!(
            "name = \"t\"\n[stages]\nprepare = false\n{tables}\n[[workload]]\nname = \
             \"w\"\nread = \"0%\"\n{workload}\n"
        );
        crate::tests::complaints(&text)
    }

    #[test]
    fn zones_take_what_fits_them() {
        let good = [
            "zones = \"device\"",
            "zones = \"device\"\naccess = \"sequential\"\nopen_zones = 3",
            "zones = \"device\"\nzone_size = \"1MiB\"\nblock_size = \"1MiB\"",
            "zones = \"device\"\nzone_reset_threshold = \"70%\"\nzone_reset_frequency = \"12.5%\"",
        ];
        for workload in good {
            assert_eq!(complaints("", workload), Vec::<String>::new(), "{workload}");
        }
        let trims = "zones = \"device\"\ntrim = \"100%\"";
        assert!(complaints("[engine]\nbackend = \"sync\"", trims).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_reason() {
        let cases = [
            ("", "open_zones = 3", "means nothing where zones are ignored"),
            ("", "zones = \"device\"\nstreams = 2", "which `streams` is not"),
            ("", "zones = \"device\"\nrandom = \"50%\"", "which `random` is not"),
            ("", "zones = \"device\"\nzone_size = \"1000\"", "out of range"),
            ("", "zones = \"device\"\nzone_size = \"2KiB\"", "larger than a zone"),
            ("", "zones = \"device\"\ntrim = \"5%\"", "no share among other requests"),
            ("[contents]\nverify = true", "zones = \"device\"", "cannot be verified"),
            ("[engine]\ndirect = false", "zones = \"device\"", "page cache"),
            ("", "zones = \"device\"\ntrim = \"100%\"", "which only the backend `sync` makes"),
        ];
        for (tables, workload, expected) in cases {
            let told = complaints(tables, workload);
            assert!(told.iter().any(|one| one.contains(expected)), "{workload}: {told:?}");
        }
        let told =
            Spec::parse("t", "name = \"t\"\n[[workload]]\nname = \"w\"\nzones = \"device\"\n", &[]);
        let told = told.expect_err("`prepare` is on by default");
        assert!(told.problems[0].message.contains("past the write pointers"));
    }
}
