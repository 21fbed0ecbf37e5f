//! What values of `[software]`, `[fitted]` and `[[fitted_row]]` can be: others are typing errors,
//! of which a prediction would make figures that look like any.

use super::software::FittedRowSpec;
use super::{Cluster, fixed};
use form::{Auto, Given, Problem, Problems, Span, place};
use model::choices::Access;
use model::units::{Bytes, Nanos, Percent};

/// No request takes longer anywhere: kernels give up a disk after 30 s.
const LONGEST: Nanos = Nanos(100_000_000_000);
/// A request in a quarter of an hour, and more than all drives that were ever sold.
const RATES: (f64, f64) = (0.001, 1e12);
/// The largest request; a whole file counts as one.
const LARGEST: Bytes = Bytes::gib(1024);
/// More than any cluster has outstanding.
const MOST_OUTSTANDING: u64 = 1 << 32;

/// Times and shares of `[software]` and `[fitted]`.
pub(super) fn software(cluster: &Cluster, problems: &mut Problems) {
    for table in [&cluster.software, &cluster.fitted] {
        let times = [
            &table.read, &table.write, &table.read_per_mib, &table.write_per_mib, &table.read_path,
            &table.write_path, &table.site_round_trip, &table.drive_read, &table.drive_write,
            &table.lookup, &table.change, &table.create, &table.rdma_path, &table.tcp_path,
            &table.rdma_message, &table.tcp_message,
        ];
        let shares = [
            &table.port_share, &table.cache_usable, &table.stream_share, &table.attributes_kept,
            &table.shared_file,
        ];
        problems.extend(times.into_iter().filter_map(time));
        problems.extend(shares.into_iter().filter_map(share));
    }
}

/// A time of 0 would let everything through at once.
fn time(given: &Given<Auto<Nanos>>) -> Option<Problem> {
    let time = fixed(given.value)?;
    let message = if time.0 == 0 {
        "less than 1 ns is no time of a request".to_owned()
    } else if time > LONGEST {
        format!("{time} is no time of a request")
    } else {
        return None;
    };
    let remedy = format!("write what was measured, from 1 ns to {LONGEST}, or leave it out");
    Some(given.wrong(message, remedy))
}

/// Nor is there anything through which nothing goes.
fn share(given: &Given<Auto<Percent>>) -> Option<Problem> {
    fixed(given.value).filter(|share| share.ppm == 0)?;
    let message = "a share below 0.0001% lets nothing through";
    let remedy = "write what was measured, from 0.0001% to 100%, or leave it out";
    Some(given.wrong(message, remedy))
}

/// What a row of a calibration cannot be.
pub(super) fn fitted_row(row: &FittedRowSpec, problems: &mut Problems) {
    let mut wrong = |span: Span, message: &str, remedy: &str| {
        // What could not be read has its default, which is no mistake of its own.
        if problems.iter().all(|known| known.span != span) {
            problems.push(Problem::new(span, message, remedy));
        }
    };
    let rate = row.rate.value.0;
    if rate <= 0.0 {
        wrong(place(&row.rate), "a row without requests says nothing", "leave the row out");
    } else if !(RATES.0..=RATES.1).contains(&rate) {
        let message = format!("{rate:e} requests per second are no rate of a cluster");
        let remedy = format!(
            "write what was measured, from {} to {:e}, or leave the row out",
            RATES.0, RATES.1
        );
        wrong(place(&row.rate), &message, &remedy);
    }
    let outstanding = row.outstanding.value.0;
    if outstanding == 0 {
        wrong(
            place(&row.outstanding),
            "a row without requests outstanding says nothing",
            "write workers × depth of all hosts",
        );
    } else if outstanding > MOST_OUTSTANDING {
        wrong(
            place(&row.outstanding),
            &format!("{outstanding} requests outstanding are more than any cluster has"),
            &format!("write workers × depth of all hosts, up to {MOST_OUTSTANDING}"),
        );
    }
    if row.depth.value.0 == 0 || row.depth.value.0 > outstanding.max(1) {
        wrong(
            place(&row.depth),
            "`depth` is 0, or more than all that is outstanding",
            "write the requests outstanding of one worker",
        );
    }
    let hosts = row.hosts.value.0;
    if outstanding > 0 && u64::from(hosts) > outstanding {
        wrong(
            place(&row.hosts),
            &format!("{hosts} hosts, and {outstanding} requests outstanding of all of them"),
            "write the hosts that loaded; each has a request outstanding",
        );
    }
    for size in [&row.read_bytes, &row.write_bytes] {
        if size.value.0 == 0 {
            wrong(place(size), "a request of 0 bytes", "write its mean size");
        } else if size.value > LARGEST {
            let message = format!("{} is no size of a request", size.value);
            wrong(place(size), &message, &format!("write its mean size, up to {LARGEST}"));
        }
    }
    if fixed(row.footprint.value) == Some(Bytes(0)) {
        let remedy = "write all bytes that were touched, or leave it out";
        wrong(place(&row.footprint), "a load that touches 0 bytes", remedy);
    }
    law(row, problems);
}

/// What the law of a row's requests cannot be.
fn law(row: &FittedRowSpec, problems: &mut Problems) {
    let mut wrong = |span, message: &str, remedy: &str| {
        problems.push(Problem::new(span, message, remedy));
    };
    let most = match row.access.value {
        Access::Random => return,
        Access::Sequential | Access::Permutation => {
            let message = "a row has no such order";
            let remedy = "write zipf, pareto, hot-spot or random; `random = \"0%\"` is sequential";
            return wrong(place(&row.access), message, remedy);
        }
        Access::Pareto => 499,
        Access::Zipf | Access::HotSpot => 10_000,
    };
    if fixed(row.skew.value).is_some_and(|skew| skew.milli > most) {
        let remedy = "write an exponent of at most 10 for zipf, a share below 0.5 for pareto";
        wrong(place(&row.skew), "a skew that makes no sense here", remedy);
    }
    if row.access.value == Access::HotSpot && row.hot_spots.value.spots.is_empty() {
        let remedy = "write shares of requests and of space such as \"95%:5%\"";
        wrong(place(&row.access), "hot spots without a table", remedy);
    }
    let part = fixed(row.part.value).or(fixed(row.footprint.value));
    let largest = row.read_bytes.value.max(row.write_bytes.value);
    if part.is_none_or(|part| part < largest) {
        let message = "a part that has no room for a request";
        wrong(place(&row.part), message, "write the bytes over which each worker drew");
    }
}
