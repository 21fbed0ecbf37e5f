//! `plimsoll calibrate` and `plimsoll predict` as people meet them.

use crate::common::{Json, Words, names, plimsoll, scratch};
use serde_json::Value;

fn json(folder: &std::path::Path, arguments: impl Words) -> Value {
    plimsoll(folder, (arguments, "--json")).with_code(0).json()
}

#[test]
fn report_c_is_fitted_held_out_and_predicted_from_its_fitted_testbed() {
    let here = &scratch();
    let calibrate =
        ["calibrate", "vsan-four-corners", "--against", "vsan-four-corners", "-o", "fitted.toml"];
    let told = json(here, calibrate);
    let held = told["held_out"].list();
    assert_eq!((told["fitted"].as_array().map(Vec::len), held.len()), (Some(7), 8));
    for row in held {
        let figure = |key: &str| row[key].number();
        assert!(figure("low") < figure("predicted") && figure("predicted") < figure("high"));
        assert!(row["row"].is_string() && row["published"].is_f64());
        assert_eq!(row["extrapolated"], false);
    }
    let parameters = told["parameters"].list();
    let named = |name: &str| parameters.iter().find(|one| one["name"] == name).expect("listed");
    assert_eq!(named("drive_write")["identified_by"][0], "4K random write, 16 TB");
    assert_eq!(named("read_path")["identified_by"], serde_json::json!([]));

    let again = plimsoll(here, calibrate).with_code(2);
    assert!(again.err.contains("fitted.toml exists"), "{}", again.err);
    let predicted = json(here, "predict ./fitted.toml vsan-four-corners --what-if nodes+2");
    let results = predicted["results"].list();
    assert_eq!((results.len(), &predicted["fitted_rows"]), (15, &Value::from(7)));
    for result in results {
        for figure in [&result["iops"], &result["mean_latency_s"], &result["what_ifs"][0]["iops"]] {
            let (low, high) = (figure["low"].as_f64(), figure["high"].as_f64());
            assert!(low < figure["value"].as_f64() && figure["value"].as_f64() < high);
        }
        for line in [result, &result["what_ifs"][0]] {
            let is_far = line["far_off"].as_f64().map(|share| share > 0.01);
            assert_eq!(line["wide"].as_bool(), is_far, "{line:#}");
        }
    }
    let wide = |line: &Value| line["wide"] == true && line["extrapolated"] == false;
    let what_ifs = results.iter().filter(|result| wide(&result["what_ifs"][0])).count();
    assert!(what_ifs > 0, "no line is wide and no extrapolation");
    let all = results.iter().filter(|result| wide(result)).count() + what_ifs;
    let line = "predict ./fitted.toml vsan-four-corners --what-if nodes+2";
    let table = plimsoll(here, line.split(' ').collect::<Vec<_>>()).with_code(0);
    assert_eq!(table.out.matches("(wide)").count(), all, "{}", table.out);
    // The suite's points are the report's rows.
    let of = |name: &str| {
        let result = results.iter().find(|one| one["workload"] == name).expect("a point");
        result["iops"]["value"].number()
    };
    let row = held.iter().find(|row| row["row"] == "8K random 70/30, 8 TB").expect("held out");
    let report = row["predicted"].number();
    assert!((of("8k-random-70-30 (size=50GB)") / report - 1.0).abs() < 0.01);
}

#[test]
fn a_testbed_that_cannot_be_simulated_is_neither_fitted_nor_predicted() {
    let here = &scratch();
    let drives = |line: &str| {
        format!(
            "name = \"one\"\n[[nodes]]\ncount = 1\n[[nodes.drives]]\n{line}capacity = \"1TB\"\n"
        )
    };
    for (line, words) in [
        ("role = \"boot\"\n", "no node has a capacity drive"),
        ("", "too little is known to simulate it; give model, or read"),
    ] {
        std::fs::write(here.join("one.toml"), drives(line)).expect("written");
        for command in ["calibrate ./one.toml none.plimsoll", "predict ./one.toml smoke"] {
            let told = plimsoll(here, command).with_code(2);
            assert!(told.err.contains(words) && told.err.contains("\"capacity\""), "{}", told.err);
        }
    }
}

