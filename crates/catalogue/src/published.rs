//! Figures that others published, as they printed them: `reference/results/`.

use crate::rows::{list, tables};
use form::{
    Auto, Count, Field, Node, Problem, Reader, Sources, SpecErrors, Value, Whole, parse_tree,
    spec_table, words,
};
use model::setting::Setting;
use model::units::{Bytes, Percent, UnitError};

/// What to do about a row that is no table.
const REMEDY: &str = "write `[[figure]]` or `[[counterpart]]` above its fields";

/// A finite number in the unit that stands beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number(pub f64);

impl Field for Number {
    const KIND: &'static str = "number";

    fn read(node: &Node) -> Result<Self, UnitError> {
        let number = match node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => f64::NAN,
        };
        if number.is_finite() {
            return Ok(Number(number));
        }
        let message = match node.value {
            // TOML has words for what is no figure.
            Value::Float(number) => {
                format!("expected a finite number, found {}", number.to_string().to_lowercase())
            }
            _ => format!("expected a number, found {}", node.kind()),
        };
        Err(UnitError {
            message,
            remedy: "write a finite number without quotes, and its unit as unit = \"…\"".to_owned(),
        })
    }

    fn write(&self) -> String {
        self.0.to_string()
    }
}

/// The value that an axis of the sweep has at a point: `scenario=local`. Nothing: any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At(pub Option<Setting>);

impl Field for At {
    const KIND: &'static str = "axis and value";

    fn read(node: &Node) -> Result<Self, UnitError> {
        let wrong = |found: &str| UnitError {
            message: format!("expected an axis and its value, found {found}"),
            remedy: "write both with = between them, such as \"scenario=local\" or \"size=10GB\""
                .to_owned(),
        };
        let Value::Text(text) = &node.value else { return Err(wrong(node.kind())) };
        if text.trim().is_empty() {
            return Ok(At(None));
        }
        let (axis, value) = text.split_once('=').ok_or_else(|| wrong(&format!("`{text}`")))?;
        Ok(At(Some(Setting::new(axis.trim(), value.trim()))))
    }

    fn write(&self) -> String {
        format!("\"{}\"", self.0.as_ref().map(Setting::to_string).unwrap_or_default())
    }
}

words! {
    /// Which time a figure is of.
    pub enum During {
        /// All of the measurement.
        Stage = "stage",
        /// The dip behind an event.
        Event = "event",
    }
}

spec_table! {
    /// Where figures come from.
    pub struct ReportSpec {
        /// The suite that repeats the report.
        name: String,
        /// The report.
        source: String,
        /// What holds for all of its figures.
        caveat: String = String::new(),
    }
}

spec_table! {
    /// One published figure.
    pub struct FigureSpec {
        /// What was done.
        workload: String,
        /// Under which conditions: a footprint, a place, a phase.
        scenario: String,
        /// What was measured.
        quantity: String,
        /// As printed; of a range its lower end.
        value: Number,
        /// The upper end of a range, as printed.
        up_to: Auto<Number> = Auto::Auto,
        /// As printed.
        unit: String,
        /// What to know of this one.
        caveat: String = String::new(),
        /// The value of the counterpart's axis that the figure is of.
        at: Auto<Count> = Auto::Auto,
        /// Threads of the load that the figure is of, where its scenario names a part of a curve. A
        /// prediction alone asks for it.
        threads: Auto<Count> = Auto::Auto,
        /// Whether a calibration takes this one of its workload, as `calibrates` of a counterpart
        /// says it of all.
        calibrates: bool = false,
        /// Which time it is of.
        during: During = During::Stage,
        /// Whether an event's own requests are in it, which no host of a run issues or counts.
        with_event: bool = false,
        /// Why no run has its counterpart; empty where one may.
        not_of_a_run: String = String::new(),
    }
}

