//! Hits and misses of caches before a device, where a layer of Linux counts them:
//!
//! * bcache: `/sys/block/bcache*/bcache/stats_total` (the kernel's
//!   `Documentation/admin-guide/bcache.rst`). The kernel brings these up to date every 13.6 s
//!   (`accounting_delay` in `drivers/md/bcache/stats.c`), so shorter intervals may show nothing.
//! * ZFS: `/proc/spl/kstat/zfs/arcstats` (OpenZFS, `module/zfs/arc.c`): what programs asked of data
//!   (`demand_data`), without what was read ahead, and the cache on devices (`l2`).
//! * dm-cache: `dmsetup status` (the kernel's `Documentation/admin-guide/device-mapper/cache.rst`),
//!   which needs root; it has no file.

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{number, numbers, words};
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};
use std::process::{Command, Stdio};

/// More caches than any host has.
const MOST: usize = 1_024;
/// A status of devices is pages, not books.
const LONGEST_STATUS: usize = 4 << 20;

fn table() -> Table {
    let metrics = [Metric::Hits, Metric::Misses, Metric::Promotions, Metric::Demotions];
    let columns = metrics.map(Column::plain).into_iter().chain([Column::plain(Metric::DirtyBytes)]);
    Table::new(Layer::Cache, columns.collect())
}

/// What a cache counted until now, in the order of the columns.
type Counts = [Option<u64>; 5];

/// The files of a bcache device.
struct BcacheFiles {
    name: String,
    hits: KernelFile,
    misses: KernelFile,
    dirty: KernelFile,
}

/// Every bcache device that is there when we begin.
pub struct Bcache {
    table: Table,
    devices: Vec<BcacheFiles>,
}

impl Bcache {
    pub fn new(opener: &mut Opener) -> Bcache {
        let names = opener.tree().names("sys/block");
        let names = names.into_iter().filter(|name| name.starts_with("bcache")).take(MOST);
        let devices = names
            .map(|name| {
                let mut file = |file: &str| opener.file(&format!("sys/block/{name}/bcache/{file}"));
                let hits = file("stats_total/cache_hits");
                let misses = file("stats_total/cache_misses");
                let dirty = file("dirty_data");
                BcacheFiles { name, hits, misses, dirty }
            })
            .collect();
        Bcache { table: table(), devices }
    }
}

impl Source for Bcache {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        for device in &mut self.devices {
            let mut dirty = None;
            device.dirty.lines(opener, |line| dirty = dirty.or_else(|| readable_size(line)));
            let (hits, misses) = (device.hits.number(opener), device.misses.number(opener));
            if hits.is_some() || misses.is_some() {
                let now: Counts = [hits, misses, None, None, dirty];
                self.table.put(device.name.as_bytes(), &now, sample);
            }
        }
        self.table.end(sample);
        None
    }
}

/// `1.2G` in bytes, as bcache writes sizes for people: in powers of 1024, with a digit behind the
/// point or without (`bch_hprint` in `drivers/md/bcache/util.c`).
fn readable_size(line: &[u8]) -> Option<u64> {
    const UNITS: &[u8] = b"kMGTPEZY";
    let text = line.trim_ascii();
    let (digits, scale) = match text.split_last() {
        Some((unit, digits)) if UNITS.contains(unit) => {
            (digits, UNITS.iter().position(|known| known == unit)? as u32 + 1)
        }
        _ => (text, 0),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = number(parts.next()?)?;
    let tenths = match parts.next() {
        Some(part) => number(part).filter(|tenths| *tenths < 10)?,
        None => 0,
    };
    let unit = 1024u64.checked_pow(scale)?;
    whole.checked_mul(unit)?.checked_add(unit / 10 * tenths)
}

/// The caches of ZFS in memory and on devices.
pub struct Arc {
    file: KernelFile,
    table: Table,
}

impl Arc {
    pub fn new(opener: &mut Opener) -> Arc {
        Arc { file: opener.file("proc/spl/kstat/zfs/arcstats"), table: table() }
    }
}

impl Source for Arc {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let (mut memory, mut devices): (Counts, Counts) = ([None; 5], [None; 5]);
        self.file.lines(opener, |line| {
            let mut words = words(line);
            let (Some(name), Some(_), Some(value)) = (words.next(), words.next(), words.next())
            else {
                return;
            };
            match name {
                b"demand_data_hits" => memory[0] = number(value),
                b"demand_data_misses" => memory[1] = number(value),
                b"l2_hits" => devices[0] = number(value),
                b"l2_misses" => devices[1] = number(value),
                _ => {}
            }
        });
        // Without such a device, its counters stay 0: it is remembered and not shown.
        let has_devices = devices.iter().flatten().any(|count| *count > 0);
        for (name, now, is_shown) in
            [(&b"zfs arc"[..], memory, true), (&b"zfs l2arc"[..], devices, has_devices)]
        {
            if is_shown && now[0].is_some() {
                self.table.put(name, &now, sample);
            }
        }
        self.table.end(sample);
        None
    }
}

/// Every cache of the device mapper, by its name.
pub struct DmCache {
    /// Whether there was one when we began; nobody is asked again where there was none.
    is_there: bool,
    table: Table,
}

impl DmCache {
    pub fn new(opener: &mut Opener) -> DmCache {
        let has_maps = opener.tree().is_real()
            && opener.tree().names("sys/block").iter().any(|name| name.starts_with("dm-"));
        let is_there = has_maps && status().is_some_and(|text| !dm_caches(&text).is_empty());
        DmCache { is_there, table: table() }
    }
}