#[test]
fn a_given_rate_is_carried_with_its_latency_or_falls_behind() {
    let here = &scratch();
    let workload = |name: &str, rate: &str| {
        format!("[[workload]]\nname = \"{name}\"\nread = \"100%\"\ndepth = 8\nrate = {rate}\n")
    };
    let suite = format!(
        "name = \"rates\"\n[layout]\nfiles = 2\nsize = \"10GB\"\n{}{}{}",
        workload("little", "1000"),
        workload("bytes", "\"4096kB/s\""),
        workload("much", "100000000")
    );
    std::fs::write(here.join("rates.toml"), suite).expect("written");
    let fit = "calibrate vsan-four-corners --against vsan-four-corners -o";
    plimsoll(here, (&fit, "fitted.toml")).with_code(0);
    let predict = "predict ./fitted.toml rates.toml";
    let told = json(here, predict);
    assert_eq!((&told["results"], &told["left_out"]), (&Value::from(vec![0; 0]), &told["results"]));
    let rates = told["at_given_rates"].list();
    let [little, bytes, much] = &rates[..] else { panic!("{told:#}") };
    for (name, carried) in [("little", little), ("bytes", bytes)] {
        assert_eq!((&carried["workload"], &carried["asked_iops"]), (&name.into(), &1000.0.into()));
        assert!(carried["carried_with"].as_f64() > Some(0.99), "{carried:#}");
        let latency = &carried["mean_latency_s"];
        assert!(latency["low"].as_f64() <= latency["value"].as_f64(), "{carried:#}");
        assert!(latency["value"].as_f64() < Some(0.01), "{carried:#}");
    }
    assert!(much["carried_with"].as_f64() < Some(0.001), "{much:#}");
    assert_eq!(much["mean_latency_s"]["low"], Value::Null);
    let table = plimsoll(here, predict).with_code(0);
    assert!(table.out.contains("At a given rate") && table.out.contains("falls behind"));
}

#[test]
fn a_simulated_run_calibrates_its_testbed_and_predicts_another_depth() {
    let here = &scratch();
    // The file and the testbed in it have names of their own.
    let lab = "name = \"three-nodes\"\n[[nodes]]\ncount = 3\nports = 1\nport_speed = \
               \"25Gbit/s\"\n[[nodes.drives]]\ncount = 4\nread_iops = 20000\nwrite_iops = \
               10000\nread = \"500MB/s\"\nwrite = \"400MB/s\"\ncapacity = \
               \"1TB\"\n[protection]\ncopies = 2\n";
    std::fs::write(here.join("lab.toml"), lab).expect("written");
    let suite = |depths: &str| {
        format!(
            "name = \"short\"\n[layout]\nfiles = 2\nsize = \"10GB\"\n[stages]\nmeasure = \
             \"1s\"\ninterval = \"100ms\"\n[[workload]]\nname = \"reads\"\nread = \
             \"100%\"\nworkers = 2\n[[workload]]\nname = \"mixed\"\nread = \"70%\"\nworkers = \
             2\n[sweep]\ndepth = {depths}\n"
        )
    };
    std::fs::write(here.join("short.toml"), suite("[1, 4, 32]")).expect("written");
    std::fs::write(here.join("other.toml"), suite("[16]")).expect("written");
    let simulate = "--simulate ./lab.toml --sim-hosts 3 --scale time=1/2";
    for name in ["short", "other"] {
        let (suite, out) = (format!("{name}.toml"), format!("{name}.plimsoll"));
        let run = (["run", suite.as_str(), "--out", out.as_str()], &simulate);
        plimsoll(here, run).with_code(0);
    }
    let runs = "calibrate lab.toml short.plimsoll other.plimsoll --hold depth=16";
    let told = json(here, (&runs, "-o fitted.toml"));
    assert_eq!(told["fitted"].as_array().map(Vec::len), Some(6), "{told:#}");
    for row in told["held_out"].list() {
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 0.2), "{row:#}");
    }
    let other = "calibrate vsan-four-corners short.plimsoll";
    let refused = plimsoll(here, other).with_code(2);
    assert!(refused.err.contains("simulated ./lab.toml, not vsan-four-corners"), "{}", refused.err);
    // A run is no repetition of itself, and nothing that is read is written over.
    let twice = "calibrate lab.toml short.plimsoll short.plimsoll";
    let refused = plimsoll(here, twice).with_code(2);
    assert!(refused.err.contains("name each run once"), "{}", refused.err);
    for out in ["lab.toml", "./short.plimsoll"] {
        let over = ["calibrate", "lab.toml", "short.plimsoll", "--force", "-o", out];
        let refused = plimsoll(here, over).with_code(2);
        assert!(refused.err.contains("is what is read"), "{}", refused.err);
    }
    assert_eq!(std::fs::read_to_string(here.join("lab.toml")).expect("there"), lab);
    // Another depth is beside its prediction, under whatever name the fitted testbed is kept.
    let beside = plimsoll(here, "show other.plimsoll --predicted fitted.toml");
    let beside = beside.with_code(0);
    assert!(beside.out.contains("Measured beside predicted: three-nodes"), "{}", beside.out);
}

