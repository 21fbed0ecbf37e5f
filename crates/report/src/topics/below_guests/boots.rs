//! From power-on to the first agent: a boot storm, drawn.

use crate::ground::chart::{frame, rect};
use crate::ground::markup::{Markup, classed};
use crate::ground::words;
use analysis::BootStorm;
use model::Nanos;
use model::machines::BootTime;

/// The drawing's own units: where bars begin, how long they are at most, and a machine's height.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 180.0;
const LONGEST: f64 = 440.0;
const ROW: f64 = 20.0;

/// A bar for each machine. Nothing where nobody looked.
pub(super) fn figure(boots: &[BootTime], most: usize) -> Markup {
    let Some(sentence) = sentence(boots) else { return Markup::new() };
    let last = boots.iter().map(|boot| boot.agent.0).max().unwrap_or(0).max(1);
    let place = |time: Nanos| LEFT + time.0 as f64 / last as f64 * LONGEST;
    let mut content = Markup::new();
    let shown = boots.len().min(most);
    for (row, boot) in (0u32..).zip(boots.iter().take(most)) {
        let top = f64::from(row) * ROW;
        let (y, end) = (top + 14.0, place(boot.agent));
        content.push(frame::text("label end", LEFT - 8.0, y, shortened(&boot.machine)));
        content.push(rect("boot", [LEFT, top + 4.0, end - LEFT, 12.0]));
        if let Some(x) = boot.first_read.map(place) {
            content.push(frame::line("instant", [x, x, top + 1.0, top + 19.0], ""));
        }
        content.push(frame::text("label", end + 6.0, y, told(boot)));
    }
    let legend = frame::remark(
        "bar: until the agent listens, on the node's clock; line: until the first read of the \
         last disk, on the guest's clock; reads as the hypervisor counts them",
    );
    let title = "From power-on to the agent";
    let size = [WIDTH, shown as f64 * ROW + 4.0];
    let picture = frame::picture("chart tree", size, title, &sentence, content);
    let mut all = frame::figure(&[], title, legend, picture);
    all.push(classed("p", "remark", sentence));
    all
}

fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    match name.char_indices().nth_back(MOST - 1) {
        Some((at, _)) if at > 0 => format!("…{}", &name[at..]),
        _ => name.to_owned(),
    }
}

fn told(boot: &BootTime) -> String {
    match boot.reads {
        Some(reads) => {
            let requests = words::counted(reads.requests, "read");
            format!("{}, {requests} of {}", boot.agent, reads.bytes)
        }
        None => boot.agent.to_string(),
    }
}

/// The storm as a whole: how many, the fastest, the median, the slowest, and what all of them read.
pub(super) fn sentence(boots: &[BootTime]) -> Option<String> {
    let storm = BootStorm::of(boots)?;
    let machines = words::counted(storm.machines, "machine");
    let BootStorm { first, median, last, .. } = storm;
    let (mut text, who) = match storm.machines {
        1 => (format!("{machines}: its agent after {last}"), "it"),
        _ => (format!("{machines}: agents after {first} to {last}, median {median}"), "they"),
    };
    if let Some(reads) = storm.reads {
        let requests = words::counted(reads.requests, "request");
        text.push_str(&format!("; until then {who} read {} in {requests}", reads.bytes));
    }
    text.push('.');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use model::machines::BootReads;

    fn boot(machine: &str, seconds: u64, reads: Option<u64>) -> BootTime {
        BootTime {
            machine: machine.into(),
            agent: Nanos::seconds(seconds),
            first_read: Some(Nanos::seconds(seconds - 1)),
            reads: reads.map(|requests| BootReads { requests, bytes: Bytes(requests * 4096) }),
        }
    }

    #[test]
    fn a_storm_is_told_by_its_fastest_its_median_and_its_slowest() {
        let mut boots =
            vec![boot("a-1", 4, Some(1)), boot("a-2", 9, Some(3)), boot("a-3", 5, Some(1))];
        let told = sentence(&boots).expect("machines");
        let expected = "3 machines: agents after 4 s to 9 s, median 5 s; until then they read 20 \
                        KiB in 5 requests.";
        assert_eq!(told, expected);
        boots[1].reads = None;
        assert!(!sentence(&boots).expect("machines").contains("read"), "a part is no whole");
        let told = sentence(&boots[..1]).expect("a machine");
        assert_eq!(told, "1 machine: its agent after 4 s; until then it read 4 KiB in 1 request.");
        assert_eq!((sentence(&[]), figure(&[], 9)), (None, Markup::new()));
        let page = figure(&boots, 2).into_string();
        assert!(page.contains("4 s, 1 read of 4 KiB") && !page.contains(">a-3<"), "{page}");
        assert!(page.matches("<rect").count() == 2 && page.contains("width=\"440\""), "{page}");
    }
}
