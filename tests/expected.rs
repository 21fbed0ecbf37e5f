//! A long run beside what a short one implies (`--predicted`), and the quick suite on a real file
//! system.

use crate::common::{Json, Words, plimsoll, scratch};
use serde_json::Value;

/// Three nodes of four drives, without a cache.
const LAB: &str = "name = \"lab\"\n[[nodes]]\ncount = 3\nports = 1\nport_speed = \
               \"25Gbit/s\"\n[[nodes.drives]]\ncount = 4\nread_iops = 20000\nwrite_iops = \
               10000\nread = \"500MB/s\"\nwrite = \"400MB/s\"\ncapacity = \
               \"1TB\"\n[protection]\ncopies = 2\n";

fn json(folder: &std::path::Path, arguments: impl Words) -> Value {
    plimsoll(folder, (arguments, "--json")).with_code(0).json()
}

/// The rows and their measured rates stand in `fixtures/predictions`.
#[test]
fn a_real_file_system_is_calibrated_by_the_quick_suite_and_predicted_with_honest_intervals() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = fixtures.join("../../fixtures/predictions");
    let path = |name: &str| fixtures.join(name).display().to_string();
    let (testbed, rows) = (path("gluster-three.toml"), path("gluster-three-rows.toml"));
    let folder = scratch();
    let told = json(&folder, ["calibrate", &testbed, "--against", &rows]);
    let held = told["held_out"].list();
    assert_eq!((told["fitted"].as_array().map(Vec::len), held.len()), (Some(7), 17));
    let figure = |row: &Value, key: &str| row[key].number();
    let is_covered = |row: &&Value| {
        figure(row, "low") <= figure(row, "published")
            && figure(row, "published") <= figure(row, "high")
    };
    // Of 17 rows, 90 % intervals miss four or more with less than one chance in ten.
    assert!(held.iter().filter(is_covered).count() >= 14, "{told:#}");
}

#[test]
fn a_long_run_stands_beside_what_a_short_one_implies_and_what_departs_is_a_finding() {
    let here = &scratch();
    std::fs::write(here.join("lab.toml"), LAB).expect("written");
    let simulate = "--simulate ./lab.toml --sim-hosts 3 --quiet";
    let run = |suite: &str, out: &str, more: &str| {
        let head = ["run", suite, "--out", out, "--scale", "time=1/100,size=1/4"];
        plimsoll(here, (&head, &simulate, more)).with_code(0);
    };
    run("calibration", "short", "");
    plimsoll(here, "calibrate lab.toml short -o fitted.toml").with_code(0);
    let predicted = "--predicted ./fitted.toml";
    let told = json(here, ("show short", &predicted));
    let rows = told["predicted"]["rows"].list();
    assert_eq!(rows.len(), 8, "{told:#}");
    assert!(rows.iter().all(|row| row["fitted"] == true), "{rows:#?}");

    // The same cluster with a tenth of its drives' rate is another one.
    let slower = LAB.replace("read_iops = 20000", "read_iops = 2000");
    std::fs::write(here.join("lab.toml"), slower).expect("written");
    run("calibration", "long", "--set workload.4k-random-read.depth=16");
    let told = json(here, ("show long", &predicted));
    let row = told["predicted"]["rows"].list().iter();
    let row = row.clone().find(|row| row["row"] == "4k-random-read").expect("a row");
    assert_eq!((&row["fitted"], &row["outside"]), (&Value::from(false), &Value::from("below")));
    let text = plimsoll(here, ("show long", &predicted)).with_code(0).out;
    assert!(text.contains("% below what this cluster's other rows imply"), "{text}");
    plimsoll(here, ("report long -o long.html", &predicted)).with_code(0);
    let page = std::fs::read_to_string(here.join("long.html")).expect("a page");
    assert!(page.contains("Measured beside predicted"), "on the page too");

    let unfitted = plimsoll(here, "show long --predicted ./lab.toml").with_code(2);
    assert!(unfitted.err.contains("is not fitted"), "{}", unfitted.err);
    let other = "show long --predicted vsan-four-corners";
    assert!(plimsoll(here, other).with_code(2).err.contains("is not fitted"));
}
