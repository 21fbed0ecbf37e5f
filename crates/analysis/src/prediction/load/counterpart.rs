//! The load that a published figure is of, as its counterpart says it.

use super::made_of::on_files;
use super::{LeftOut, Load};
use crate::ceiling::Workload;
use catalogue::Auto;
use catalogue::cluster::fixed;
use catalogue::published::{CounterpartSpec, FigureSpec};
use model::{Object, Op, Route};

pub(super) fn of_counterpart(
    counterpart: &CounterpartSpec,
    figure: &FigureSpec,
    name: &str,
) -> Result<Load, LeftOut> {
    let count = |value: Auto<catalogue::Count>| fixed(value).map(|count| u64::from(count.0));
    let of_figure = count(figure.threads.value);
    if !counterpart.run_axis.value.is_empty() && of_figure.is_none() {
        return Err(LeftOut::OfACurve);
    }
    let outstanding = count(counterpart.outstanding.value).or_else(|| {
        let threads = of_figure.or(count(counterpart.threads.value))?;
        Some(threads.saturating_mul(count(counterpart.depth.value).unwrap_or(1)))
    });
    // What no figure says of workers: each has one request outstanding.
    let depth =
        count(counterpart.depth.value).unwrap_or(1).clamp(1, outstanding.unwrap_or(1).max(1));
    // A thread is on one host.
    let hosts = count(counterpart.hosts.value)
        .map(|hosts| of_figure.map_or(hosts, |threads| hosts.min(threads)));
    let (Some(block), Some(hosts), Some(outstanding)) =
        (fixed(counterpart.block_size.value), hosts, outstanding)
    else {
        return Err(LeftOut::LoadUntold);
    };
    let (hosts, remote, route) = (hosts as u32, counterpart.remote.value, Route::Testbed);
    if !counterpart.run_operation.value.is_empty() {
        let op = Op::from_name(&counterpart.run_operation.value).filter(|op| op.is_metadata());
        let (Some(op), Some(files)) = (op, fixed(counterpart.files.value)) else {
            return Err(LeftOut::LoadUntold);
        };
        let workload = on_files(name, op, block, files.0);
        let object = Object::Files(op);
        return Ok(Load { workload, hosts, outstanding, depth, remote, object, route });
    }
    let (Some(read), Some(random)) =
        (fixed(counterpart.read.value), fixed(counterpart.random.value))
    else {
        return Err(LeftOut::LoadUntold);
    };
    let footprint = fixed(counterpart.footprint.value);
    let workload = Workload {
        random: f64::from(random.ppm) / 1e6,
        ..Workload::new(name, block, read, true, footprint)
    };
    let is_shared = hosts > 1 && fixed(counterpart.one_file.value) == Some(true);
    let object = if is_shared { Object::SharedFile } else { Object::Blocks };
    Ok(Load { workload, hosts, outstanding, depth, remote, object, route })
}
