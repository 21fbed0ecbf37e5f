//! Clusters at random, with hidden parameters: what intervals of predictions are held against.
//!
//! A testbed is drawn, and its parameters from their class estimates. A short suite is measured:
//! by the model or by a simulation, with noise. It is fitted without the hidden parameters, and
//! loads of a long suite are predicted, whose rates are measured in the same way.

use super::calibration::{Judged, Refusal, calibrate};
use super::fit::Fit;
use super::load::{Load, Measured};
use super::network::Network;
use super::parameter::{Parameter, Values};
use super::posterior::normal;
use crate::ceiling::Workload;
use catalogue::cluster::FittedValue;
use catalogue::{Cluster, SpecErrors};
use model::rng::Rng;
use model::{Bytes, Object, Op, Percent, Route};

/// How far measured rows lie from the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// On every cluster by this much: the standard deviation of the logarithm.
    Of(f64),
    /// By what calibrations hold likely: scaled inverse χ² with 4 degrees of freedom and 0.1².
    Likely,
}

/// A cluster with parameters that nobody was told.
#[derive(Debug)]
pub struct Drawn {
    /// What is known of it.
    pub cluster: Cluster,
    /// The same with its hidden parameters, which a simulation is given.
    pub truth: Cluster,
    noise: f64,
    rng: Rng,
    /// Of the noise, so that loads are the same whatever it is.
    noise_rng: Rng,
}

/// What a cluster does under a load, in requests per second: the model, or a simulation.
pub type Rate<'a> = &'a dyn Fn(&Cluster, &Load) -> f64;

/// What the model says of a cluster whose parameters are known.
pub fn modelled(truth: &Cluster, load: &Load) -> f64 {
    Network::new(truth, load).carries(&Values::of(truth)).rate
}

/// What came of predicting one cluster's long suite from its short one.
#[derive(Debug)]
pub struct Outcome {
    /// The rows of the long suite.
    pub held_out: Vec<Judged>,
    /// What each of them is without noise, in requests per second: a prediction is of that.
    pub rates: Vec<f64>,
    /// What was fitted to the short one.
    pub fit: Fit,
}

/// What the seed of the noise differs by from that of the loads.
const NOISE_SEED: u64 = 0x006e_6f69_7365;
/// And that of further parameters.
const LATER_SEED: u64 = 0x006c_6174_6572;

fn of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

impl Drawn {
    /// The cluster of a seed.
    ///
    /// # Errors
    /// Never, unless a drawn testbed contradicts itself.
    pub fn new(seed: u64, noise: Noise) -> Result<Drawn, SpecErrors> {
        let mut rng = Rng::new(seed);
        let text = testbed(&mut rng);
        Drawn::of_testbed(text, rng, seed, noise)
    }

    /// The same of a cluster that serves a parallel file system to clients, from all flash.
    ///
    /// # Errors
    /// Never, unless a drawn testbed contradicts itself.
    pub fn serving_files(seed: u64, noise: Noise) -> Result<Drawn, SpecErrors> {
        let mut rng = Rng::new(seed);
        let text = file_system(&mut rng);
        Drawn::of_testbed(text, rng, seed, noise)
    }

    fn of_testbed(
        text: String,
        mut rng: Rng,
        seed: u64,
        noise: Noise,
    ) -> Result<Drawn, SpecErrors> {
        let cluster = Cluster::parse("drawn", &text, &[])?;
        // Parameters that came later are drawn apart, so that seeds keep their loads.
        let mut later_rng = Rng::new(seed ^ LATER_SEED);
        let hidden = Parameter::EACH.map(|parameter| {
            let prior = parameter.prior(&cluster);
            let is_later = parameter > Parameter::StreamShare;
            let drawn = normal(if is_later { &mut later_rng } else { &mut rng });
            let value = prior.median * (prior.deviation * drawn).exp();
            (parameter.key(), parameter.written(value))
        });
        let mut truth = text;
        truth.push_str("[software]\n");
        for (key, value) in hidden {
            truth.push_str(&match value {
                FittedValue::Time(time) => format!("{key} = \"{}ns\"\n", time.0),
                FittedValue::Share(share) => format!("{key} = \"{share}\"\n"),
            });
        }
        let truth = Cluster::parse("truth", &truth, &[])?;
        let mut noise_rng = Rng::new(seed ^ NOISE_SEED);
        let noise = match noise {
            Noise::Of(noise) => noise,
            Noise::Likely => {
                let squares: f64 = (0..4).map(|_| normal(&mut noise_rng).powi(2)).sum();
                0.1 * (4.0 / squares.max(1e-3)).sqrt()
            }
        };
        Ok(Drawn { cluster, truth, noise, rng, noise_rng })
    }

