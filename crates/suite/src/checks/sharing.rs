//! Whether the layout and the workloads' ways of sharing it go together.

use crate::{ContentsSpec, LayoutKind, LayoutSpec, PointSpec, Sharing, Verify, WorkloadSpec};
use form::{Auto, Problems};
use model::choices::Access;
use model::units::Percent;

/// Complains about `layout`, and about workloads that cannot share it as they say.
pub(crate) fn check(
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    let shared = layout.kind.value == LayoutKind::SharedFile;
    if shared && matches!(layout.files.value, Auto::Fixed(count) if count.0 != 1) {
        let message = "a shared file is one file";
        problems.push(layout.files.wrong(message, "leave out files, or write kind = \"files\""));
    }
    if let Auto::Fixed(sizes) = &layout.sizes.value {
        let mut complain = |message: &str, remedy: &str| {
            problems.push(layout.sizes.wrong(message, remedy));
        };
        if shared {
            complain("a shared file has one size", "write size instead of sizes");
        }
        if matches!(layout.size.value, Auto::Fixed(_)) {
            complain("files have one size or several", "leave out size, or sizes");
        }
        if sizes.sizes().any(|size| size.0 == 0) {
            complain("a file of 0 bytes has nothing to load", "write sizes above 0");
        }
    }
    for workload in points.iter().flat_map(|point| &point.workloads) {
        if workload.segments.value.0 > 1 && workload.sharing.value != Sharing::Segment {
            let message = format!(
                "segments are parts of the workers, and sharing is `{}`",
                workload.sharing.value
            );
            problems.push(workload.segments.wrong(message, "leave out segments or sharing"));
        }
        if workload.sharing.value == Sharing::Interleaved {
            interleaved(workload, shared, problems);
        }
    }
    check_rotation(layout, contents, points, problems);
}

/// Complains about workloads that load other hosts' files and cannot.
fn check_rotation(
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    for workload in points
        .iter()
        .flat_map(|point| &point.workloads)
        .filter(|workload| workload.rotate.value > 0)
    {
        let mut complain = |message: &str, remedy: &str| {
            problems.push(workload.rotate.wrong(format!("rotate: {message}"), remedy));
        };
        match layout.kind.value {
            LayoutKind::Files => {}
            LayoutKind::SharedFile => {
                complain(
                    "a shared file is everybody's already",
                    "leave out rotate, or write layout.kind = \"files\"",
                );
            }
            LayoutKind::Tree => {
                complain(
                    "a tree is its host's alone",
                    "leave out rotate, or write layout.kind = \"files\"",
                );
            }
        }
        if contents.verify.value != Verify::No {
            complain(
                "only the host that wrote a block knows which generation of it to expect",
                "leave out contents.verify, or rotate",
            );
        }
    }
}

/// Blocks in turn: one size, one after the other, in one file.
fn interleaved(workload: &WorkloadSpec, shared: bool, problems: &mut Problems) {
    let mut complain = |message: &str, remedy: &str| {
        problems.push(workload.sharing.wrong(format!("interleaved: {message}"), remedy));
    };
    if !shared {
        complain(
            "each host has files of its own",
            "write layout.kind = \"shared-file\", or leave out sharing",
        );
    }
    let is_random = match workload.random.value {
        Auto::Fixed(share) => share > Percent::ZERO,
        Auto::Auto => workload.access.value != Access::Sequential,
    };
    if is_random {
        complain(
            "only sequential blocks come in turn",
            "write access = \"sequential\", or sharing = \"whole\"",
        );
    }
    let has_steps = [&workload.stride.value, &workload.run.value]
        .into_iter()
        .any(|step| matches!(step, Auto::Fixed(_)));
    if has_steps || workload.streams.value.0 > 1 {
        complain(
            "the workers' turns are the stride and the streams",
            "leave out stride, run and streams",
        );
    }
    let first = workload.sizes().next();
    if workload.sizes().any(|size| Some(size) != first) {
        complain("turns have one size", "write one block_size");
    }
}

#[cfg(test)]
mod tests {
    fn complaints(layout: &str, workload: &str) -> Vec<String> {
        let text =
            format!("name = \"t\"\n[layout]\n{layout}\n[[workload]]\nname = \"w\"\n{workload}\n");
        crate::tests::complaints(&text)
    }

    const SHARED: &str = "kind = \"shared-file\"";
    const IN_TURN: &str = "sharing = \"interleaved\"\naccess = \"sequential\"\n";

    #[test]
    fn what_goes_together_is_taken() {
        for workload in
            [IN_TURN, "sharing = \"whole\"", "segments = 4\naccess = \"sequential\"", ""]
        {
            assert!(complaints(SHARED, workload).is_empty(), "{workload}");
        }
        assert!(complaints("per = \"worker\"\nfiles = 3", "").is_empty());
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let one = |layout: &str, workload: &str, word: &str| {
            let told = complaints(layout, workload);
            assert!(told.len() == 1 && told[0].contains(word), "{workload}: {told:?}");
        };
        one(&format!("{SHARED}\nfiles = 2"), "", "one file");
        one(&format!("{SHARED}\nsizes = \"4KiB:1, 8KiB:1\""), "", "one size");
        one("size = \"1MiB\"\nsizes = \"4KiB:1, 8KiB:1\"", "", "one size or several");
        one("", IN_TURN, "files of its own");
        one(SHARED, "sharing = \"interleaved\"", "only sequential");
        one(SHARED, &format!("{IN_TURN}stride = \"1MiB\""), "stride");
        one(SHARED, &format!("{IN_TURN}block_size = \"4KiB:1, 8KiB:1\""), "one size");
        one(SHARED, "sharing = \"whole\"\nsegments = 2", "segments");
        one(SHARED, "rotate = 1", "everybody's already");
        one("[contents]\nverify = \"true\"", "rotate = 1", "generation");
    }
}
