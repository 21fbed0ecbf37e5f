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

use shell::Outcome;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  ci      fmt, tidy, test, clippy, doc: what has to pass before a change goes in
            [--all: also what did not change since all passed, and tests that take minutes each]
  test    the tests of the workspace, with the real parts that they need
            [--all: also those that take minutes each | -- ARGS for `cargo test`]
  tidy    the rules of the house that no compiler checks
  docs    writes the generated pages
  corpus  how many jobs of other tools in a folder are imported whole, and why the rest is not
            DIR [--from DIALECT] [--list]
  equivalence [--write: keep the table in the docs]
          all jobs that are held against fio by the kernel's tracepoints; it takes minutes
  bench   side-by-side benchmarks against the peers that are installed
            [--rounds N] [--seconds S] [--cpu N] [--only NAME | --write]
  memory  the engine's unsafe code under the address sanitizer and Miri (nightly)
  mutants small changes of the code that no test notices, a sample of them
            [--room model|suite|analysis|store] [--shard K/N]
            [--fleet [--only NAME] [--seeds N] [--write]: a list of faults, all of which die]
  screenshot [PROGRAM]
          renews the picture of `plimsoll watch`, with tmux
  soak    fleets in virtual time under a foul sky, as many seeds as one likes
            [--seeds N] [--first SEED] [--scale: what thousands of hosts cost [--write]]
  liar    targets that deceive, their truthful twins, and how many the program finds
            [--quick] [--write: keep the table in the docs] [PROGRAM]
  gate-proof [--gates N] [--write | --real PROGRAM [--only NAME]]
          how often gates err, on simulated machines or with short commands on this one
  prediction-proof [--cases N] [--clusters N] [--first SEED] [--worst] [--write]
            [--files N] [--skewed N] [--partly N] [--fewer N] [--deep N]
          how far predictions hold on simulated clusters
  vsphere the vendor's simulator of vSphere for a test, in target/vsphere; needs Go, minutes
  kubernetes
          the API server of Kubernetes for a test, in target/kubernetes; needs Go, ten minutes
  guest   [--kernel FILE] [PROGRAM]
          the memory image of virtual machines, of under 40 MB, in target/guest
  dist    [--deb] [--rpm] [--oci] [--prove] [--twice] [--target TRIPLE]
          a static binary, packages, what they are made of and checksums, in target/dist;
          --prove installs the .deb into an empty root, --twice builds again and compares;
          --target aarch64-unknown-linux-gnu crosses over, and tries it with qemu-user-static

Exit codes: 0 good, 1 something failed, 2 not a command.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", &[][..]),
    };
    match run(command, rest) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(problem)) => {
            eprintln!("xtask {command}: {problem}");
            ExitCode::FAILURE
        }
        None => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs `command`, or says by `None` that there is no such command.
fn run(command: &str, rest: &[String]) -> Option<Outcome<()>> {
    Some(match command {
        "ci" => ci::run(rest),
        "test" => test::run(rest),
        "tidy" => tidy::run(),
        "docs" => docs::run().and_then(|()| docs::write(vec![tidy::prose_ceilings()?])),
        "corpus" => corpus::run(rest),
        "equivalence" => equivalence::run(rest),
        "bench" => bench::run(rest),
        "memory" => memory::run(),
        "mutants" => mutants::run(rest),
        "screenshot" => screenshot::run(rest),
        "soak" => soak::run(rest),
        "liar" => liar::run(rest),
        "gate-proof" => gate_proof::run(rest),
        "prediction-proof" => prediction_proof::run(rest),
        "guest" => guest::run(rest),
        "kubernetes" => kubernetes::run(),
        "vsphere" => vsphere::run(),
        "dist" => dist::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        _ => return None,
    })
}
