//! What is asked of the cluster, as far as ceilings depend on it.

use catalogue::Cluster;
use catalogue::cluster::{Misses, Requests, fixed};
use model::choices::Access;
use model::load::SizeMix;
use model::plan::Work;
use model::popularity::{Popularity, Touched};
use model::{Bytes, Op, Percent};

/// A workload as its layers see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// The mean size of a read in bytes; above 0.
    pub read_bytes: f64,
    /// The mean size of a write in bytes; above 0.
    pub write_bytes: f64,
    /// The squared coefficient of variation of the sizes of one direction, the larger one of both.
    pub sizes_vary: f64,
    /// The share of reads.
    pub read: Percent,
    /// The share of requests whose place is no continuation, 0 to 1.
    pub random: f64,
    /// All bytes that it touches; `None` where nobody says.
    pub footprint: Option<Bytes>,
    /// Which blocks its random requests go to more often; `None` where all are alike.
    pub popularity: Option<Popularity>,
}

impl Workload {
    /// One size for both directions, all random or all sequential.
    pub fn new(
        name: &str,
        block: Bytes,
        read: Percent,
        is_random: bool,
        footprint: Option<Bytes>,
    ) -> Workload {
        let bytes = block.0.max(1) as f64;
        let random = if is_random { 1.0 } else { 0.0 };
        Workload {
            name: name.to_owned(),
            read_bytes: bytes,
            write_bytes: bytes,
            sizes_vary: 0.0,
            read,
            random,
            footprint,
            popularity: None,
        }
    }

    /// The workloads that people ask for first.
    pub fn usual(footprint: Option<Bytes>) -> Vec<Workload> {
        let row = |name, kib, read, is_random| {
            Workload::new(name, Bytes::kib(kib), Percent::of(read), is_random, footprint)
        };
        vec![
            row("4k random read", 4, 100, true),
            row("4k random write", 4, 0, true),
            row("8k random 70/30", 8, 70, true),
            row("128k sequential read", 128, 100, false),
            row("128k sequential write", 128, 0, false),
        ]
    }

    /// A workload by the sizes of its reads and writes and its shares of reads and of requests
    /// whose place is no continuation; of no known footprint.
    pub fn of_mixes(
        name: &str,
        reads: &SizeMix,
        writes: &SizeMix,
        read: Percent,
        random: Percent,
    ) -> Workload {
        Workload {
            name: name.to_owned(),
            read_bytes: reads.mean_bytes().max(1.0),
            write_bytes: writes.mean_bytes().max(1.0),
            sizes_vary: vary(reads, writes, read),
            read,
            random: f64::from(random.ppm) / 1e6,
            footprint: None,
            popularity: None,
        }
    }

    /// A workload of a run whose workers touch this. An operation on files is a request of a file's
    /// mean size, a write where it makes files: what is mixed makes none.
    pub fn of_work(work: &Work, touched: Touched) -> Workload {
        if let Some(files) = &work.metadata {
            let bytes = (files.mean_size.unwrap_or(files.size).0 as f64).max(1.0);
            let makes_files = !files.is_mixed() && matches!(files.op, Op::Create | Op::WriteFile);
            return Workload {
                name: work.workload.clone(),
                read_bytes: bytes,
                write_bytes: bytes,
                sizes_vary: 0.0,
                read: if makes_files { Percent::ZERO } else { Percent::ALL },
                random: 0.0,
                footprint: Some(touched.bytes),
                popularity: None,
            };
        }
        Workload {
            name: work.workload.clone(),
            read_bytes: work.block_size.mean_bytes().max(1.0),
            write_bytes: work.write_block_size.mean_bytes().max(1.0),
            sizes_vary: vary(&work.block_size, &work.write_block_size, work.read),
            read: work.read,
            random: if work.pattern.access == Access::Sequential {
                0.0
            } else {
                f64::from(work.pattern.random.ppm) / 1e6
            },
            footprint: Some(touched.bytes),
            popularity: Popularity::of_work(work, touched),
        }
    }

    /// What a cache tier of `cluster` misses of it, which keeps these directions.
    pub(crate) fn misses(&self, cluster: &Cluster, reads: bool, writes: bool) -> Misses {
        Misses::new(&Requests {
            popularity: self.popularity.as_ref(),
            read: self.read_share(),
            random: self.random,
            line: fixed(cluster.cache.line.value),
            keeps_reads: reads,
            keeps_writes: writes,
        })
    }

    /// The share of reads, 0 to 1.
    pub fn read_share(&self) -> f64 {
        f64::from(self.read.ppm) / 1e6
    }

    /// The share of writes, 0 to 1.
    pub fn write_share(&self) -> f64 {
        1.0 - self.read_share()
    }

    /// The mean size of a request in bytes.
    pub fn bytes(&self) -> f64 {
        self.read_share() * self.read_bytes + self.write_share() * self.write_bytes
    }
}

/// How much the sizes of a direction vary that there is.
fn vary(reads: &SizeMix, writes: &SizeMix, read: Percent) -> f64 {
    let of_reads = if read > Percent::ZERO { reads.varies() } else { 0.0 };
    let of_writes = if read < Percent::ALL { writes.varies() } else { 0.0 };
    of_reads.max(of_writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_on_files_is_a_request_of_a_whole_file_in_its_direction() {
        let suite = "[layout]\nkind = \"tree\"\n[tree]\nfiles = 64\nsize = \
                     \"16KiB\"\n[[workload]]\nname = \"names\"\nkind = \"metadata\"\noperations = \
                     [\"create\", \"read\"]\n";
        let plan = crate::testing::Recorded::new(suite).record().plan;
        let works = plan
            .stages
            .iter()
            .filter(|stage| stage.kind == model::StageKind::Measure)
            .flat_map(|s| &s.works);
        let workloads: Vec<Workload> =
            works.map(|work| Workload::of_work(work, Touched::default())).collect();
        let told: Vec<(f64, f64)> =
            workloads.iter().map(|one| (one.read_share(), one.bytes())).collect();
        assert_eq!(told, [(0.0, 16_384.0), (1.0, 16_384.0)]);
    }
}
