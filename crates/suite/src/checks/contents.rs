//! Whether what `[contents]` asks for goes together.

use crate::{ContentsSpec, PointSpec, Verify, WorkloadSpec};
use form::{Auto, Given, Problem, Problems, Span, place};
use model::units::{Bytes, Percent};

/// Headers take the rest.
const MOST_COMPRESSIBLE_VERIFIED: Percent = Percent::of(90);
/// Each carries a header.
const SECTOR: u64 = 512;

/// Complains about `contents`, and about what of the workloads does not suit it.
pub(crate) fn check(contents: &ContentsSpec, points: &[PointSpec], problems: &mut Problems) {
    if contents.verify.value == Verify::No {
        return;
    }
    if contents.duplicate.value > Percent::ZERO {
        let message =
            "with verify every block says where it belongs, so none can be a copy of another";
        problems.push(contents.duplicate.wrong(message, "leave out duplicate, or verify"));
    }
    if contents.compressible.value > MOST_COMPRESSIBLE_VERIFIED {
        let message = format!(
            "with verify the headers alone are more than is left at {}",
            contents.compressible.value
        );
        problems
            .push(contents.compressible.wrong(message, "write at most 90%, or leave out verify"));
    }
    points
        .iter()
        .flat_map(|point| &point.workloads)
        .for_each(|workload| check_workload(workload, problems));
}

/// Complains about what of a workload does not suit verify.
pub(crate) fn check_workload(workload: &WorkloadSpec, problems: &mut Problems) {
    if let Some((span, what, size)) = uneven(workload) {
        let message =
            format!("with verify {what} has to be a multiple of 512 bytes, and {size} is not");
        problems.push(Problem::new(span, message, "write a multiple of 512, or leave out verify"));
    }
}

/// The first size or distance that is not a whole number of headers.
fn uneven(workload: &WorkloadSpec) -> Option<(Span, &'static str, Bytes)> {
    let is_uneven = |size: &Bytes| !size.0.is_multiple_of(SECTOR);
    let fixed = |given: &Given<Auto<Bytes>>| match given.value {
        Auto::Fixed(size) => Some(size).filter(is_uneven),
        Auto::Auto => None,
    };
    let size = workload
        .sizes()
        .find(is_uneven)
        .map(|size| (place(&workload.block_size), "every size", size));
    let align = || fixed(&workload.align).map(|size| (place(&workload.align), "align", size));
    let stride = || fixed(&workload.stride).map(|size| (place(&workload.stride), "stride", size));
    let run = || fixed(&workload.run).map(|size| (place(&workload.run), "run", size));
    size.or_else(align).or_else(stride).or_else(run)
}

#[cfg(test)]
mod tests {
    fn complaints(contents: &str, workload: &str) -> Vec<String> {
        let text = format!(
            "name = \"t\"\n[contents]\n{contents}\n[[workload]]\nname = \"w\"\n{workload}\n"
        );
        crate::tests::complaints(&text)
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(complaints("verify = true\ncompressible = 90", "").is_empty());
        assert!(complaints("duplicate = 30\ncompressible = 100", "block_size = 1000").is_empty());
        let told = complaints("verify = true\nduplicate = \"30%\"", "");
        assert!(told.len() == 1 && told[0].contains("none can be a copy"), "{told:?}");
        let told = complaints("verify = true\ncompressible = \"95%\"", "");
        assert!(told.len() == 1 && told[0].contains("headers"), "{told:?}");
        for uneven in ["block_size = 1000", "align = 700", "access = \"sequential\"\nstride = 5000"]
        {
            let told = complaints("verify = true", uneven);
            assert!(told.len() == 1 && told[0].contains("multiple of 512"), "{uneven}: {told:?}");
        }
        assert!(complaints("verify = \"after\"", "").is_empty());
        assert!(complaints("verify = \"later\"", "")[0].contains("not one of false, true, after"));
        assert!(
            complaints("duplicate_scope = \"universe\"", "")[0]
                .contains("not one of worker, hosts")
        );
    }
}
