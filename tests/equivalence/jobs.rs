//! Jobs of fio without their device: those of its examples that run on one device for a second,
//! and others that have one option each.

/// What of a job is compared, beside operations, sizes and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// An amount ends it: both send the same requests to the same places.
    Counted,
    /// Places are drawn one by one: their distributions are compared.
    Drawn,
    /// Which blocks are hot is each tool's own choice: how often the most wanted ones come is
    /// compared, in the order of their frequency.
    Ranked,
}

/// A job of fio without its device.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub name: &'static str,
    pub lines: &'static str,
    pub places: Places,
    /// How many places are drawn for a thousand requests: the others follow the one before.
    pub drawn_permille: u32,
    /// Whether the job itself says how many requests are in flight.
    pub flight: bool,
    /// Whether the job itself says when requests are due.
    pub pace: bool,
    /// How many places may differ, because of a difference that is known and said.
    pub spare: usize,
    /// A difference that is known and said; then what differs fails no test.
    pub but: &'static str,
    /// Whether it is among those that run with the tests. None whose result hangs on time is.
    pub sample: bool,
}

const fn job(name: &'static str, lines: &'static str, places: Places) -> Job {
    let (drawn_permille, flight, pace, spare, but, sample) = (1_000, false, false, 0, "", false);
    Job { name, lines, places, drawn_permille, flight, pace, spare, but, sample }
}

const fn counted(name: &'static str, lines: &'static str) -> Job {
    job(name, lines, Places::Counted)
}

pub const fn drawn(name: &'static str, lines: &'static str) -> Job {
    job(name, lines, Places::Drawn)
}

const fn ranked(name: &'static str, lines: &'static str) -> Job {
    job(name, lines, Places::Ranked)
}

const fn deep(name: &'static str, lines: &'static str) -> Job {
    Job { flight: true, ..drawn(name, lines) }
}

const fn paced(name: &'static str, lines: &'static str) -> Job {
    Job { pace: true, ..drawn(name, lines) }
}

/// One that differs in a way that is known.
const fn differs(job: Job, spare: usize, but: &'static str) -> Job {
    Job { spare, but, ..job }
}

const fn sampled(job: Job) -> Job {
    Job { sample: true, ..job }
}

