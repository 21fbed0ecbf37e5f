//! One answer to a scrape: what is told, taken in a moment, and written at leisure.

use super::family::{Family, Series};
use super::form::Form;
use super::kernel::Kernel;
use super::kind::Kind;
use super::out::{Out, single};
use super::requests::Requests;
use super::told::Told;
use super::value::Value;
use super::{MOST_DETAILED_HOSTS, canary};
use report::ground::words;
use report::topics::canary::Metric;

/// Whether each device, port, mount and share of each host is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Of up to [`MOST_DETAILED_HOSTS`] hosts.
    #[default]
    Auto,
    /// Of however many hosts.
    Whole,
    /// Not at all.
    Short,
}

impl Detail {
    /// What `?detail=` says: `1` or `0`. Whatever else it says is as if it had not been said.
    pub fn asked(value: Option<&str>) -> Detail {
        match value {
            Some("1") => Detail::Whole,
            Some("0") => Detail::Short,
            _ => Detail::Auto,
        }
    }

    fn is_whole(self, hosts: usize) -> bool {
        match self {
            Detail::Auto => hosts <= MOST_DETAILED_HOSTS,
            Detail::Whole => true,
            Detail::Short => false,
        }
    }
}

/// What there is to say about the run as a whole.
#[derive(Clone, Debug)]
pub struct Run {
    /// The run's name.
    pub run_id: String,
    /// The suite's name.
    pub suite: String,
    /// When it began, in ns since 1970.
    pub started_unix_ns: u64,
    /// Stages that ended, and all stages.
    pub stages: (usize, usize),
    /// Whether it is over.
    pub is_over: bool,
    /// The verdict of what is complete, where anything is.
    pub verdict: Option<&'static str>,
    /// Bytes per second that were durable at the end of the newest point that wrote.
    pub durable: Option<f64>,
    /// The number of the point whose stages run, from 1, and the values of its sweep; `None`
    /// between points.
    pub point: Option<(u32, String)>,
    /// What was sent to the targets.
    pub requests: Requests,
}

/// All that a scrape is told, as it was at one moment: totals are shared with who goes on counting
/// until he changes them, so that it is taken at once, however much it is to write.
#[derive(Clone, Debug, Default)]
pub struct Scrape {
    /// The version of Plimsoll.
    pub version: String,
    /// The label `run` of every metric: the run's name, or that of a watch.
    pub label: String,
    /// The hosts' names, by number.
    pub names: Vec<String>,
    /// How many of them are lost.
    pub lost: usize,
    /// The run; `None` where hosts are watched without one.
    pub run: Option<Run>,
    /// What the hosts' kernels counted.
    pub kernel: Kernel,
    /// How much of that is told.
    pub detail: Detail,
    /// What a canary tells beside its load.
    pub more: Vec<Metric>,
    /// Memory of this program that is resident, in bytes, where whoever answers looked.
    pub memory_bytes: Option<u64>,
}

impl Scrape {
    /// Everything, as one answer.
    pub fn render(&self, form: Form) -> Vec<u8> {
        self.out(Some(form)).bytes
    }

    /// Everything, as values.
    pub fn told(&self) -> Vec<Told> {
        self.out(None).told
    }

    fn out(&self, form: Option<Form>) -> Out {
        let series = Series { form, run: &self.label };
        let mut out = Out::default();
        let version = [("version", self.version.as_str())];
        let head = ["plimsoll_build_info", "The version of Plimsoll."];
        out.put(single(series, Kind::Gauge, head, &version, Value::Whole(1)));
        if let Some(run) = &self.run {
            run.render(series, &mut out);
        }
        if let Some(bytes) = self.memory_bytes {
            let head = ["plimsoll_memory_bytes", "Memory of the program that tells this."];
            out.put(single(series, Kind::Gauge, head, &[], Value::Whole(u128::from(bytes))));
        }
        out.put(self.by_state(series));
        if let Some(run) = &self.run {
            run.requests.render(series, &mut out, &self.names);
        }
        canary::render(&self.more, series, &mut out);
        let is_whole = self.detail.is_whole(self.names.len());
        let help = "Whether each device, port, mount and share of the hosts is told.";
        let head = ["plimsoll_hosts_detailed", help];
        out.put(single(series, Kind::Gauge, head, &[], Value::Whole(u128::from(is_whole))));
        if !is_whole && form == Some(Form::Text) {
            let words = format!(
                "# Left out: what each device, port, mount and share of {} counts. Of up to \
                 {MOST_DETAILED_HOSTS} hosts it is told; of more, scrape /metrics?detail=1.\n",
                words::counted(self.names.len() as u64, "host")
            );
            out.bytes.extend(words.into_bytes());
        }
        self.kernel.render(series, &mut out, &self.names, is_whole);
        out
    }