#[test]
fn every_rate_and_what_follows_of_report_e_has_its_error_and_its_mark() {
    let folder = scratch();
    let calibrate = "calibrate pixstor-nvme --against pixstor-nvme";
    let told = json(&folder, calibrate);
    let held = told["held_out"].list();
    assert_eq!((told["fitted"].as_array().map(Vec::len), held.len()), (Some(3), 19));
    for row in held {
        assert!(row["extrapolated"] == true || row["wide"] == true, "{row:#}");
    }
    let of = |object: &str| held.iter().filter(|row| row["load"]["object"] == object).count();
    assert_eq!((of("blocks"), of("shared-file"), of("stat"), of("create")), (7, 4, 2, 2));
    let figures = told["figures"].list();
    let knees = figures.iter().filter(|one| one["quantity"] == "threads").count();
    assert_eq!((figures.len(), knees), (10, 9));
    for left in told["left_out"].list() {
        assert!(left["row"].as_str().is_some_and(|row| row.starts_with("theory")), "{left}");
    }
    let table = plimsoll(&folder, calibrate).with_code(0).out;
    assert!(table.contains("What follows") && table.contains("knee: threads"), "{table}");
}

#[test]
fn whole_files_of_a_run_predict_other_numbers_of_threads() {
    let here = &scratch();
    let sets = ["--set", "tree.files=16384", "--set", "sweep.workers=[1, 8, 32]"];
    let simulate = "--simulate pixstor-nvme --sim-hosts 4 --out names.plimsoll";
    plimsoll(here, ("run mdtest-4k", &simulate, &sets)).with_code(0);
    let calibrate = "calibrate pixstor-nvme names.plimsoll --hold workers=8";
    let fitted = (&calibrate, "-o fitted.toml");
    let told = json(here, fitted);
    let held = told["held_out"].list();
    assert_eq!(held.len(), 4, "create, stat, read and remove: {told:#}");
    for row in held {
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 0.1), "{row:#}");
        assert_eq!(row["load"]["outstanding"], 32, "eight on each of four hosts");
    }
    let predict = ("predict ./fitted.toml mdtest-4k --hosts 4", &sets);
    let results = json(here, predict)["results"].clone();
    let results = results.list();
    assert_eq!(results.len(), 12);
    let create = results
        .iter()
        .find(|one| one["load"]["object"] == "create" && one["load"]["outstanding"] == 32)
        .expect("a point");
    let before = held.iter().find(|row| row["load"]["object"] == "create").expect("held out");
    let ratio =
        create["iops"]["value"].as_f64().zip(before["predicted"].as_f64()).map(|(a, b)| a / b);
    assert!(ratio.is_some_and(|ratio| (ratio - 1.0).abs() < 0.01), "{create:#} {before:#}");
}