spec_table! {
    /// Where a run of the report's suite has a figure's counterpart: by what the load was. A point
    /// is paired with a figure where size, mix, order, kind of
    /// files and operation are those of the report; in what else it differs is told beside the
    /// figure. A name pairs nothing by itself.
    pub struct CounterpartSpec {
        /// The figures' workload.
        workload: String,
        /// The figures' scenario; empty: all of them.
        scenario: String = String::new(),
        /// What the suite calls the workload: it decides where several did the same.
        run_workload: String = String::new(),
        /// The operation on files that the figures are of, as results name it; empty: reads and
        /// writes of blocks.
        run_operation: String = String::new(),
        /// The axis and value of the sweep, as in `size=10GB`; empty: any.
        run_sweep: At = At(None),
        /// The axis and value that differences are taken against, as in `scenario=local`; empty:
        /// any.
        run_base: At = At(None),
        /// The axis of the sweep whose curve has the scenarios `peak` and `sustained`; empty: the
        /// figure is that of a point.
        run_axis: String = String::new(),
        /// The size of every request, or of every file.
        block_size: Auto<Bytes> = Auto::Auto,
        /// The share of reads.
        read: Auto<Percent> = Auto::Auto,
        /// The share of requests whose place is no continuation.
        random: Auto<Percent> = Auto::Auto,
        /// Whether all threads share one file.
        one_file: Auto<bool> = Auto::Auto,
        /// All bytes that the published load touched. Where figures of one workload differ in it,
        /// they are told apart by it.
        footprint: Auto<Bytes> = Auto::Auto,
        /// Files that the operations went over.
        files: Auto<Whole> = Auto::Auto,
        /// Machines that loaded.
        hosts: Auto<Count> = Auto::Auto,
        /// Threads of all machines together; along an axis, the most of them.
        threads: Auto<Count> = Auto::Auto,
        /// Requests outstanding of each thread.
        depth: Auto<Count> = Auto::Auto,
        /// Requests outstanding in all.
        outstanding: Auto<Count> = Auto::Auto,
        /// Whether a calibration takes its rate, unless `--fit` says otherwise. It was chosen
        /// before any prediction was looked at (docs/method/prediction.md).
        calibrates: bool = false,
        /// The share of data that is mastered in the other site.
        remote: Percent = Percent::ZERO,
    }
}

/// All figures of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Where they come from.
    pub report: ReportSpec,
    /// In the order of the report; at least one.
    pub figures: Vec<FigureSpec>,
    /// Where a run has their counterparts; none where the report has nothing that one run could be
    /// held against.
    pub counterparts: Vec<CounterpartSpec>,
}

impl Published {
    /// Reads the figures in `text`, which was found at `name`.
    ///
    /// # Errors
    /// Every mistake of the text, with its place and its remedy.
    pub fn parse(name: &str, text: &str) -> Result<Published, SpecErrors> {
        let mut sources = Sources::default();
        let base = sources.add(name, text);
        let (root, syntax) = parse_tree(text, base);
        let grammar = "see https://toml.io for the grammar";
        let mut problems: Vec<Problem> = syntax
            .into_iter()
            .map(|error| Problem::new(error.span, error.message, grammar))
            .collect();
        let mut reader = Reader::new(&root, 0..0, &mut problems);
        reader.allow(&["figure", "counterpart"]);
        let report = ReportSpec::read(&mut reader);
        reader.finish();
        let list = list(&root, "figure");
        if list.is_empty() {
            problems.push(Problem::new(0..0, "there are no figures", "add a `[[figure]]`"));
        }
        let mut figures: Vec<FigureSpec> = Vec::new();
        for (table, span) in tables(list, REMEDY, &mut problems) {
            let mut reader = Reader::new(table, span.clone(), &mut problems);
            let figure = FigureSpec::read(&mut reader);
            reader.finish();
            let key = |figure: &FigureSpec| {
                (
                    figure.workload.value.clone(),
                    figure.scenario.value.clone(),
                    figure.quantity.value.clone(),
                )
            };
            if figures.iter().any(|other| key(other) == key(&figure)) {
                let message = "this quantity of this workload and scenario stands here twice";
                problems.push(Problem::new(span, message, "leave one out"));
            }
            figures.push(figure);
        }
        let mut counterparts = Vec::new();
        for (table, span) in tables(self::list(&root, "counterpart"), REMEDY, &mut problems) {
            let mut reader = Reader::new(table, span, &mut problems);
            counterparts.push(CounterpartSpec::read(&mut reader));
            reader.finish();
        }
        if problems.is_empty() {
            Ok(Published { report, figures, counterparts })
        } else {
            Err(SpecErrors { sources, problems })
        }
    }

