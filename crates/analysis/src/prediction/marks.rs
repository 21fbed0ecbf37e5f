//! What simulated figures beside published ones prove: whether the testbed was fitted to them, or
//! predicts them, or nothing speaks for them.

use super::forecast::Known;
use super::load::{Load, Of, fitted, published};
use super::network::Network;
use crate::ceiling::simulated;
use crate::published::{Beside, Comparison, Mark, OtherSuite, Quantity, against as beside};
use crate::rows::row::ResultRow;
use catalogue::Cluster;
use catalogue::published::Published;
use model::Record;

/// [`crate::published::against`], with a mark on each figure that was simulated.
///
/// # Errors
/// The run is of another suite.
pub fn against(
    reference: &Published,
    theirs: Option<&Cluster>,
    record: &Record,
    rows: &[ResultRow],
    ours: Option<&Cluster>,
) -> Result<Comparison, OtherSuite> {
    let mut comparison = beside(reference, theirs, record, rows, ours)?;
    if record.plan.is_simulated() {
        let shipped = simulated(std::iter::once(&record.plan));
        if let Some(cluster) = shipped.as_ref().or(ours) {
            mark(&mut comparison, reference, cluster);
        }
    }
    Ok(comparison)
}

fn mark(comparison: &mut Comparison, reference: &Published, cluster: &Cluster) {
    let rows = fitted(cluster);
    let found = published(reference);
    let known = (!rows.is_empty()).then(|| Known::of(cluster));
    let of = |load: &Load, is_rate: bool| match &known {
        Some(_) if is_rate && rows.iter().any(|row| row.load.is_like(load)) => Mark::Fitted,
        Some(known) if known.says(&Network::new(cluster, load)).unseen.is_empty() => Mark::HeldOut,
        _ => Mark::Extrapolated,
    };
    // A share of CPUs is a fact of the testbed's `[cpu]`, which its author took from the figure.
    let is_taken = |figure: &Beside| {
        reference.figures.iter().any(|one| {
            one.calibrates.value
                && one.quantity.value == "CPU"
                && (&one.workload.value, &one.scenario.value)
                    == (&figure.workload, &figure.scenario)
        })
    };
    let marked = |figure: &Beside| {
        let name = format!("{}, {}", figure.workload, figure.scenario);
        let own = format!("{name}: {}", figure.name);
        let derived = found.derived.iter().find(|one| one.name == own);
        let rate = || found.rates.rows.iter().find(|one| one.row.name == name);
        match derived {
            Some(one) => of(&one.load, matches!(one.of, Of::Rate(_) | Of::Latency)),
            None if figure.quantity == Some(Quantity::CpuShare) && is_taken(figure) => Mark::Fitted,
            None => rate().map_or(Mark::Extrapolated, |one| of(&one.row.load, true)),
        }
    };
    for figure in comparison.figures.iter_mut().filter(|figure| figure.run.is_ok()) {
        figure.mark = Some(marked(figure));
    }
    comparison.unfitted = rows.is_empty().then(|| cluster.top.name.value.clone());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{Missing, Side};
    use catalogue::cluster::reference_text;

    /// The marks of all figures of a report that this testbed would simulate.
    fn marks(name: &str, figures: &str, is_fitted: bool) -> Vec<(String, Mark)> {
        let reference = Published::parse(name, figures).expect("good figures");
        let text = reference_text(name, is_fitted).expect("a testbed");
        let cluster = Cluster::parse(name, &text, &[]).expect("a good testbed");
        let all = reference.figures.iter().map(|figure| Beside {
            workload: figure.workload.value.clone(),
            scenario: figure.scenario.value.clone(),
            name: figure.quantity.value.clone(),
            quantity: None,
            printed: String::new(),
            published: Side::default(),
            up_to: None,
            run: if figure.not_of_a_run.value.is_empty() {
                Ok(Side::default())
            } else {
                Err(Missing::NotMeasured)
            },
            is_computed: false,
            apart: Vec::new(),
            caveat: String::new(),
            mark: None,
        });
        let mut held = Comparison { figures: all.collect(), unfitted: None };
        mark(&mut held, &reference, &cluster);
        assert_eq!(held.unfitted.is_some(), !is_fitted);
        let told = held.figures.iter().filter_map(|one| {
            Some((format!("{}, {}: {}", one.workload, one.scenario, one.name), one.mark?))
        });
        told.collect()
    }

    fn count(marks: &[(String, Mark)], mark: Mark) -> usize {
        marks.iter().filter(|(_, one)| *one == mark).count()
    }

    #[test]
    fn figures_of_fitted_loads_are_fitted_and_nothing_speaks_for_an_event() {
        let c = include_str!("../../../../reference/results/vsan-four-corners.toml");
        let of_c = marks("vsan-four-corners", c, true);
        // Seven rows, each as rate, latency and throughput.
        assert_eq!(
            [Mark::Fitted, Mark::HeldOut].map(|mark| count(&of_c, mark)),
            [21, 24],
            "{of_c:?}"
        );
        let bare = marks("vsan-four-corners", c, false);
        assert_eq!(count(&bare, Mark::Extrapolated), 45);
        let d = include_str!("../../../../reference/results/hyperflex-stretched.toml");
        let of_d = marks("hyperflex-stretched", d, true);
        assert_eq!(
            [Mark::Fitted, Mark::Extrapolated].map(|mark| count(&of_d, mark)),
            [9, 3],
            "{of_d:?}"
        );
    }
}
