//! What DiskSpd prints with `-Rxml` (its `XmlResultParser`). It has amounts and a time for each
//! thread; rates are one ÷ the other, as DiskSpd's own text has them.

use super::{Results, numbers};
use crate::import::ImportError;
use crate::words::xml::{self, Element};
use model::Op;
use model::foreign::{
    Form, GivenOption, GivenRow, GivenSeries, MOST_POINTS, Measured, Point, Quantity, Span,
    Statistic, short,
};

const NS_PER_MS: f64 = 1e6;

/// DiskSpd's XML.
///
/// # Errors
/// It is no XML, or has no time span with requests.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let remedy = "name what `diskspd -Rxml` printed, to its end";
    // A declaration, and what a shell printed before.
    let begin = text.find("<Results").unwrap_or(0);
    let root = xml::parse(&text[begin..]).map_err(|error| {
        let line = error.line + text[..begin].matches('\n').count();
        ImportError::new(format!("{name}:{line}"), error.what, remedy)
    })?;
    let mut results = Results::new(Form::DiskSpdXml);
    let version = child(&root, "System").and_then(|system| child(system, "Tool"));
    let version = version.and_then(|tool| text_of(tool, "Version"));
    results.tool_version = short(version.unwrap_or_default());
    let targets = child(&root, "Profile").and_then(|profile| child(profile, "TimeSpans"));
    let planned: Vec<&Element> = targets.map(|all| children(all, "TimeSpan")).unwrap_or_default();
    for (number, span) in (0..).zip(children(&root, "TimeSpan")) {
        let profile = planned.get(number as usize).copied();
        for row in (TimeSpan { number, span, profile }).rows() {
            results.push(name, row)?;
        }
    }
    if results.rows.is_empty() {
        return Err(ImportError::new(name, "no time span has requests", remedy));
    }
    Ok(results)
}

fn child<'a>(element: &'a Element, name: &str) -> Option<&'a Element> {
    element.children.iter().find(|child| child.name == name)
}

fn children<'a>(element: &'a Element, name: &str) -> Vec<&'a Element> {
    element.children.iter().filter(|child| child.name == name).collect()
}

fn text_of<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    child(element, name).map(|child| child.text.trim())
}

/// A number in an element or an attribute of this name.
fn number_of(element: &Element, name: &str) -> Option<f64> {
    text_of(element, name).or_else(|| element.attribute(name)).and_then(numbers::number)
}

struct TimeSpan<'a> {
    number: u32,
    span: &'a Element,
    /// What was asked for.
    profile: Option<&'a Element>,
}

/// How the elements of an operation are named.
struct Names {
    op: Option<Op>,
    bytes: &'static str,
    count: &'static str,
    mean: &'static str,
    deviation: &'static str,
    rates: &'static str,
    quantile: &'static str,
    bucket: &'static str,
}

const NAMES: [Names; 3] = [
    Names {
        op: None,
        bytes: "BytesCount",
        count: "IOCount",
        mean: "AverageTotalMilliseconds",
        deviation: "LatencyStdev",
        rates: "IopsStdDev",
        quantile: "TotalMilliseconds",
        bucket: "Total",
    },
    Names {
        op: Some(Op::Read),
        bytes: "ReadBytes",
        count: "ReadCount",
        mean: "AverageReadMilliseconds",
        deviation: "ReadLatencyStdev",
        rates: "ReadIopsStdDev",
        quantile: "ReadMilliseconds",
        bucket: "Read",
    },
    Names {
        op: Some(Op::Write),
        bytes: "WriteBytes",
        count: "WriteCount",
        mean: "AverageWriteMilliseconds",
        deviation: "WriteLatencyStdev",
        rates: "WriteIopsStdDev",
        quantile: "WriteMilliseconds",
        bucket: "Write",
    },
];

impl TimeSpan<'_> {
    fn rows(&self) -> Vec<GivenRow> {
        NAMES.iter().filter_map(|names| self.row(names)).collect()
    }

    /// The sum over the targets of all threads.
    fn sum(&self, name: &str) -> f64 {
        let threads = children(self.span, "Thread");
        let targets = threads.iter().flat_map(|thread| children(thread, "Target"));
        targets.filter_map(|target| number_of(target, name)).sum()
    }

    fn row(&self, names: &Names) -> Option<GivenRow> {
        let (count, bytes) = (self.sum(names.count), self.sum(names.bytes));
        if count <= 0.0 {
            return None;
        }
        let workload = format!("timespan {}", self.number + 1);
        let place = format!("line {}", self.span.line);
        let mut row = GivenRow::new(&workload, names.op, place);
        row.group = self.number;
        row.options = self.options();
        let seconds = number_of(self.span, "TestTimeSeconds").filter(|seconds| *seconds > 0.0);
        row.add(Quantity::whole(Measured::Requests), Some(count));
        row.add(Quantity::whole(Measured::Bytes), Some(bytes));
        row.add(Quantity::whole(Measured::Time), seconds.map(|seconds| seconds * 1e9));
        row.add(Quantity::whole(Measured::Rate), seconds.map(|seconds| count / seconds));
        row.add(Quantity::whole(Measured::Bandwidth), seconds.map(|seconds| bytes / seconds));
        row.add(Quantity::whole(Measured::Allowed), self.allowed());
        if let Some(latency) = child(self.span, "Latency") {
            let ms = |name| number_of(latency, name).map(|ms| ms * NS_PER_MS);
            row.add(Quantity::latency(Span::Total, Statistic::Mean), ms(names.mean));
            row.add(Quantity::latency(Span::Total, Statistic::StdDev), ms(names.deviation));
            for bucket in children(latency, "Bucket") {
                let value = number_of(bucket, names.quantile).map(|ms| ms * NS_PER_MS);
                let statistic = number_of(bucket, "Percentile").and_then(statistic);
                if let Some(statistic) = statistic {
                    row.add(Quantity::latency(Span::Total, statistic), value);
                }
            }
        }
        if let Some(rates) = child(self.span, "Iops") {
            let deviation = number_of(rates, names.rates);
            row.add(Quantity::of(Measured::Rate, Statistic::StdDev), deviation);
            row.series.extend(series(rates, names.bucket));
        }
        Some(row)
    }

    fn targets(&self) -> Vec<&Element> {
        let targets = self.profile.and_then(|profile| child(profile, "Targets"));
        targets.map(|targets| children(targets, "Target")).unwrap_or_default()
    }

    /// What its targets were asked for; of several that differ, nothing.
    fn options(&self) -> Vec<GivenOption> {
        let targets = self.targets();
        ["BlockSize", "RequestCount", "WriteRatio", "ThreadsPerFile", "Random", "StrideSize"]
            .iter()
            .filter_map(|name| {
                let value = text_of(targets.first()?, name)?;
                let is_same = targets.iter().all(|target| text_of(target, name) == Some(value));
                is_same.then(|| GivenOption { name: (*name).to_owned(), value: short(value) })
            })
            .collect()
    }

    /// Threads of each file times requests of each, or threads of all times those of all targets.
    fn allowed(&self) -> Option<f64> {
        let targets = self.targets();
        let outstanding: f64 =
            targets.iter().filter_map(|target| number_of(target, "RequestCount")).sum();
        let threads = number_of(self.span, "ThreadCount")?;
        (threads > 0.0 && outstanding > 0.0).then_some(threads * outstanding)
    }
}