impl Source for DmCache {
    fn read(&mut self, _: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        if !self.is_there {
            return None;
        }
        for (name, now) in dm_caches(&status().unwrap_or_default()) {
            self.table.put(name.as_bytes(), &now, sample);
        }
        self.table.end(sample);
        None
    }
}

/// What the device mapper says of its caches, without waiting for what is on its way; `None` where
/// it may not be asked.
fn status() -> Option<String> {
    let out = Command::new("dmsetup")
        .args(["status", "--noflush", "--target", "cache"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    (out.status.success() && out.stdout.len() <= LONGEST_STATUS)
        .then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// A line is `NAME: START LENGTH cache`, then: block size of metadata, used/all of them, block size
/// in sectors, used/all of them, read hits, read misses, write hits, write misses, demotions,
/// promotions, dirty blocks.
fn dm_caches(status: &str) -> Vec<(String, Counts)> {
    const SECTOR: u64 = 512;
    let cache = |line: &str| {
        // A name may hold a colon; what follows it is a blank and a number.
        let (name, rest) = line.rsplit_once(": ")?;
        let words: Vec<&[u8]> = words(rest.as_bytes()).collect();
        if words.get(2) != Some(&&b"cache"[..]) {
            return None;
        }
        let block = number(words.get(5)?)?.checked_mul(SECTOR)?;
        let counts = numbers::<7>(words.get(7..)?.iter().copied());
        let [
            Some(read_hits),
            Some(read_misses),
            Some(write_hits),
            Some(write_misses),
            demotions,
            promotions,
            dirty,
        ] = counts
        else {
            return None;
        };
        let now = [
            read_hits.checked_add(write_hits),
            read_misses.checked_add(write_misses),
            promotions,
            demotions,
            dirty.and_then(|blocks| blocks.checked_mul(block)),
        ];
        Some((format!("dm {name}"), now))
    };
    status.lines().filter_map(cache).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::tree::testing::tree;
    use std::fs;

    /// The form of OpenZFS 2.1's file; the figures are made up.
    fn arc(hits: u64, misses: u64) -> String {
        format!(
            "13 1 0x01 123 33456 8388608 99\nname                            type data\nhits      \
             4    999\nmisses  4    99\ndemand_data_hits                4    \
             {hits}\ndemand_data_misses              4    {misses}\nl2_hits   4    0\nl2_misses 4 \
             0\nsize   4    1024\n"
        )
    }

    #[test]
    fn what_bcache_and_zfs_count_in_an_interval_is_in_the_sample() {
        let stats = "sys/block/bcache0/bcache/stats_total";
        let (folder, tree) = tree(&[
            (&format!("{stats}/cache_hits"), "100\n"),
            (&format!("{stats}/cache_misses"), "10\n"),
            ("sys/block/bcache0/bcache/dirty_data", "0.0k\n"),
            ("proc/spl/kstat/zfs/arcstats", &arc(5, 5)),
        ]);
        let mut counters = Counters::open(&tree);
        let write = |path: &str, text: &str| {
            fs::write(folder.path().join(path), text).expect("a file");
        };
        write(&format!("{stats}/cache_hits"), "190\n");
        write(&format!("{stats}/cache_misses"), "20\n");
        write("sys/block/bcache0/bcache/dirty_data", "1.5M\n");
        write("proc/spl/kstat/zfs/arcstats", &arc(8, 6));
        let sample = counters.read();
        let get = |name: &str, metric| sample.get(Layer::Cache, name, metric);
        assert_eq!(
            (get("bcache0", Metric::Hits), get("bcache0", Metric::Misses)),
            (Some(90), Some(10))
        );
        // Half a MiB in tenths is a little less.
        assert_eq!(get("bcache0", Metric::DirtyBytes), Some((1 << 20) + (1 << 20) / 10 * 5));
        assert_eq!(
            (get("zfs arc", Metric::Hits), get("zfs arc", Metric::Misses)),
            (Some(3), Some(1))
        );
        assert!(sample.entry(Layer::Cache, "zfs l2arc").is_none());
    }

    #[test]
    fn sizes_for_people_are_read_or_absent() {
        let of = |text: &str| readable_size(text.as_bytes());
        assert_eq!((of("0.0k"), of("12"), of("3.0G\n")), (Some(0), Some(12), Some(3 << 30)));
        for wrong in ["", "k", "1.", "-1k", "1.55k", "99999999999999999999k", "9Y", "x"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_status_of_the_device_mapper_is_read_as_its_documentation_has_it() {
        // The form of the kernel's documentation; the figures are made up.
        let text = "vg-lv: 0 8192 cache 8 27/2048 128 3/1600 10 20 30 40 5 6 7 1 writeback 2 \
                    migration_threshold 2048 smq 0 rw -\nodd: name: 0 16 cache 8 1/2 128 1/1 1 2 3 \
                    4 0 0 0 0\nother: 0 100 linear\nbroken: 0 8192 cache 8\n";
        let found = dm_caches(text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].0, "dm vg-lv");
        assert_eq!(found[0].1, [Some(40), Some(60), Some(6), Some(5), Some(7 * 128 * 512)]);
        assert_eq!(found[1].0, "dm odd: name");
    }
}