#[test]
fn bad_input_is_refused_with_its_reason_before_anything_is_written() {
    let here = &scratch();
    let c = "calibrate vsan-four-corners --against vsan-four-corners";
    for (line, words) in [
        (format!("{c} --fit 1"), "a fit takes two rows at least"),
        (format!("{c} --fit nothing"), "no row is `nothing`"),
        (format!("{c} --fit 1-4 --hold 2"), "is in --fit and in --hold"),
        ("calibrate pixstor-nvme --against vsan-four-corners".to_owned(), "of another cluster"),
        ("calibrate azure-stack-hci --against azure-stack-hci".to_owned(), "has no row to fit"),
        ("calibrate vsan-four-corners".to_owned(), "<RUN>..."),
        ("calibrate vsan-four-corners nosuch.plimsoll".to_owned(), "nosuch.plimsoll"),
        ("predict vsan-four-corners nosuch".to_owned(), "nosuch"),
        ("predict nosuch vsan-four-corners".to_owned(), "no testbed is called"),
        ("predict vsan-four-corners smoke --what-if more".to_owned(), "changes nothing"),
        ("predict vsan-four-corners smoke --hosts 0".to_owned(), "1..=1024"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ended = plimsoll(here, &arguments);
        assert!(ended.err.contains(words), "{line}: {}", ended.err);
        assert_ne!(ended.code, 0, "{line}");
    }
    assert!(names(here).is_empty());
}

/// A testbed of all flash, with so many nodes and this capacity of a drive.
fn lab(nodes: u32, capacity: &str) -> String {
    format!(
        "name = \"lab\"\n[[nodes]]\ncount = {nodes}\n[[nodes.drives]]\ncount = 4\nread_iops = \
         90000\nwrite_iops = 35000\nread = \"1.5GB/s\"\nwrite = \"900MB/s\"\ncapacity = \
         \"{capacity}\"\n[protection]\ncopies = 3\n[software]\n"
    )
}

/// Reads of 4 KiB of 20 GB for each host.
const READS: &str = "name = \"reads\"\n[layout]\nsize = \"20GB\"\n[[workload]]\nname = \
                     \"reads\"\nread = \"100%\"\ndepth = 8\n";

#[test]
fn a_testbed_of_thousands_of_nodes_is_predicted_without_its_hosts_and_says_what_it_rests_on() {
    let here = &scratch();
    // An agent for each host, and a look of each at all nodes, took minutes.
    let software = "read = \"20us\"\nread_per_mib = \"300us\"\nread_path = \"240us\"\n";
    std::fs::write(here.join("many.toml"), lab(4096, "2TB") + software).expect("written");
    let all = format!("{}drive_read = \"95us\"\n", lab(5, "2TB") + software);
    std::fs::write(here.join("few.toml"), all).expect("written");
    std::fs::write(here.join("reads.toml"), READS).expect("written");
    let many = plimsoll(here, "predict many.toml reads.toml").with_code(0).out;
    assert!(many.contains("class estimates stand for drive time of a random read;"), "{many}");
    let few = plimsoll(here, "predict few.toml reads.toml").with_code(0).out;
    assert!(few.contains("every figure rests on [software]"), "{few}");
    assert!(!few.contains("class estimate"), "{few}");
    std::fs::write(here.join("more.toml"), lab(65_536, "2TB")).expect("written");
    let more = plimsoll(here, "predict more.toml reads.toml").with_code(2).err;
    assert!(more.contains("testbed more.toml") && more.contains("up to 4096"), "{more}");
}

#[test]
fn what_does_not_fit_on_a_testbed_is_said_once_in_words_of_the_testbed() {
    let here = &scratch();
    std::fs::write(here.join("small.toml"), lab(5, "1GB")).expect("written");
    std::fs::write(here.join("reads.toml"), READS).expect("written");
    let said = plimsoll(here, "predict small.toml reads.toml").with_code(2).err;
    assert!(said.starts_with("error: the suite does not fit on testbed small.toml: "), "{said}");
    assert!(said.contains("nodes.drives") && said.contains("layout.size"), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(!said.contains("sim-01") && !said.contains("--scale"), "{said}");
}

#[test]
fn a_fitted_testbed_whose_rows_contradict_its_values_is_refused_in_words_of_a_calibration() {
    let here = &scratch();
    let fit = "calibrate vsan-four-corners --against vsan-four-corners -o";
    plimsoll(here, (&fit, "fitted.toml")).with_code(0);
    let fitted = std::fs::read_to_string(here.join("fitted.toml")).expect("there");
    // Rates of another cluster, of which the values say nothing.
    let edited: Vec<String> = fitted
        .lines()
        .map(|line| match line.strip_prefix("rate = ") {
            Some(rate) => format!("rate = {}", rate.parse::<f64>().expect("a number") / 100.0),
            None => line.to_owned(),
        })
        .collect();
    std::fs::write(here.join("edited.toml"), edited.join("\n")).expect("written");
    for testbed in ["./fitted.toml", "./edited.toml"] {
        let code = if testbed.contains("edited") { 2 } else { 0 };
        let said = plimsoll(here, ["predict", testbed, "vsan-four-corners"]).with_code(code).err;
        if code == 2 {
            assert!(said.contains("no parameters bring the rows together"), "{said}");
            assert!(said.contains("calibrate it anew: `plimsoll calibrate"), "{said}");
        }
    }
}