fn statistic(percent: f64) -> Option<Statistic> {
    match percent {
        0.0 => Some(Statistic::Least),
        100.0 => Some(Statistic::Most),
        _ => Statistic::percentile(percent),
    }
}

/// Requests in each of the intervals, as rates.
fn series(rates: &Element, name: &str) -> Option<GivenSeries> {
    let buckets = children(rates, "Bucket");
    let at = |bucket: &Element| number_of(bucket, "SampleMillisecond").map(|ms| ms as u64);
    let mut before = 0;
    let mut points = Vec::new();
    for bucket in buckets.into_iter().take(MOST_POINTS) {
        let end = at(bucket)?;
        let length = end.checked_sub(before).filter(|length| *length > 0)?;
        let value = number_of(bucket, name)? * 1e3 / length as f64;
        points.push(Point { at_ms: before, value });
        before = end;
    }
    let quantity = Quantity::whole(Measured::Rate);
    (!points.is_empty()).then_some(GivenSeries { quantity, points })
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of DiskSpd 2.
    const OUTPUT: &str = r#"<Results>
  <System><Tool><Version>2.1.0</Version></Tool></System>
  <Profile><TimeSpans><TimeSpan><Targets>
    <Target><BlockSize>4096</BlockSize><RequestCount>4</RequestCount></Target>
  </Targets></TimeSpan></TimeSpans></Profile>
  <TimeSpan>
    <TestTimeSeconds>2.00</TestTimeSeconds>
    <ThreadCount>2</ThreadCount>
    <Latency>
      <AverageReadMilliseconds>1.500</AverageReadMilliseconds>
      <AverageTotalMilliseconds>1.500</AverageTotalMilliseconds>
      <Bucket><Percentile>0</Percentile><ReadMilliseconds>0.100</ReadMilliseconds></Bucket>
      <Bucket><Percentile>99.9</Percentile><ReadMilliseconds>9.000</ReadMilliseconds></Bucket>
    </Latency>
    <Iops><ReadIopsStdDev>3.000</ReadIopsStdDev>
      <Bucket SampleMillisecond="1000" Read="900" Write="0" Total="900"/>
      <Bucket SampleMillisecond="2000" Read="1100" Write="0" Total="1100"/>
    </Iops>
    <Thread><Target><BytesCount>4096000</BytesCount><IOCount>1000</IOCount>
      <ReadBytes>4096000</ReadBytes><ReadCount>1000</ReadCount><WriteCount>0</WriteCount>
    </Target></Thread>
    <Thread><Target><BytesCount>4096000</BytesCount><IOCount>1000</IOCount>
      <ReadBytes>4096000</ReadBytes><ReadCount>1000</ReadCount><WriteCount>0</WriteCount>
    </Target></Thread>
  </TimeSpan>
</Results>"#;

    #[test]
    fn threads_are_added_up() {
        assert_eq!(detect(OUTPUT), Some(Form::DiskSpdXml));
        let results = read("d.xml", OUTPUT, Form::DiskSpdXml).expect("results");
        assert_eq!(results.rows.len(), 2, "all and reads; no write was done");
        let read = &results.rows[1];
        assert_eq!(read.get(Quantity::whole(Measured::Requests)), Some(2000.0));
        assert_eq!(read.get(Quantity::whole(Measured::Rate)), Some(1000.0));
        assert_eq!(read.get(Quantity::whole(Measured::Allowed)), Some(8.0));
        let p999 = Quantity::latency(Span::Total, Statistic::Quantile(999_000_000));
        assert_eq!(read.get(p999), Some(9_000_000.0));
        assert_eq!(read.series[0].points[1], Point { at_ms: 1_000, value: 1_100.0 });
        assert_eq!(results.tool(), "DiskSpd 2.1.0");
        assert_eq!(results.doubts, []);
    }

    #[test]
    fn half_of_it_is_an_error_with_its_line() {
        let error = super::read("d.xml", &OUTPUT[..OUTPUT.len() / 2]).expect_err("half");
        assert!(error.to_string().contains("d.xml:"), "{error}");
    }
}