    fn measured(&mut self, number: usize, asked: Asked, rate: Rate<'_>) -> Measured {
        // As many hosts as nodes: the load is even, as a prediction takes it for granted.
        let load = asked.load(self.cluster.node_count() as u32);
        let rate = rate(&self.truth, &load) * (self.noise * normal(&mut self.noise_rng)).exp();
        Measured { number, name: load.workload.name.clone(), load, rate }
    }

    /// A short suite: both ways at one request outstanding for each host and at many, past the
    /// cache and large, and a mix. All of it is measured `repeats` times.
    pub fn short(&mut self, repeats: usize, rate: Rate<'_>) -> Vec<Measured> {
        let wanted = [
            Asked { kib: 4, is_random: true, read: 100, each: 1, footprint: 0 },
            Asked { kib: 4, is_random: true, read: 0, each: 1, footprint: 0 },
            Asked { kib: 4, is_random: true, read: 100, each: 32, footprint: 0 },
            Asked { kib: 4, is_random: true, read: 0, each: 32, footprint: 0 },
            Asked { kib: 4, is_random: true, read: 100, each: 32, footprint: 2 },
            Asked { kib: 4, is_random: true, read: 0, each: 32, footprint: 2 },
            Asked { kib: 256, is_random: false, read: 100, each: 32, footprint: 2 },
            Asked { kib: 256, is_random: false, read: 0, each: 32, footprint: 2 },
        ];
        let all = (0..repeats).flat_map(|_| wanted);
        (1..).zip(all).map(|(number, asked)| self.measured(number, asked, rate)).collect()
    }

    /// So many loads at random.
    pub fn long(&mut self, count: usize, rate: Rate<'_>) -> Vec<Measured> {
        let mut rows = Vec::new();
        for number in 1..=count {
            let rng = &mut self.rng;
            let asked = Asked {
                kib: of(rng, &[4, 8, 16, 32, 64, 128, 256, 1024]),
                is_random: rng.below(3) > 0,
                read: of(rng, &[0, 30, 50, 70, 100]),
                each: of(rng, &[1, 2, 4, 8, 16, 32, 64]),
                footprint: rng.below(3) as usize,
            };
            rows.push(self.measured(number, asked, rate));
        }
        rows
    }

    /// A load at random on whole files, or on one file that all clients share.
    pub fn on_files(&mut self, rate: Rate<'_>) -> Measured {
        const FILES: u64 = 1 << 21;
        const CLIENTS: u64 = 16;
        let rng = &mut self.rng;
        let threads = 1 << rng.below(10);
        let (hosts, outstanding) = (threads.min(CLIENTS) as u32, threads);
        let object = of(
            rng,
            &[
                Object::SharedFile,
                Object::SharedFile,
                Object::Files(Op::Create),
                Object::Files(Op::Stat),
                Object::Files(Op::Open),
                Object::Files(Op::ReadFile),
                Object::Files(Op::Remove),
            ],
        );
        let read = Percent::of(of(rng, &[0, 50, 100]));
        let mib = of(rng, &[1, 4, 8]);
        let kib = of(rng, &[4, 16, 64]);
        let workload = match object.op() {
            Some(op) => super::load::on_files("files", op, Bytes::kib(kib), FILES),
            None => Workload::new("shared", Bytes::mib(mib), read, false, Some(Bytes(4 << 40))),
        };
        let name = format!("{object} {} KiB, {threads} threads", workload.bytes() as u64 >> 10);
        let (remote, route) = (Percent::ZERO, Route::Testbed);
        let load = Load { workload, hosts, outstanding, depth: 1, remote, object, route };
        let rate = rate(&self.truth, &load) * (self.noise * normal(&mut self.noise_rng)).exp();
        Measured { number: 1, name, load, rate }
    }

