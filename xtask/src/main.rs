//! `cargo xtask`: the chores of the workspace.
//!
//! Each command is a module; this page is the table of contents.

mod bench;
mod ci;
mod corpus;
mod dist;
mod docs;
mod equivalence;
mod gate_proof;
mod guest;
mod kept;
mod kubernetes;
mod leftovers;
mod liar;
mod memory;
mod mutants;
mod parts;
mod prediction_proof;
mod scope;
mod screenshot;
mod shell;
mod soak;
mod test;
mod tidy;
mod vsphere;

use clap::Parser;
use shell::Outcome;
use std::path::PathBuf;
use std::process::ExitCode;

/// The chores of the workspace.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "Exit codes: 0 good, 1 something failed, 2 not a command."
)]
enum Chore {
    /// fmt, tidy, test, clippy, doc: what has to pass before a change goes in.
    Ci {
        /// Also what did not change since all passed, and tests that take minutes each.
        #[arg(long)]
        all: bool,
    },
    /// The tests of the workspace, with the real parts that they need.
    Test {
        /// Also those that take minutes each.
        #[arg(long, conflicts_with = "rest")]
        all: bool,
        /// For the programs of `cargo test`.
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// The rules of the house that no compiler checks.
    Tidy,
    /// Writes the generated pages.
    Docs,
    /// How many jobs of other tools in a folder are imported whole, and why the rest is not.
    Corpus(corpus::Options),
    /// All jobs that are held against fio by the kernel's tracepoints; it takes minutes.
    Equivalence(equivalence::Options),
    /// Side-by-side benchmarks against the peers that are installed.
    Bench(bench::Options),
    /// The engine's unsafe code under the address sanitizer and Miri (nightly).
    Memory,
    /// Small changes of the code that no test notices, a sample of them.
    Mutants(mutants::Options),
    /// Renews the pictures of `plimsoll watch`, with tmux, and of the live page.
    Screenshot {
        /// Instead of one that is built.
        program: Option<PathBuf>,
    },
    /// Fleets in virtual time under a foul sky, as many seeds as one likes; or whole runs.
    Soak(soak::Options),
    /// Targets that deceive, their truthful twins, and how many the program finds.
    Liar(liar::Options),
    /// How often gates err, on simulated machines or with short commands on this one.
    GateProof(gate_proof::Options),
    /// How far predictions hold on simulated clusters.
    PredictionProof {
        /// `--write` keeps the tables; of the example: --cases N, --clusters N, --first SEED,
        /// --worst, --files N, --skewed N, --partly N, --fewer N, --deep N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// The vendor's simulator of vSphere for a test, in target/vsphere; needs Go, minutes.
    Vsphere,
    /// The API server of Kubernetes for a test, in target/kubernetes; needs Go, ten minutes.
    Kubernetes,
    /// The memory image of virtual machines, of under 40 MB, in target/guest.
    Guest(guest::Options),
    /// A static binary, packages, what they are made of and checksums, in target/dist.
    Dist(dist::Options),
}

fn main() -> ExitCode {
    match run(Chore::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> Outcome<()> {
    match chore {
        Chore::Ci { all } => ci::run(all),
        Chore::Test { all, rest } => test::run(all, &rest),
        Chore::Tidy => tidy::run(),
        Chore::Docs => docs::run().and_then(|()| docs::write(tidy::ceilings()?.to_vec())),
        Chore::Corpus(options) => corpus::run(&options),
        Chore::Equivalence(options) => equivalence::run_chore(&options),
        Chore::Bench(options) => bench::run(&options),
        Chore::Memory => memory::run(),
        Chore::Mutants(options) => mutants::run(&options),
        Chore::Screenshot { program } => screenshot::run(program),
        Chore::Soak(options) => soak::run(&options),
        Chore::Liar(options) => liar::run(&options),
        Chore::GateProof(options) => gate_proof::run(&options),
        Chore::PredictionProof { rest } => prediction_proof::run(&rest),
        Chore::Vsphere => vsphere::run(),
        Chore::Kubernetes => kubernetes::run(),
        Chore::Guest(options) => guest::run(&options),
        Chore::Dist(options) => dist::run(&options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_those_that_make_no_sense_are_refused() {
        let parsed = |line: &&str| {
            Chore::try_parse_from(["xtask"].into_iter().chain(line.split(' ').skip(1)))
        };
        for line in [
            "- test -- --ignored vms",
            "- bench --rounds 3 --seconds 2 --cpu 0 --only zram --write",
            "- mutants --room store --shard 3/50",
            "- mutants --fleet --only a --seeds 7 --write",
            "- soak --seeds 5 --first 77",
            "- soak --scale --write",
            "- soak --runs",
            "- soak --real --runs 7 --first 3",
            "- liar --quick target/release/plimsoll",
            "- liar --only overlay --kind layer",
            "- gate-proof --gates 7 --write",
            "- gate-proof --real x --only loop",
            "- prediction-proof --cases 5 --write",
            "- equivalence --random 40 --seed 7 --keep --write",
            "- equivalence --tool mdtest --random 40 --write",
            "- dist --deb --rpm --tar --prove --twice --target x",
        ] {
            assert!(parsed(&line).is_ok(), "{line}: {:?}", parsed(&line));
        }
        for line in [
            "-",
            "- nothing",
            "- test --all -- x",
            "- bench --rounds",
            "- bench --rounds many",
            "- bench --only nothing",
            "- mutants --fleet --seeds 0",
            "- mutants --fleet --shard 1/2",
            "- mutants --write",
            "- mutants --room cli",
            "- mutants --shard 3",
            "- mutants --shard 3/3",
            "- soak --real",
            "- soak --runs 0",
            "- soak --seeds 0",
            "- soak --first x",
            "- soak --write",
            "- liar --fast",
            "- liar --kind tape",
            "- liar --only overlay --write",
            "- gate-proof --gates 0",
            "- gate-proof --real x --write",
            "- gate-proof --only loop",
            "- corpus",
            "- equivalence --random 0",
            "- equivalence --seed 7",
            "- equivalence --keep",
            "- equivalence --tool ior",
            "- equivalence --tool ior --random 40 --keep",
            "- dist --snap",
            "- dist --prove",
            "- dist --target",
        ] {
            assert!(parsed(&line).is_err(), "{line}");
        }
    }
}
