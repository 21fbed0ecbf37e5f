//! Whether the fields of a population of files go together.

use crate::{Operation, WorkloadSpec};
use form::{Problem, Problems};
use model::population::{
    LEAST_FILL, MOST_APPEND, MOST_FILL, MOST_GROWTH, Population, PopulationStage,
};

/// Complains about what a population cannot have, or about its fields where there is none.
pub(crate) fn check(workload: &WorkloadSpec, has_one: bool, problems: &mut Problems) {
    let (fill, append) = (&workload.fill, &workload.append);
    let mut refuse = |span: &Option<std::ops::Range<usize>>, message: String, remedy: &str| {
        if let Some(span) = span {
            problems.push(Problem::new(span.clone(), message, remedy));
        }
    };
    if !has_one {
        for (name, span) in [("fill", &fill.span), ("append", &append.span)] {
            let message =
                format!("`{name}` means nothing where no file is born, changed or removed");
            refuse(
                span,
                message,
                "leave it out, or write a mix such as \"create:10, read:80, remove:10\"",
            );
        }
        return;
    }
    for (name, span) in [("other", &workload.other.span), ("file_order", &workload.file_order.span)]
    {
        let message = format!(
            "`{name}` means nothing to a population: each worker has files of its own and draws \
             them"
        );
        refuse(span, message, "leave it out");
    }
    if !(LEAST_FILL..=MOST_FILL).contains(&fill.value) {
        let message = format!("a population on {} of its names is out of range", fill.value);
        problems.push(fill.wrong(message, format!("write {LEAST_FILL} to {MOST_FILL}")));
    }
    if !(1..=MOST_APPEND.0).contains(&append.value.0) {
        let message = format!("an append of {} is out of range", append.value);
        problems.push(append.wrong(message, format!("write 1 byte to {MOST_APPEND}")));
    }
    for operation in &workload.operations.value.0 {
        let Operation::Living(mix) = operation else { continue };
        let population = Population {
            mix: *mix,
            fill: fill.value,
            append: append.value,
            stage: PopulationStage::Live,
        };
        if population.growth() > MOST_GROWTH {
            let message =
                format!("appends would add {} to each file on average", population.growth());
            problems.push(workload.operations.wrong(
                message,
                format!("give `truncate` or `remove` more weight: at most {MOST_GROWTH} are added"),
            ));
        }
    }
}