pub const JOBS: [Job; 71] = [
    // A fixed amount.
    counted("random reads", "rw=randread\nbs=4k\nsize=8m\n"),
    sampled(counted("random writes", "rw=randwrite\nbs=8k\nsize=8m\n")),
    counted("random trims", "rw=randtrim\nbs=64k\nsize=16m\n"),
    counted("sequential reads", "rw=read\nbs=64k\nsize=16m\n"),
    counted("sequential writes", "rw=write\nbs=128k\nsize=16m\n"),
    counted("sequential trims", "rw=trim\nbs=256k\nsize=32m\n"),
    counted("single sectors", "rw=randread\nbs=512\nsize=1m\n"),
    counted("blocks of 12 KiB", "rw=randread\nbs=12k\nsize=12m\n"),
    counted("blocks of 1 MiB", "rw=write\nbs=256k\nsize=64m\n"),
    counted("depth of libaio", "rw=randread\nioengine=libaio\niodepth=16\nbs=4k\nsize=8m\n"),
    sampled(counted(
        "depth of io_uring",
        "rw=randwrite\nioengine=io_uring\niodepth=8\nbs=4k\nsize=8m\n",
    )),
    counted("libaio in order", "rw=read\nioengine=libaio\niodepth=4\nbs=64k\nsize=16m\n"),
    counted("pvsync2", "rw=randwrite\nioengine=pvsync2\nbs=4k\nsize=4m\n"),
    counted("posixaio", "rw=randread\nioengine=posixaio\niodepth=4\nbs=4k\nsize=4m\n"),
    counted("part of a device", "rw=randread\nbs=4k\noffset=16m\nsize=8m\n"),
    counted("a quarter", "rw=randread\nbs=4k\noffset=25%\nsize=25%\n"),
    counted("number of requests", "rw=read\nbs=4k\nsize=16m\nnumber_ios=500\n"),
    counted("io_size", "rw=write\nbs=4k\nsize=16m\nio_size=2m\n"),
    counted("segments", "rw=write\nbs=16k\nsize=8m\noffset_increment=8m\nnumjobs=4\n"),
    counted("segments of reads", "rw=randread\nbs=4k\nsize=4m\noffset_increment=4m\nnumjobs=2\n"),
    counted("strides", "rw=read:60k\nbs=4k\nsize=32m\n"),
    counted("strides of writes", "rw=write:16k\nbs=16k\nsize=32m\n"),
    sampled(Job {
        spare: 2,
        ..counted("backward (backwards-read)", "rw=read:-8k\nbs=4k\nsize=8m\n")
    }),
    differs(
        counted("backward with gaps", "rw=write:-96k\nbs=32k\nsize=32m\n"),
        0,
        "fio goes round until it has done `size` bytes",
    ),
    sampled(counted(
        "strided zones (disk-zone-profile)",
        "rw=read\nbs=64k\nzonemode=strided\nzonesize=1m\nzoneskip=3m\nio_size=16m\nsize=64m\n",
    )),
    // The device has no zones: both act as if it had.
    sampled(counted("zones in order", "rw=write\nbs=64k\nzonemode=zbd\nzonesize=4m\nsize=32m\n")),
    sampled(counted(
        "zones at random",
        "rw=randwrite\nbs=16k\nzonemode=zbd\nzonesize=4m\nsize=32m\noffset=16m\n",
    )),
    counted("zones of the whole device", "rw=write\nbs=256k\nzonemode=zbd\nzonesize=1m\n"),
    // Zones are filled, 64 requests each: one draw says where all of them are.
    Job {
        drawn_permille: 16,
        ..drawn(
            "three open zones",
            "rw=randwrite\nbs=16k\nzonemode=zbd\nzonesize=1m\nmax_open_zones=3\n",
        )
    },
    differs(
        drawn(
            "zones that are reset early (zbd-rand-write-zone-reset-gc)",
            "rw=randwrite\nbs=16k\nzonemode=zbd\nzonesize=1m\nzone_reset_threshold=0.7\n\
             zone_reset_frequency=0.125\n",
        ),
        0,
        "fio takes the next free block towards the end of its map; without the map, it agrees",
    ),
    counted("durable writes", "rw=randwrite\nbs=4k\nsize=4m\nsync=dsync\n"),
    counted("flushes between", "rw=write\nbs=4k\nsize=4m\nfdatasync=16\n"),
    counted("loops", "rw=read\nbs=64k\nsize=8m\nloops=2\n"),
    counted(
        "written, then read",
        "rw=write\nbs=64k\nsize=8m\n[then]\nstonewall\nrw=read\nbs=64k\nsize=8m\n",
    ),
    counted(
        "one waits for the other",
        "rw=write\nbs=64k\nsize=8m\n[then]\nwait_for=job\nrw=randread\nbs=4k\nsize=4m\n",
    ),
    differs(
        counted(
            "two parts at once",
            "rw=randread\nbs=4k\nsize=8m\n[beside]\nrw=randread\nbs=4k\noffset=32m\nsize=8m\n",
        ),
        0,
        "fio takes the next free block towards the end of its map",
    ),
    // Operations, sizes and places that are drawn.
    sampled(drawn("mix", "rw=randrw\nrwmixread=70\nbs=4k\nsize=32m\nnorandommap\n")),
    drawn("mostly reads", "rw=randrw\nrwmixwrite=10\nbs=8k\nsize=32m\nnorandommap\n"),
    drawn("bssplit", "rw=randread\nbssplit=4k/60:16k/30:64k/10\nsize=32m\nnorandommap\n"),
    drawn("two bssplits", "rw=randrw\nbssplit=4k/50:8k/50,16k/90:32k/10\nsize=32m\nnorandommap\n"),
    drawn("two sizes", "rw=randrw\nbs=4k,16k\nsize=32m\nnorandommap\n"),
    drawn("range of sizes", "rw=randread\nbsrange=4k-32k\nsize=32m\nnorandommap\n"),
    drawn(
        "file server (iometer-file-access-server)",
        "rw=randrw\nrwmixread=80\nnorandommap\nsize=64m\n\
         bssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10\n",
    ),
    drawn(
        "endurance (jesd219)",
        "rw=randrw\nrwmixread=40\nnorandommap\nblockalign=4k\nsize=64m\n\
         bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3\n\
         random_distribution=zoned:50/5:30/15:20/80\n",
    ),
    sampled(drawn(
        "zones (rand-zones)",
        "rw=randread\nbs=4k\nsize=64m\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n",
    )),
    drawn("several workers", "rw=randread\nbs=4k\nsize=32m\nnorandommap\nnumjobs=3\n"),
    drawn("places on a grid", "rw=randread\nbs=4k\nblockalign=64k\nsize=32m\nnorandommap\n"),
    drawn("partly random", "rw=randread\npercentage_random=30\nbs=4k\nsize=32m\nnorandommap\n"),
    drawn("mostly random", "rw=randwrite\npercentage_random=80\nbs=8k\nsize=32m\nnorandommap\n"),
    drawn("part of a device, drawn", "rw=randread\nbs=4k\noffset=32m\nsize=16m\nnorandommap\n"),
    drawn("trims, drawn", "rw=randtrim\nbs=64k\nsize=64m\nnorandommap\n"),
    drawn(
        "eight workers (fio-rand-RW)",
        "rw=randrw\nrwmixread=60\nrwmixwrite=40\nbs=4k\nsize=16m\nnorandommap\nnumjobs=8\n",
    ),
    drawn("deep mix", "rw=randrw\nbs=4k\nioengine=libaio\niodepth=4\nsize=64m\nnorandommap\n"),
    drawn(
        "two ratios",
        "rw=randread\nbs=4k\nsize=32m\nnorandommap\nflow=3\n\
         [beside]\nrw=randwrite\nbs=8k\nsize=32m\nnorandommap\nflow=1\n",
    ),
    // Of 8,192 ranks at 1.2, Gray's formula puts up to 2.07 % of the requests elsewhere.
    differs(
        ranked("zipf", "rw=randread\nbs=4k\nsize=32m\nrandom_distribution=zipf:1.2\nnorandommap\n"),
        0,
        "fio draws by the formula of Gray et al. (1994), which is up to 2.1 % off Zipf's law here",
    ),
    ranked(
        "flat zipf",
        "rw=randread\nbs=4k\nsize=32m\nrandom_distribution=zipf:0.8\nnorandommap\n",
    ),
    ranked("pareto", "rw=randread\nbs=4k\nsize=32m\nrandom_distribution=pareto:0.3\nnorandommap\n"),
    // When requests are due.
    paced("a rate", "rw=randread\nbs=4k\nsize=32m\nnorandommap\nrate_iops=500\n"),
    paced(
        "a rate at a depth",
        "rw=randread\nbs=4k\nioengine=libaio\niodepth=32\nsize=32m\n\
         norandommap\nrate_iops=1000\n",
    ),
    paced(
        "poisson (poisson-rate-submission)",
        "rw=randread\nbs=4k\nioengine=libaio\niodepth=32\nsize=32m\nnorandommap\n\
         rate_process=poisson\nrate_iops=700\n",
    ),
    paced("a bandwidth", "rw=randwrite\nbs=8k\nsize=32m\nnorandommap\nrate=4m\n"),
    paced("two rates", "rw=randrw\nbs=4k\nsize=32m\nnorandommap\nrate_iops=400,100\n"),
    paced("rests", "rw=randread\nbs=4k\nsize=32m\nnorandommap\nthinktime=4000\n"),
    paced(
        "bursts",
        "rw=randread\nbs=4k\nsize=32m\nnorandommap\nthinktime=20000\nthinktime_blocks=4\n",
    ),
    // How many are in flight.
    deep(
        "two in flight",
        "rw=randread\nbs=256k\nioengine=libaio\niodepth=2\nsize=64m\nnorandommap\n",
    ),
    deep(
        "four in flight",
        "rw=randread\nbs=256k\nioengine=libaio\niodepth=4\nsize=64m\nnorandommap\n",
    ),
    deep(
        "eight in flight",
        "rw=randread\nbs=256k\nioengine=io_uring\niodepth=8\nsize=64m\nnorandommap\n",
    ),
    deep(
        "16 in flight",
        "rw=randwrite\nbs=128k\nioengine=libaio\niodepth=16\nsize=64m\nnorandommap\n",
    ),
    deep(
        "32 in flight",
        "rw=randread\nbs=64k\nioengine=io_uring\niodepth=32\nsize=64m\nnorandommap\n",
    ),
    deep(
        "two workers of four",
        "rw=randread\nbs=256k\nioengine=libaio\niodepth=4\nnumjobs=2\nsize=64m\nnorandommap\n",
    ),
    deep("four of one each", "rw=randread\nbs=256k\nnumjobs=4\nsize=64m\nnorandommap\n"),
];
