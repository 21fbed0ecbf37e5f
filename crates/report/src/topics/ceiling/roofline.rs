//! The roofline of a cluster: what each layer allows over the size of requests, for one mix and
//! order.

use crate::ground::chart::{Axis, Line, Lines, Point, Scale, ends};
use crate::ground::markup::Markup;
use crate::ground::words;
use analysis::ceiling::{Ceiling, Layer, Workload, ceiling};
use catalogue::Cluster;
use model::Bytes;

/// From 512 bytes to 16 MiB, by doublings.
const SIZES: std::ops::RangeInclusive<u32> = 9..=24;

/// The chart for requests like those of `like`, of any size.
pub fn chart(cluster: &Cluster, like: &Workload) -> Markup {
    let sizes: Vec<f64> = SIZES.map(|power| f64::from(1u32 << power)).collect();
    let ceilings: Vec<Ceiling> =
        sizes.iter().map(|bytes| ceiling(cluster, &sized(like, *bytes))).collect();
    let value = |ceiling: &Ceiling, layer| {
        ceiling.limit(layer).map(|limit| limit.iops * ceiling.workload.bytes())
    };
    let known = Layer::of_ceilings()
        .filter(|layer| ceilings.iter().any(|ceiling| ceiling.limit(*layer).is_some()));
    let mut lines: Vec<Line> = known
        .map(|layer| {
            let points = ceilings.iter().zip(&sizes).map(|(ceiling, x)| {
                let also =
                    ceiling.limit(layer).map(|limit| format!("{} IOPS", words::iops(limit.iops)));
                Point { x: *x, y: value(ceiling, layer), also: also.unwrap_or_default() }
            });
            Line::new(super::layer(layer), style(layer), points)
        })
        .collect();
    let roof = ceilings.iter().zip(&sizes).map(|(ceiling, x)| {
        let y = ceiling.binding().map(|limit| limit.iops * ceiling.workload.bytes());
        let also = ceiling.binding().map_or("", |limit| super::layer(limit.layer)).to_owned();
        Point { x: *x, y, also }
    });
    lines.push(Line::new("ceiling", "line roof", roof));
    let (least, most) = ends(&lines);
    Lines {
        title: format!("Bandwidth over request size, {}", mix(like)),
        description: description(&ceilings),
        x: Axis {
            name: "request size",
            scale: Scale::Doublings { min: sizes[0], max: sizes[sizes.len() - 1] },
            words: |bytes| Bytes(bytes.round() as u64).to_string(),
        },
        y: Axis::new(Scale::log_between(least, most), bandwidth),
        lines,
    }
    .render()
}

fn sized(like: &Workload, bytes: f64) -> Workload {
    Workload { read_bytes: bytes, write_bytes: bytes, ..like.clone() }
}

/// A bandwidth in few enough characters for an axis: `96 GB/s`, `1.5 GB/s`, `20 MB/s`.
fn bandwidth(bytes_per_s: f64) -> String {
    let (value, unit) = if bytes_per_s >= 9.995e8 {
        (bytes_per_s / 1e9, "GB/s")
    } else {
        (bytes_per_s / 1e6, "MB/s")
    };
    let text = if value >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") };
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// `random, 70% read`.
pub fn mix(workload: &Workload) -> String {
    let order = match workload.random {
        share if share >= 1.0 => "random".to_owned(),
        share if share <= 0.0 => "sequential".to_owned(),
        share => format!("{} random", words::share(share)),
    };
    format!("{order} {}", words::mix(workload.read))
}

/// Where one layer takes over from another, in a sentence.
fn description(ceilings: &[Ceiling]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for ceiling in ceilings {
        let layer = ceiling.binding().map(|limit| limit.layer);
        if let Some(now) = layer
            && layer != last
        {
            parts.push(format!(
                "{} from {}",
                super::layer(now),
                Bytes(ceiling.workload.bytes().round() as u64)
            ));
        }
        last = layer;
    }
    if parts.is_empty() {
        "nothing is known".to_owned()
    } else {
        format!("Bound by {}", parts.join(", then "))
    }
}

fn style(layer: Layer) -> &'static str {
    match layer {
        Layer::Drives => "line drives",
        Layer::Cache => "line cache",
        Layer::Ports => "line ports",
        Layer::ClientPorts => "line client-ports",
        Layer::Fabric => "line fabric",
        Layer::SiteLink => "line site-link",
        Layer::SocketLink => "line socket-link",
        Layer::Cpu => "line cpu",
        Layer::Software => "line software",
        Layer::Mover => "line mover",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::has;
    use model::Percent;

    #[test]
    fn a_roofline_has_a_line_for_each_layer_and_one_for_the_least_of_them() {
        let text = "name = \"t\"\n[[nodes]]\ncount = 2\nports = 1\nport_speed = \
                    \"10Gbit/s\"\n[[nodes.drives]]\nmodel = \"nvme-gen3\"\n[access]\nlocal_reads \
                    = 0\n";
        let cluster = Cluster::parse("t", text, &[]).expect("a good testbed");
        let like = Workload::new("w", Bytes::kib(4), Percent::ALL, true, None);
        let svg = chart(&cluster, &like).into_string();
        // Two lines of layers and the roof, and each again in the legend.
        assert_eq!(svg.matches("<polyline").count(), 3, "{svg}");
        has(&svg, &["Bound by capacity drives from 512 B, then node ports from 4 KiB"]);
        assert!(svg.contains(">2 MiB<") && svg.contains("2.5 GB/s"), "{svg}");
    }

    #[test]
    fn bandwidths_of_an_axis_are_short() {
        assert_eq!(
            [96e9, 1.5e9, 2e7, 1e12].map(bandwidth),
            ["96 GB/s", "1.5 GB/s", "20 MB/s", "1000 GB/s"]
        );
    }
}