    /// Fits the short suite, measured `repeats` times, and predicts `count` rows.
    ///
    /// # Errors
    /// Nothing was fitted, and why.
    pub fn outcome(
        &mut self,
        repeats: usize,
        count: usize,
        rate: Rate<'_>,
    ) -> Result<Outcome, Refusal> {
        let (short, long) = (self.short(repeats, rate), self.long(count, rate));
        let calibration = calibrate(&self.cluster, &short, &long)?;
        let rates = long.iter().map(|row| rate(&self.truth, &row.load)).collect();
        Ok(Outcome { held_out: calibration.held_out, rates, fit: calibration.fit })
    }
}

/// A load in few words.
#[derive(Clone, Copy)]
struct Asked {
    kib: u64,
    is_random: bool,
    read: u32,
    /// Requests outstanding of each host.
    each: u64,
    /// Which of three footprints.
    footprint: usize,
}

impl Asked {
    fn load(self, hosts: u32) -> Load {
        let order = if self.is_random { "random" } else { "sequential" };
        let name = format!("{}K {order} {} % read, {} each", self.kib, self.read, self.each);
        let footprint = Bytes([1, 8, 24][self.footprint.min(2)] * 1_000_000_000_000);
        Load {
            workload: Workload::new(
                &name,
                Bytes::kib(self.kib),
                Percent::of(self.read),
                self.is_random,
                Some(footprint),
            ),
            hosts,
            outstanding: u64::from(hosts) * self.each,
            depth: 1,
            remote: Percent::ZERO,
            object: Object::Blocks,
            route: Route::Testbed,
        }
    }
}

/// Nodes that serve clients, at random.
fn file_system(rng: &mut Rng) -> String {
    let nodes = format!(
        "name = \"drawn\"\n[[nodes]]\ncount = {}\ncores = {}\nports = {}\n",
        2 + rng.below(7),
        of(rng, &[8, 16, 40]),
        1 + rng.below(2),
    );
    let drives = format!(
        "port_speed = \"{}Gbit/s\"\n[[nodes.drives]]\ncount = {}\nmodel = \"p4610-3.2tb\"\n",
        of(rng, &[25, 100]),
        4 + rng.below(9),
    );
    let rest = format!(
        "[protection]\ncopies = {}\n[access]\ntoken_block = \"{}MiB\"\n[clients]\ncount = \
         16\nkeep_attributes = true\n",
        1 + rng.below(2),
        of(rng, &[1, 4, 8]),
    );
    nodes + &drives + &rest
}

/// A testbed at random: all flash, or disks behind a cache.
fn testbed(rng: &mut Rng) -> String {
    let mut text = format!(
        "name = \"drawn\"\n[[nodes]]\ncount = {}\nports = {}\nport_speed = \"{}Gbit/s\"\n",
        3 + rng.below(10),
        1 + rng.below(4),
        of(rng, &[10, 25, 100]),
    );
    let count = 4 + rng.below(16);
    let is_hybrid = rng.below(2) == 0;
    text.push_str(&if is_hybrid {
        format!(
            "[[nodes.drives]]\ncount = {count}\nmodel = \"hdd-10k-1.2tb\"\n[[nodes.drives]]\nrole \
             = \"cache\"\nmodel = \"sas-ssd-800gb-2015\"\ncount = {}\n[cache]\ndestage = \
             \"sequential\"\n",
            1 + rng.below(6)
        )
    } else {
        format!("[[nodes.drives]]\ncount = {count}\nmodel = \"kpm5xrug3t84\"\n")
    });
    text.push_str(&format!("[protection]\ncopies = {}\n", 1 + rng.below(3)));
    text
}