    fn by_state<'a>(&self, series: Series<'a>) -> Family<'a> {
        let mut family = Family::new(series, Kind::Gauge, "plimsoll_hosts", "Hosts by state.");
        for (state, count) in
            [("up", self.names.len().saturating_sub(self.lost)), ("lost", self.lost)]
        {
            family.add(&[("state", state)], Value::Whole(count as u128));
        }
        family
    }
}

impl Run {
    fn render(&self, series: Series<'_>, out: &mut Out) {
        let labels = [("run_id", self.run_id.as_str()), ("suite", self.suite.as_str())];
        let head = ["plimsoll_run_info", "Which run it is."];
        out.put(single(series, Kind::Gauge, head, &labels, Value::Whole(1)));
        if let Some(verdict) = self.verdict {
            let head = ["plimsoll_run_verdict", "How far the figures so far can be trusted."];
            out.put(single(series, Kind::Gauge, head, &[("verdict", verdict)], Value::Whole(1)));
        }
        if let Some(durable) = self.durable {
            let help = "Bytes a second of the newest point that were durable at its end.";
            let head = ["plimsoll_run_durable_bytes_per_second", help];
            out.put(single(series, Kind::Gauge, head, &[], Value::Whole(durable as u128)));
        }
        let started = Value::Time(u128::from(self.started_unix_ns));
        for (name, help, value) in [
            ("plimsoll_run_start_time_seconds", "When the run began, since 1970.", started),
            (
                "plimsoll_run_over",
                "Whether the run is over.",
                Value::Whole(u128::from(self.is_over)),
            ),
            (
                "plimsoll_run_stages",
                "Stages that the plan has.",
                Value::Whole(self.stages.1 as u128),
            ),
            (
                "plimsoll_run_stages_ended",
                "Stages that ended.",
                Value::Whole(self.stages.0 as u128),
            ),
        ] {
            out.put(single(series, Kind::Gauge, [name, help], &[], value));
        }
        if let Some((number, sweep)) = &self.point {
            let head = ["plimsoll_run_point", "The number of the point that runs, from 1."];
            let value = Value::Whole(u128::from(*number));
            out.put(single(series, Kind::Gauge, head, &[("sweep", sweep)], value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::busy;

    fn scrape(hosts: usize, detail: Detail) -> Scrape {
        let mut kernel = Kernel::default();
        kernel.add(&busy(0, 1));
        let names = (0..hosts).map(|number| format!("n{number}")).collect();
        Scrape {
            version: "1".to_owned(),
            label: "r".to_owned(),
            names,
            lost: 1,
            run: None,
            kernel,
            detail,
            more: Vec::new(),
            memory_bytes: None,
        }
    }

    #[test]
    fn many_hosts_are_told_without_their_devices_unless_they_are_asked_for() {
        for (hosts, detail, is_whole) in [
            (MOST_DETAILED_HOSTS, Detail::Auto, true),
            (MOST_DETAILED_HOSTS + 1, Detail::Auto, false),
            (MOST_DETAILED_HOSTS + 1, Detail::Whole, true),
            (1, Detail::Short, false),
        ] {
            let text = String::from_utf8(scrape(hosts, detail).render(Form::Text)).expect("text");
            assert_eq!(text.contains("device=\""), is_whole, "{hosts} {detail:?}: {text}");
            assert_eq!(text.contains("\n# Left out: "), !is_whole, "{text}");
            let said = format!("\nplimsoll_hosts_detailed{{run=\"r\"}} {}\n", u8::from(is_whole));
            assert!(
                text.contains(&said) && text.contains("plimsoll_host_cpu_seconds_total{"),
                "{text}"
            );
            assert_eq!(
                text.contains("# TYPE plimsoll_host_disk_reads_completed_total "),
                is_whole,
                "{text}"
            );
        }
        let bytes = |detail| scrape(1, detail).render(Form::Protobuf).len();
        assert!(bytes(Detail::Short) < bytes(Detail::Whole));
    }

    #[test]
    fn what_was_taken_stays_as_it_was_while_counting_goes_on() {
        let mut kernel = Kernel::default();
        kernel.add(&busy(0, 1));
        let taken = Scrape { kernel: kernel.clone(), ..scrape(1, Detail::Auto) };
        let before = taken.render(Form::Text);
        kernel.add(&busy(0, 2));
        kernel.lost(0);
        assert_eq!(taken.render(Form::Text), before);
        assert_ne!(Scrape { kernel, ..scrape(1, Detail::Auto) }.render(Form::Text), before);
    }

    #[test]
    fn an_address_asks_for_detail_by_a_digit() {
        assert_eq!(Detail::asked(Some("1")), Detail::Whole);
        assert_eq!(Detail::asked(Some("0")), Detail::Short);
        for nonsense in [None, Some(""), Some("yes"), Some("11")] {
            assert_eq!(Detail::asked(nonsense), Detail::Auto);
        }
    }
}
