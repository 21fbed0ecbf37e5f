//! Lies of simulated devices: each with a twin that is the same device without the lie. Times of
//! service are random, as those of devices are.

use super::runner::Load;

/// A lie.
pub struct Lie {
    /// What it does.
    pub name: &'static str,
    /// The doubt that names it.
    pub doubt: &'static str,
    /// What both devices have.
    device: &'static str,
    /// What the deceiving one has besides.
    lying: &'static str,
    /// What the honest one has besides.
    honest: &'static str,
    /// The load of both.
    load: &'static str,
    /// What the deceiving run alone is given.
    only_lying: &'static str,
    /// What the honest run alone is given.
    only_honest: &'static str,
}

const DEVICE: &str = "constant,read=exponential:310us,write=exponential:270us,fsync=120us,\
                      servers=4,capacity=8GiB";
const WRITES: &str = "--rw randwrite --bs 4k --iodepth 8 --runtime 40 --set precondition=5s";
const READS: &str = "--rw randread --bs 4k --iodepth 8 --runtime 40 --set precondition=5s";

const fn plain(name: &'static str, doubt: &'static str, load: &'static str) -> Lie {
    Lie {
        name,
        doubt,
        device: DEVICE,
        lying: "",
        honest: "",
        load,
        only_lying: "",
        only_honest: "",
    }
}

/// All of them.
pub const LIES: &[Lie] = &[
    Lie {
        lying: ",cache=4GiB@20us,cache-write=exponential:90us,cache-line=4KiB,destage=37MiB/s",
        ..plain("a cache acknowledges writes before they are durable", "flush-owed", WRITES)
    },
    Lie {
        lying: ",cache=700MiB@20us,cache-write=exponential:90us,cache-line=4KiB,destage=17MiB/s",
        load: "--rw randwrite --bs 4k --iodepth 8 --runtime 40 --set precondition=0s",
        ..plain("a fast tier is full after some seconds", "burst-spent", WRITES)
    },
    Lie { lying: ",iops=3000", ..plain("a volume has a limit of 3,000 IOPS", "throttled", READS) },
    Lie {
        lying: ",bandwidth=25MiB/s",
        load: "--rw read --bs 64k --iodepth 8 --runtime 40 --set precondition=5s",
        ..plain("a volume has a limit of 25 MiB/s", "throttled", READS)
    },
    Lie { lying: ",stall=21s+2s", ..plain("a device stands still for 2 s", "stalled", READS) },
    Lie {
        lying: ",error=read:EIO:1000ppm",
        ..plain("one in a thousand reads fails", "errors", READS)
    },
    Lie {
        lying: ",error=fsync:EIO:1000000ppm",
        load: "--rw randwrite --bs 4k --iodepth 8 --runtime 10 --set prepare=false",
        ..plain("a flush fails, and no write did", "flush-broken", WRITES)
    },
    Lie {
        only_lying: "--set rate=20000",
        only_honest: "--set rate=6000",
        ..plain("a fixed rate is more than the device carries", "rate-missed", READS)
    },
    Lie {
        only_lying: "--set contents.compressible=70%",
        ..plain("data compresses", "reducible-contents", WRITES)
    },
    Lie {
        only_lying: "--set contents.duplicate=50%",
        ..plain("data repeats", "reducible-contents", WRITES)
    },
    Lie {
        // Too short to show that it was steady all the same.
        load: "--rw randread --bs 4k --iodepth 8 --runtime 3",
        only_honest: "--set precondition=5s",
        ..plain("the first request is measured", "not-preconditioned", READS)
    },
    Lie {
        load: "--rw randread --bs 4k --iodepth 1 --set precondition=5s",
        only_lying: "--runtime 0.2",
        only_honest: "--runtime 20",
        ..plain("a tail of a few hundred requests", "few-samples", READS)
    },
    Lie {
        lying: ",cache=1GiB@9us,cache-line=4KiB",
        load: "--rw randread --bs 4k --iodepth 8 --runtime 60 --size 2G --set prepare=false",
        only_lying: "--set precondition=0s",
        only_honest: "--set precondition=60s",
        ..plain("a cache warms while it is measured", "warm-up", READS)
    },
];

impl Lie {
    /// The run that deceives.
    pub fn lying(&self, seed: u64) -> Load {
        self.run(self.lying, self.only_lying, seed)
    }

    /// Its twin.
    pub fn honest(&self, seed: u64) -> Load {
        self.run(self.honest, self.only_honest, seed)
    }

    fn run(&self, besides: &str, only: &str, seed: u64) -> Load {
        let (target, seed) = (format!("sim:{}{besides}", self.device), format!("seed={seed}"));
        let words = self.load.split(' ').chain(only.split(' ')).filter(|word| !word.is_empty());
        Load::alone(words.chain(["--set", seed.as_str(), target.as_str()]))
    }
}