    /// Where a run has the counterpart of `figure`.
    pub fn counterpart(&self, figure: &FigureSpec) -> Option<&CounterpartSpec> {
        self.counterparts.iter().find(|other| {
            other.workload.value == figure.workload.value
                && (other.scenario.value.is_empty()
                    || other.scenario.value == figure.scenario.value)
        })
    }

    /// Whether figures of this one's workload are of several footprints, so that a point of another
    /// one stands for none of them.
    pub fn is_told_apart_by_footprint(&self, counterpart: &CounterpartSpec) -> bool {
        let of_workload = self
            .counterparts
            .iter()
            .filter(|other| other.workload.value == counterpart.workload.value);
        let is_other =
            |other: &CounterpartSpec| other.footprint.value != counterpart.footprint.value;
        matches!(counterpart.footprint.value, Auto::Fixed(_))
            && of_workload.into_iter().any(is_other)
    }

    /// The value of a figure in the unit that was printed.
    pub fn value(&self, workload: &str, scenario: &str, quantity: &str) -> Option<f64> {
        let is_it = |figure: &&FigureSpec| {
            figure.workload.value == workload
                && figure.scenario.value == scenario
                && figure.quantity.value == quantity
        };
        self.figures.iter().find(is_it).map(|figure| figure.value.value.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, fixed};

    macro_rules! published {
        ($name:literal) => {
            Published::parse(
                $name,
                include_str!(concat!("../../../reference/results/", $name, ".toml")),
            )
            .unwrap_or_else(|errors| panic!("{}: {:?}", $name, errors.problems))
        };
    }

    #[test]
    fn all_five_reports_are_there_with_their_sources() {
        let all = [
            (published!("azure-stack-hci"), 5),
            (published!("s2d-disaggregated"), 5),
            (published!("vsan-four-corners"), 45),
            (published!("hyperflex-stretched"), 14),
            (published!("pixstor-nvme"), 34),
        ];
        for (published, count) in all {
            assert_eq!(published.figures.len(), count, "{}", published.report.name.value);
            assert!(published.report.source.value.starts_with("field report"));
        }
    }

    #[test]
    fn report_a_s_servers_add_up_to_all_hosts() {
        let a = published!("azure-stack-hci");
        let traffic =
            |scenario| a.value("4K random read", scenario, "port traffic").expect("printed");
        assert_eq!(traffic("per server") * 6.0, traffic("all hosts"));
    }

    #[test]
    fn report_b_s_rate_and_latency_are_one_finding() {
        let b = published!("s2d-disaggregated");
        let value =
            |quantity| b.value("one virtual machine", "disaggregated", quantity).expect("printed");
        let slower = 1.0 / (1.0 + value("IOPS difference") / 100.0) - 1.0;
        assert!((slower * 100.0 - value("mean latency difference")).abs() < 0.5, "{slower}");
    }

    #[test]
    fn report_c_s_throughput_is_rate_times_size_and_little_s_law_flags_two_latencies() {
        let c = published!("vsan-four-corners");
        let mut flagged = Vec::new();
        for (workload, kib) in [
            ("4K random read", 4.0),
            ("4K random write", 4.0),
            ("8K random 70/30", 8.0),
            ("32K sequential read", 32.0),
            ("32K sequential write", 32.0),
        ] {
            for scenario in ["1.6 TB", "8 TB", "16 TB"] {
                let value = |quantity| c.value(workload, scenario, quantity).expect("printed");
                let throughput = value("rate") * kib / 1024.0;
                assert!(
                    (throughput - value("throughput")).abs() < 1.0,
                    "{workload} at {scenario}: {throughput}"
                );
                // Taken as cut off to whole milliseconds, 13 of 15 latencies agree, as the field
                // report found; rounded, 9 would.
                let off = (320.0 / value("rate") * 1e3).floor() - value("mean latency");
                if off != 0.0 {
                    flagged.push((workload, scenario, off));
                }
            }
        }
        assert_eq!(
            flagged,
            [("4K random write", "1.6 TB", 1.0), ("4K random write", "16 TB", -1.0)]
        );
    }

    #[test]
    fn report_d_s_machines_add_up_to_their_scenario_unless_a_migration_is_in_it() {
        let d = published!("hyperflex-stretched");
        let value =
            |scenario, quantity| d.value("8K 67 % read", scenario, quantity).expect("printed");
        for scenario in ["1 local", "3 remote"] {
            assert_eq!(
                value(scenario, "rate of one virtual machine") * 10.0,
                value(scenario, "rate")
            );
        }
        let migrated = "2 local, migrated in mid-run";
        // What ten machines did is under a quarter of what was counted: the rest is the migration's
        // own.
        assert!(
            value(migrated, "rate of one virtual machine") * 10.0 < value(migrated, "rate") / 4.0
        );
        // Two thirds of the requests are reads, as the mix says.
        let reads = value("1 local", "read rate");
        assert!((reads / (reads + value("1 local", "write rate")) - 0.67).abs() < 0.01);
    }

    #[test]
    fn report_e_s_96_gb_a_second_need_eight_ports() {
        let e = published!("pixstor-nvme");
        let ports = e.value("theory", "ports", "throughput").expect("printed");
        let testbed = include_str!("../../../reference/testbeds/pixstor-nvme.toml");
        let cluster = Cluster::parse("pixstor-nvme", testbed, &[]).expect("a good testbed");
        let group = &cluster.nodes[0];
        let speed = fixed(group.spec.port_speed.value).expect("given").bytes_per_s() / 1e9;
        let count =
            group.count() as f64 * f64::from(fixed(group.spec.ports.value).expect("given").0);
        assert_eq!((ports / speed).ceil(), 8.0);
        assert_eq!(count, 8.0);
        // No measured figure is above what theory allows.
        let read = e.value("N-N sequential read", "peak", "throughput").expect("printed");
        assert!(
            read < ports && ports < e.value("theory", "drives", "throughput").expect("printed")
        );
    }

    #[test]
    fn every_counterpart_is_of_a_workload_that_the_report_has_and_every_figure_has_one_or_a_reason()
    {
        let all = [
            published!("azure-stack-hci"),
            published!("s2d-disaggregated"),
            published!("vsan-four-corners"),
            published!("hyperflex-stretched"),
            published!("pixstor-nvme"),
        ];
        for published in all {
            for counterpart in &published.counterparts {
                let found = published
                    .figures
                    .iter()
                    .any(|figure| published.counterpart(figure) == Some(counterpart));
                assert!(found, "{counterpart:?}");
                let operation = counterpart.run_operation.value.as_str();
                assert!(
                    operation.is_empty() || model::Op::from_name(operation).is_some(),
                    "{operation}"
                );
            }
            for figure in &published.figures {
                let reason = figure.not_of_a_run.value.as_str();
                let is_told = published.counterpart(figure).is_some() || reason.ends_with('.');
                assert!(is_told, "{figure:?}");
            }
        }
    }

    #[test]
    fn mistakes_are_found_and_numbers_are_numbers() {
        let text = "name = \"x\"\nsource = \"y\"\n[[figure]]\nworkload = \"w\"\nscenario = \
                    \"s\"\nquantity = \"q\"\nvalue = \"3\"\nunit = \"u\"\n";
        let errors = Published::parse("x", text).expect_err("a text is no number");
        assert!(errors.problems[0].message.contains("expected a number"), "{:?}", errors.problems);
        for word in ["nan", "inf", "-inf"] {
            let errors = Published::parse("x", &text.replace("\"3\"", word)).expect_err(word);
            let said = &errors.problems[0].message;
            assert!(said.ends_with(&format!("expected a finite number, found {word}")), "{said}");
        }
        let good = text.replace("\"3\"", "3");
        assert_eq!(Published::parse("x", &good).expect("good").value("w", "s", "q"), Some(3.0));
        let twice = format!("{good}{}", &good[good.find("[[").expect("there")..]);
        assert!(
            Published::parse("x", &twice).expect_err("twice").problems[0].message.contains("twice")
        );
        for bad in [
            good.replace("= 3", "= inf"),
            good.replace("[[figure]]", "[figure]"),
            "figure = [1]\n".to_owned(),
        ] {
            assert!(Published::parse("x", &bad).is_err(), "{bad}");
        }
    }
}
