//! Random suites: any layout, way of sharing, stage, pace and sweep that a suite can have, small
//! enough to run in no time.

use model::rng::Rng;

/// Where a suite is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On `sim:` targets, in virtual time.
    Simulated,
    /// In a directory, by processes of this machine.
    Real,
}

/// One run: a suite, the hosts that load it, and their target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What all of it follows from.
    pub seed: u64,
    /// How many hosts.
    pub hosts: u32,
    /// A `sim:` target; empty where the target is a directory.
    pub target: String,
    sections: Vec<Section>,
}

/// A table of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    /// Empty for the top of the file.
    head: &'static str,
    lines: Vec<Line>,
    /// Whether the suite may do without it.
    is_spare: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    is_spare: bool,
}

impl Section {
    fn new(head: &'static str) -> Section {
        Section { head, lines: Vec::new(), is_spare: true }
    }

    /// A line that stays.
    fn must(mut self, text: impl Into<String>) -> Section {
        self.lines.push(Line { text: text.into(), is_spare: false });
        self.is_spare = false;
        self
    }

    /// A line that a simpler suite lacks.
    fn may(&mut self, text: impl Into<String>) {
        self.lines.push(Line { text: text.into(), is_spare: true });
    }
}

impl Case {
    /// The case of a seed.
    pub fn new(seed: u64, ground: Ground) -> Case {
        Draw { rng: Rng::new(seed), ground, hosts: 1 }.case(seed)
    }

    /// The suite as a file has it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for section in
            self.sections.iter().filter(|section| !section.lines.is_empty() || !section.is_spare)
        {
            if !section.head.is_empty() {
                text.push_str(&format!("{}\n", section.head));
            }
            section.lines.iter().for_each(|line| text.push_str(&format!("{}\n", line.text)));
        }
        text
    }

    /// Whether some line says this.
    pub fn says(&self, words: &str) -> bool {
        self.sections
            .iter()
            .flat_map(|section| &section.lines)
            .any(|line| line.text.contains(words))
    }

    /// All cases that are one step simpler: without a table, without a line, on fewer hosts.
    pub fn simpler(&self) -> Vec<Case> {
        let mut all = Vec::new();
        if self.hosts > 1 {
            let fewer = [1, 2, self.hosts - 1].into_iter().filter(|hosts| *hosts < self.hosts);
            all.extend(fewer.map(|hosts| Case { hosts, ..self.clone() }));
        }
        for (place, section) in self.sections.iter().enumerate() {
            let is_last_load = section.head == LOAD && self.loads() == 1;
            if !section.lines.is_empty()
                && (section.is_spare || section.head.starts_with("[["))
                && !is_last_load
            {
                let mut case = self.clone();
                case.sections.remove(place);
                all.push(case);
            }
            for (number, _) in section.lines.iter().enumerate().filter(|(_, line)| line.is_spare) {
                let mut case = self.clone();
                case.sections[place].lines.remove(number);
                all.push(case);
            }
        }
        all
    }

    fn loads(&self) -> usize {
        self.sections.iter().filter(|section| section.head == LOAD).count()
    }
}

const LOAD: &str = "[[workload]]";
const SCENARIO: &str = "[[scenario]]";

/// Draws a case.
struct Draw {
    rng: Rng,
    ground: Ground,
    hosts: u32,
}

impl Draw {
    fn one_in(&mut self, many: u64) -> bool {
        self.rng.below(many) == 0
    }

    fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.rng.below(most - least + 1)
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.rng.below(words.len() as u64) as usize]
    }

    fn case(mut self, seed: u64) -> Case {
        self.hosts = if self.one_in(3) { 1 } else { self.from(1, 6) as u32 };
        let target = if self.ground == Ground::Simulated { self.target() } else { String::new() };
        let is_device = self.ground == Ground::Simulated && !target.contains("cluster");
        let kind = match self.rng.below(10) {
            // A single simulated device holds one file, and no tree.
            _ if is_device => "files",
            0..5 => "files",
            5..8 => "shared-file",
            _ => "tree",
        };
        let sections = if kind == "tree" { self.trees() } else { self.blocks(kind, is_device) };
        Case { seed, hosts: self.hosts, target, sections }
    }

    /// A simulated target; some of them fail some requests.
    fn target(&mut self) -> String {
        let clusters =
            ["pixstor-nvme", "vsan-four-corners", "azure-stack-hci", "hyperflex-stretched"];
        if self.one_in(3) {
            return format!("sim:cluster={}", self.of(&clusters));
        }
        let services = [
            "constant:200us",
            "exponential:400us",
            "lognormal:300us:0.5",
            "empirical:200us*90:2ms*10",
        ];
        let (service, servers) = (self.of(&services), self.from(1, 6));
        let mut target = format!("sim:constant,service={service},servers={servers}");
        if self.one_in(3) {
            let more = [
                "iops=5000", "bandwidth=200MB/s", "cache=4MiB@50us", "stall=60ms+40ms", "fsync=1ms",
            ];
            target.push_str(&format!(",{}", self.of(&more)));
        }
        if self.one_in(6) {
            target.push_str(&format!(
                ",error={}",
                self.of(&["read:EIO:1%", "write:ENOSPC:2000ppm", "fsync:EIO:10%"])
            ));
        }
        target
    }

    fn top(&mut self) -> Section {
        let seed = self.from(1, 1_000);
        let mut top = Section::new("").must("name = \"any\"");
        top.may(format!("seed = {seed}"));
        top
    }

    /// A layout of files whose blocks are loaded.
    fn blocks(&mut self, kind: &str, is_device: bool) -> Vec<Section> {
        let size = self.of(&["512KiB", "1MiB", "3MiB", "2100000B"]);
        let mut layout =
            Section::new("[layout]").must(format!("kind = \"{kind}\"\nsize = \"{size}\""));
        if kind == "files" && !is_device && self.one_in(2) {
            layout.may(format!("files = {}", self.from(1, 4)));
            if self.one_in(3) {
                layout.may("per = \"worker\"");
            }
        }
        let mut sections = vec![self.top(), layout];
        let amount = self.one_in(3);
        sections.push(self.stages(amount));
        let verify = self.ground == Ground::Real && self.one_in(2);
        sections.push(self.contents(verify));
        sections.push(self.engine());
        sections.push(self.sweep());
        let loads = self.from(1, 3);
        let is_group = loads > 1 && self.one_in(4);
        let is_bound = is_group && !amount && self.one_in(2);
        for number in 0..loads {
            let mut load = self.load(number, kind, amount, verify, is_group, is_bound);
            if is_bound {
                load.may(format!("share = {}", self.from(1, 9)));
            }
            sections.push(load);
        }
        sections.extend(self.scenarios(kind, loads, is_device));
        sections
    }

    fn stages(&mut self, amount: bool) -> Section {
        // Real runs have to take longer than it takes to start their threads.
        let times = match self.ground {
            Ground::Simulated => ["100ms", "110ms", "200ms"],
            Ground::Real => ["100ms", "150ms", "250ms"],
        };
        let mut stages = Section::new("[stages]").must(format!(
            "measure = \"{}\"\ninterval = \"{}\"",
            self.of(&times),
            self.of(&["10ms", "30ms"])
        ));
        if self.one_in(4) {
            stages.may("prepare = false");
        }
        if self.one_in(3) {
            stages.may(format!("prepare_block = \"{}\"", self.of(&["4KiB", "64KiB", "12KiB"])));
        }
        if self.one_in(4) {
            stages.may(format!("precondition = \"{}\"", self.of(&["20ms", "50ms"])));
        }
        if amount {
            stages = stages.must(format!("amount = \"{}\"", self.of(&["all", "256KiB", "all"])));
            for line in ["stonewall = true", "count_fsync = false", "count_close = false"] {
                if self.one_in(3) {
                    stages.may(line);
                }
            }
        } else if self.one_in(6) {
            stages.may("until = \"steady\"\nmeasure_max = \"1200ms\"");
        }
        stages
    }

    fn contents(&mut self, verify: bool) -> Section {
        let mut contents = Section::new("[contents]");
        if verify {
            contents.may(format!("verify = {}", self.of(&["true", "\"after\""])));
        } else if self.one_in(4) {
            contents.may("duplicate = \"30%\"");
        }
        if self.one_in(4) {
            contents.may("compressible = \"40%\"");
        }
        contents
    }

    fn engine(&mut self) -> Section {
        let mut engine = Section::new("[engine]");
        if self.ground == Ground::Real {
            engine.may(format!(
                "backend = \"{}\"",
                self.of(&["io_uring", "sync", "io_uring", "libaio"])
            ));
            engine = engine.must("direct = false");
        }
        if self.one_in(4) {
            engine.may("raw_latencies = true");
        }
        engine
    }

    fn sweep(&mut self) -> Section {
        let mut sweep = Section::new("[sweep]");
        if self.one_in(3) {
            let axis = [
                "depth = [1, 4]",
                "workers = [1, 2]",
                "block_size = [\"4KiB\", \"16KiB\"]",
                "depth = \"1..4 x2\"",
            ];
            sweep.may(self.of(&axis));
            if self.one_in(3) {
                sweep.may(format!("order = \"{}\"", self.of(&["random", "interleaved"])));
            }
        }
        if self.one_in(5) {
            sweep.may("repetitions = 2");
        }
        sweep
    }

    /// A workload of blocks.
    fn load(
        &mut self,
        number: u64,
        kind: &str,
        amount: bool,
        verify: bool,
        is_group: bool,
        is_bound: bool,
    ) -> Section {
        let reads = self.of(&["100%", "0%", "50%", "70%"]);
        let mut load = Section::new(LOAD).must(format!("name = \"w{number}\"\nread = \"{reads}\""));
        if is_group {
            load.may("group = \"together\"");
            if verify && kind == "files" {
                load.may(format!("range = \"{}%-{}%\"", number * 30, number * 30 + 30));
            }
        }
        load.may(format!("depth = {}\nworkers = {}", self.from(1, 8), self.from(1, 3)));
        let is_in_turn = kind == "shared-file" && self.one_in(3);
        if is_in_turn {
            load = load.must("sharing = \"interleaved\"\naccess = \"sequential\"");
            load.may(format!("block_size = \"{}\"", self.of(&["4KiB", "16KiB", "64KiB"])));
        } else {
            self.places(&mut load, amount);
        }
        if !is_bound {
            self.pace(&mut load, amount);
        }
        if self.hosts > 1 && kind == "files" && self.one_in(5) {
            load.may(format!("rotate = {}", self.from(1, u64::from(self.hosts) - 1)));
        }
        if self.hosts > 1 && !is_bound && self.one_in(6) {
            load.may("spread = \"all-hosts\"");
        }
        if self.one_in(5) {
            load.may(format!("fsync_every = {}", self.from(1, 20)));
        }
        if self.one_in(10) {
            load.may("dsync = true");
        }
        load
    }

    /// What a workload's requests are and where they go.
    fn places(&mut self, load: &mut Section, amount: bool) {
        let sizes = ["4KiB", "512B", "16KiB", "64KiB", "12KiB", "4KiB:70, 16KiB:30"];
        // An amount of the smallest blocks is most of all a matter of patience.
        let size =
            if amount { self.of(&["4KiB", "16KiB", "64KiB", "12KiB"]) } else { self.of(&sizes) };
        load.may(format!("block_size = \"{size}\""));
        if !amount && self.one_in(6) {
            load.may("write_block_size = \"8KiB\"");
        }
        let access = ["sequential", "random", "permutation", "zipf", "pareto", "hot-spot"];
        let access =
            if amount { self.of(&["sequential", "permutation"]) } else { self.of(&access) };
        load.may(format!("access = \"{access}\""));
        if access == "sequential" {
            match self.rng.below(6) {
                0 => load.may("streams = 3"),
                1 => load.may("stride = \"128KiB\""),
                2 if !amount => load.may("random = \"30%\""),
                _ => {}
            }
        }
        match self.rng.below(8) {
            0 => load.may("sharing = \"whole\""),
            1 => load.may("segments = 3"),
            2 if !amount => load.may("range = \"20%-70%\""),
            3 if !amount => load.may("align = \"2KiB\""),
            _ => {}
        }
    }

    /// When a workload's requests are due.
    fn pace(&mut self, load: &mut Section, amount: bool) {
        match self.rng.below(10) {
            // Slow ones would be at an amount for minutes of virtual time.
            1..4 if amount => load.may("rate = 6000\narrivals = \"poisson\""),
            0 if amount => load.may("rate = \"40MiB/s\""),
            0 => load.may(format!("rate = {}", self.of(&["500", "2000", "\"20MiB/s\""]))),
            1 => load.may("rate = 1500\narrivals = \"poisson\""),
            2 => load.may("rate = 400\nrate_of = \"worker\""),
            3 => load.may("think = \"3ms\"\nburst = 5"),
            4 if !amount => load.may(format!(
                "rate = {}",
                self.of(&[
                    "[{to = 3000, in = \"70ms\"}, {to = 0, in = \"50ms\"}]",
                    "[{to = 900}, {on = \"5ms\", off = \"15ms\", at = \"8k\"}]",
                    "[{to = \"40MiB/s\", in = \"90ms\"}]",
                    "[{to = 4000, in = \"30ms\"}, {to = 200, in = \"31ms\"}, {repeat = true}]",
                ])
            )),
            5 if !amount => {
                load.may("rate = [{to = 2000, in = \"90ms\"}]\narrivals = \"poisson\"");
            }
            _ => {}
        }
    }

    /// Scenarios with layouts of their own.
    fn scenarios(&mut self, kind: &str, loads: u64, is_device: bool) -> Vec<Section> {
        if !self.one_in(4) {
            return Vec::new();
        }
        let count = self.from(2, 3);
        (0..count)
            .map(|number| {
                let mut scenario = Section::new(SCENARIO).must(format!("name = \"s{number}\""));
                if loads > 1 && self.one_in(2) {
                    scenario.may(format!("workloads = [\"w{}\"]", self.from(0, loads - 1)));
                }
                let size = self.of(&["768KiB", "1536KiB", "2MiB"]);
                match self.rng.below(3) {
                    0 => {
                        scenario
                            .may(format!("layout = {{ kind = \"{kind}\", size = \"{size}\" }}"));
                    }
                    1 if !is_device => {
                        scenario.may(format!(
                            "layout = {{ kind = \"files\", files = 2, size = \"{size}\" }}"
                        ));
                    }
                    _ => {}
                }
                scenario
            })
            .collect()
    }

    /// A tree of files.
    fn trees(&mut self) -> Vec<Section> {
        let mut tree = Section::new("[tree]").must(format!(
            "files = {}\nper_directory = {}",
            self.from(6, 120),
            self.from(2, 40)
        ));
        match self.rng.below(4) {
            0 => tree.may(format!("size = \"{}\"", self.of(&["512B", "4KiB", "9000B"]))),
            1 => tree.may("sizes = \"1KiB:60, 8KiB:40\""),
            _ => {}
        }
        for line in ["depth = 2\nfan_out = 3", "unique = false"] {
            if self.one_in(3) {
                tree.may(line);
            }
        }
        let layout = Section::new("[layout]").must("kind = \"tree\"");
        let mut sections = vec![self.top(), layout, tree, self.stages(false), self.engine()];
        if self.one_in(4) {
            sections.push(Section::new("[sweep]").must("repetitions = 2"));
        }
        for number in 0..self.from(1, 2) {
            let operations = [
                "[\"create\", \"stat\", \"remove\"]",
                "[\"create\", \"stat\", \"read\", \"remove\"]",
                "[\"create\", \"stat:60, open:30, readdir:10\", \"remove\"]",
                "[\"create\", \"readdir\", \"remove\"]",
            ];
            let mut load =
                Section::new(LOAD).must(format!("name = \"m{number}\"\nkind = \"metadata\""));
            if self.one_in(4) {
                let mixes = [
                    "\"create:2, append:1, read:3, stat:2, rename:1, remove:2\"",
                    "\"append:2, truncate:2, write:1, fsync:1, readdir:1\"",
                ];
                load = load.must(format!("operations = {}", self.of(&mixes)));
                load.may(self.of(&["fill = \"50%\"", "append = \"1000B\"", "rate = 200"]));
                load.may(format!("workers = {}", self.from(1, 3)));
                sections.push(load);
                continue;
            }
            load.may(format!("operations = {}", self.of(&operations)));
            load.may(format!("workers = {}", self.from(1, 3)));
            match self.rng.below(5) {
                0 if self.hosts > 1 => load.may("other = \"host\""),
                1 => load.may("other = true"),
                2 => load.may("file_order = \"random\""),
                3 => load.may("fsync = \"timed\""),
                _ => {}
            }
            sections.push(load);
        }
        sections
    }
}
