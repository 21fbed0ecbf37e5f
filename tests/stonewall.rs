//! Amounts over several hosts: where the first worker of the cluster is done, all hosts cut their
//! books, and stop if the suite says so.

use crate::common::{Json, Words, run_suite, scratch};
use serde_json::Value;

/// A host with ten blocks, and two with so many that at their rate they would take hours.
fn unequal(target: &str, stonewall: bool, long: &str) -> Value {
    unequal_on("--hosts local:3", ["local-1", "local-[2-3]"], target, stonewall, long)
}

/// The same of these hosts, the first with ten blocks, and the others with many.
fn unequal_on(
    hosts: impl Words,
    [first, others]: [&str; 2],
    target: &str,
    stonewall: bool,
    long: &str,
) -> Value {
    let folder = scratch();
    let workload = |name: &str, hosts: &str, range: &str, rate: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\ngroup = \"g\"\nhosts = \"{hosts}\"\nworkers = \
             1\ndepth = 1\nrange = \"{range}\"\nblock_size = \"4KiB\"\naccess = \
             \"sequential\"\nread = \"0%\"\n{rate}"
        )
    };
    let short = workload("short", first, "0%-1%", "");
    let long = workload("long", others, "1%-100%", long);
    let suite = format!(
        "name = \"unequal\"\n[layout]\nfiles = 1\nsize = \"4MiB\"\n[engine]\ndirect = \
         false\n[stages]\nprepare = false\namount = \"all\"\ninterval = \"10ms\"\nstonewall = \
         {stonewall}\n{short}{long}"
    );
    run_suite(&folder, &suite, (["--target", target], hosts)).with_code(0).json()
}

fn ios(done: &Value) -> u64 {
    done["ios"].count()
}

#[test]
fn the_first_worker_of_any_host_ends_all_of_them() {
    let json = unequal("data", true, "rate = 20\n");
    let (short, long) = (json.row("short", "write"), json.row("long", "write"));
    assert_eq!(ios(short), 10, "{short:#}");
    assert!(
        ios(&long["last_done"]) < 2 * 1013,
        "the other hosts did not do their amount: {long:#}"
    );
    assert_eq!(long["ios"], long["first_done"]["ios"], "the figure is that at the wall");
    assert_eq!(json["state"], "complete");
}

#[test]
fn without_a_stonewall_the_figure_at_first_done_is_the_clusters() {
    let json = unequal("data", false, "rate = 200\n");
    let (short, long) = (json.row("short", "write"), json.row("long", "write"));
    assert_eq!((ios(short), ios(&long["last_done"])), (10, 2 * 1013), "{json:#}");
    assert!(
        ios(&long["first_done"]) < 2 * 1013,
        "what the other hosts had done when the first was: {long:#}"
    );
}

#[test]
fn the_wall_reaches_over_relays_whoever_is_the_first() {
    // The relays are local-1, with local-2 below it, and local-3, with local-4 and local-5: the
    // first one of the cluster is a relay itself, and then stands below one.
    for hosts in [["local-1", "local-[2-5]"], ["local-5", "local-[1-4]"]] {
        let json = unequal_on("--hosts local:5 --fanout 2", hosts, "data", true, "rate = 20\n");
        let (short, long) = (json.row("short", "write"), json.row("long", "write"));
        assert_eq!(ios(short), 10, "{short:#}");
        assert!(ios(&long["last_done"]) < 4 * 1013, "a host that did not hear of it: {long:#}");
        assert_eq!(long["ios"], long["first_done"]["ios"], "the figure is that at the wall");
        assert_eq!(json["state"], "complete");
    }
}
