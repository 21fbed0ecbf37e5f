//! How true a replayed load was to its trace: in words, as an object, and as a section of the page.

use crate::ground::markup::{Markup, plain, under};
use crate::ground::words;
use crate::pens::json::{Value, object};
use model::replayed::{Fidelity, Replayed};
use model::trace::InFlight;
use model::{Bytes, Fact, Histogram, Record};

/// What all hosts sent of the traces of this run; `None` where nothing was replayed.
fn of_run(record: &Record) -> Option<Fidelity> {
    let replayed = record.notes.iter().filter_map(|note| match &note.fact {
        Fact::Replayed(replayed) => Some(replayed),
        _ => None,
    });
    // The store refuses a histogram that is none.
    Fidelity::of(replayed).ok().flatten()
}

fn percentiles(histogram: &Histogram) -> String {
    let at = |q| words::latency(histogram.quantile_ns(q));
    format!("p50 {}, p99 {}", at(0.5), at(0.99))
}

fn sentences(fidelity: &Fidelity) -> String {
    let Fidelity { requests, of, bytes, offsets_exact, in_sequence, .. } = fidelity;
    let order = match (in_sequence, requests == of) {
        (true, _) => "in the order of the trace",
        (false, true) => "not in the order of the trace",
        (false, false) => "up to where the replay ended",
    };
    format!(
        "{} of {} requests sent ({}, {} bytes), {} at their own offsets, {order}. Inter-arrival \
         error {}. Lateness {}. {}",
        words::count(*requests),
        words::count(*of),
        words::decimal(Bytes(*bytes)),
        words::count(*bytes),
        words::count(*offsets_exact),
        percentiles(&fidelity.inter_arrival_error),
        percentiles(&fidelity.lateness),
        in_flight(fidelity),
    )
}

fn in_flight(fidelity: &Fidelity) -> String {
    let figures = |seen: &InFlight| format!("mean {:.1}, at most {}", seen.mean(), seen.most);
    match (&fidelity.in_flight, &fidelity.original) {
        (None, None) => String::new(),
        (Some(sent), Some(original)) => {
            format!("In flight {}; in the original {}.", figures(sent), figures(original))
        }
        (Some(sent), None) => {
            format!("In flight {}; the trace does not say how many there were.", figures(sent))
        }
        (None, Some(original)) => {
            format!(
                "In flight: not seen with several workers; in the original {}.",
                figures(original)
            )
        }
    }
}

pub fn of_host(replayed: &Replayed) -> String {
    let fidelity = Fidelity::of(std::iter::once(replayed)).ok().flatten();
    fidelity.map_or_else(|| "its histograms cannot be read".to_owned(), |one| sentences(&one))
}

pub fn text(record: &Record) -> String {
    of_run(record).map_or_else(String::new, |one| format!("\nFidelity  {}\n", sentences(&one)))
}

pub fn section(record: &Record) -> Markup {
    let said = |one| under("Fidelity", [plain("p", sentences(&one))]);
    of_run(record).map(said).unwrap_or_default()
}

/// For machines: null where nothing was replayed.
pub fn object(record: &Record) -> Value {
    let Some(all) = of_run(record) else { return Value::Null };
    let mut fields = figures(&all);
    let of_hosts = record.notes.iter().filter_map(|note| match &note.fact {
        Fact::Replayed(replayed) => Some((note.host, replayed)),
        _ => None,
    });
    // They told it in any order.
    let mut of_hosts: Vec<(u32, &Replayed)> = of_hosts.collect();
    of_hosts.sort_by_key(|(number, _)| *number);
    let hosts = of_hosts.into_iter().filter_map(|(number, replayed)| {
        let one = Fidelity::of(std::iter::once(replayed)).ok().flatten()?;
        let host = record.plan.hosts.iter().find(|host| host.host == number);
        let mut fields = figures(&one);
        fields["host"] = host.map_or("", |host| host.hostname.as_str()).into();
        Some(fields)
    });
    fields["hosts"] = hosts.collect();
    fields
}

fn figures(one: &Fidelity) -> Value {
    let percentiles = |histogram: &Histogram| {
        object! {
            p50: histogram.quantile_ns(0.5), p99: histogram.quantile_ns(0.99),
            max: histogram.max_ns(),
        }
    };
    let in_flight =
        |seen: Option<InFlight>| seen.map(|seen| object! { mean: seen.mean(), max: seen.most });
    object! {
        inter_arrival_error_ns: percentiles(&one.inter_arrival_error),
        lateness_ns: percentiles(&one.lateness), in_flight: in_flight(one.in_flight),
        in_flight_of_trace: in_flight(one.original),
        ..one { requests, of, bytes, offsets_exact, in_sequence },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
    use model::Note;

    #[test]
    fn what_hosts_sent_is_one_line_and_one_object() {
        let mut recorded = Recorded::with_hosts(W, 2);
        assert_eq!(text(recorded.record_mut()), "");
        assert_eq!(object(recorded.record_mut()), Value::Null);
        let mut histogram = Histogram::new();
        histogram.record_many(1_000, 99);
        let of_host = |host, requests| {
            let replayed = Replayed {
                requests,
                of: 100,
                bytes: requests * 4096,
                offsets_exact: requests,
                in_sequence: requests == 100,
                inter_arrival_error: histogram.encode(),
                lateness: histogram.encode(),
                in_flight: Some(InFlight { requests, sum: 2 * requests, most: 4 }),
                original: Some(InFlight { requests, sum: requests, most: 3 }),
            };
            Note { stage: Some(0), host, fact: Fact::Replayed(replayed) }
        };
        recorded.record_mut().notes = vec![of_host(0, 100), of_host(1, 90)];
        let record = recorded.record_mut();
        let told = text(record);
        has(&told, &["190 of 200 requests sent (778.24 KB, 778,240 bytes), 190 at"]);
        assert!(told.contains("up to where the replay ended"), "{told}");
        let wanted = "In flight mean 2.0, at most 4; in the original mean 1.0, at most 3.";
        assert!(told.contains(wanted), "{told}");
        let object = object(record);
        assert_eq!(object["in_flight_of_trace"]["max"], 3);
        assert_eq!(object["hosts"][0]["of"], 100);
        assert_eq!(object["hosts"][1]["requests"], 90);
        assert_eq!(object["of"].as_u64(), Some(200));
        assert_eq!(object["in_sequence"].as_bool(), Some(false));
        assert!(object["lateness_ns"]["p99"].as_u64().is_some());
    }
}
