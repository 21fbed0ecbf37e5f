//! What a described cluster can carry: the findings of the field reports from the command line, and
//! what bad testbeds are told.

use crate::common::{Json, assert_explained, assert_says, names, plimsoll, scratch};
use std::fs;

#[test]
fn the_findings_of_the_reports_come_out_of_the_command_line() {
    let folder = scratch();
    let say = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        plimsoll(&folder, &args).with_code(0).out
    };
    let a = say("ceiling azure-stack-hci --footprint 36GiB");
    assert!(a.contains("4k random read: CPU binds at"), "{a}");
    assert!(a.contains("128k sequential read: cache drives bind at 38.40 GB/s"), "{a}");
    assert!(a.contains("Protection: each write is 3.00 writes on drives."), "{a}");
    let c = say("ceiling vsan-four-corners --rw randread --footprint 16TB --measured 6747");
    assert!(c.contains("4 KiB random read: capacity drives bind at 36,364 IOPS"), "{c}");
    assert!(c.contains("Measured, 6,747 IOPS: 19 % of capacity drives"), "{c}");
    assert!(!c.contains("the footprint fits"), "{c}");
    let full = say("ceiling vsan-four-corners --rw randread --footprint 99999TB");
    assert!(full.contains("Assumed: the footprint fits, although the drives hold"), "{full}");
    let e = say("ceiling pixstor-nvme --rw read --bs 8m --measured 84.5GB/s --what-if nodes-2 \
                 --what-if ports+1");
    for words in [
        "node ports bind at 96.00 GB/s",
        "capacity drives would at 102.40 GB/s",
        "88 % of node ports",
        "48.00 GB/s (node ports) -50 %",
        "102.40 GB/s (capacity drives) +7 %",
    ] {
        assert!(e.contains(words), "{words}\n{e}");
    }
    let above = say("ceiling pixstor-nvme --set nodes.drives.model=p4610-1.6tb --rw write --bs \
                     8m --measured 40.9GB/s");
    assert!(above.contains("It is above the ceiling"), "{above}");
    assert!(names(&folder).is_empty());
}

#[test]
fn a_page_and_json_say_the_same() {
    let folder = scratch();
    let args = "ceiling pixstor-nvme --suite four-corners --what-if copies=3 -o c.html --json";
    let ended = plimsoll(&folder, args).with_code(0);
    let json: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let workloads = json["ceilings"].list();
    let page = fs::read_to_string(folder.join("c.html")).expect("a page");
    assert_eq!(workloads.len(), 7);
    for workload in workloads {
        assert!(page.contains(workload["workload"].text()));
        assert!(
            workload["limits"][0]["iops"].as_f64().is_some_and(|iops| iops > 0.0),
            "{workload}"
        );
        assert_eq!(workload["binding"], workload["limits"][0]["layer"]);
    }
    assert!(page.contains("class=\"line roof\"") && page.contains("◄ binds"));
    // Three copies write more than two: no write gets better.
    let writes = |all: &serde_json::Value| all[1]["limits"][0]["iops"].number();
    assert!(writes(&json["what_ifs"][0]["ceilings"]) < writes(&json["ceilings"]));
}

#[test]
fn a_run_stands_beside_the_ceiling_of_its_testbed() {
    let folder = scratch();
    let run = "run --rw randread --target sim:ssd --runtime 1 --out r.plimsoll --quiet";
    plimsoll(&folder, run).with_code(0);
    let testbed = |iops: u32| {
        let text = format!(
            "name = \"lab\"\n[[nodes]]\n[[nodes.drives]]\nread_iops = {iops}\nread = \"50GB/s\"\n"
        );
        fs::write(folder.join("lab.toml"), text).expect("a file");
        plimsoll(&folder, "report r.plimsoll --testbed lab.toml").with_code(0);
        fs::read_to_string(folder.join("r.html")).expect("a page")
    };
    let below = testbed(9_000_000);
    assert!(
        below.contains("Share of the ceiling of lab") && !below.contains("of what the testbed"),
        "{below}"
    );
    assert!(testbed(1).contains("of what the testbed&#39;s capacity drives can do"));
    // The terminal and machines are told the same.
    let shown = plimsoll(&folder, "show r.plimsoll --testbed lab.toml").with_code(0);
    assert!(
        shown.out.contains("Share of the ceiling of lab")
            && shown.out.contains("What binds: capacity drives")
    );
    let json = |arguments: &str| -> serde_json::Value {
        serde_json::from_str(&plimsoll(&folder, arguments).with_code(0).out).expect("JSON")
    };
    let told = json("show r.plimsoll --testbed lab.toml --json");
    let reached = &told["ceilings"]["reached"][0];
    assert!(reached["share"].number() > 1.0 && reached["above"] == true, "{told}");
    assert_eq!(reached["ceiling"]["binding"], "drives");
    let without = json("show r.plimsoll --json");
    assert!(
        without["ceilings"].is_null() && without["limits"] == serde_json::json!([]),
        "a simulation has no kernel"
    );
}

/// Each `fixtures/bad-testbeds/NAME.toml` has its `NAME.expected`: what a user sees.
/// `UPDATE_EXPECTED=1` writes the second half.
#[test]
fn every_bad_testbed_is_explained_as_expected() {
    assert_explained("bad-testbeds", 4, "ceiling");
}

#[test]
fn what_cannot_be_computed_says_why() {
    let folder = scratch();
    for (line, words) in [
        ("ceiling nosuch.toml", "testbed nosuch.toml"),
        ("ceiling pixstor", "no testbed is called `pixstor`"),
        ("ceiling pixstor-nvm", "did you mean `pixstor-nvme`?"),
        ("ceiling pixstor-nvme --what-if more", "changes nothing"),
        ("ceiling pixstor-nvme --what-if copes=9", "--what-if:1:1"),
        ("ceiling pixstor-nvme --footprint 0", "a load touches something"),
        (
            "ceiling pixstor-nvme --what-if copies=9",
            "9 copies cannot live on different nodes: there are 4",
        ),
        ("ceiling pixstor-nvme --set nodes.cuont=2", "did you mean `nodes.count`?"),
        ("ceiling pixstor-nvme --measured 1GB/s", "--rw"),
        ("ceiling --print nothing", "the reference ones are"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let ended = plimsoll(&folder, &args).with_code(2);
        assert!(ended.err.contains(words), "{line}: {}", ended.err);
        assert!(ended.out.is_empty(), "{line}");
    }
    for line in ["ceiling", "ceiling --devices", "ceiling --print pixstor-nvme", "ceiling --help"] {
        let args: Vec<&str> = line.split(' ').collect();
        assert!(plimsoll(&folder, &args).with_code(0).out.lines().count() > 5, "{line}");
    }
}

#[test]
fn a_testbed_is_drafted_from_the_hosts_and_overwrites_nothing() {
    let here = &scratch();
    let draft = "inventory --draft --hosts local:2 --out lab.toml";
    let told = plimsoll(here, draft).with_code(0);
    assert!(told.out.is_empty() && told.err.contains("open question"), "{}", told.err);
    let text = fs::read_to_string(here.join("lab.toml")).expect("a draft");
    assert_says(&text, &["name = \"lab\"", "local-1, local-2", "count = 2"]);
    // Of drives that nobody knows there is nothing to compute, and it says so.
    let bare = plimsoll(here, "ceiling lab.toml");
    assert!(bare.code == 0 || bare.err.contains("no layer has a figure"), "{}", bare.err);
    let filled = "--set protection.copies=2 --set nodes.ports=2 --set nodes.port_speed=25Gbit/s";
    let shown = plimsoll(here, ("ceiling lab.toml", &filled)).with_code(0).out;
    assert!(shown.contains("port"), "{shown}");

    let mine = "name = \"mine\"\n";
    fs::write(here.join("lab.toml"), mine).expect("a file");
    let refused = plimsoll(here, draft).with_code(2).err;
    assert_says(&refused, &["lab.toml", "no file is overwritten"]);
    assert_eq!(fs::read_to_string(here.join("lab.toml")).expect("a file"), mine);
    let printed = plimsoll(here, "inventory --draft").with_code(0).out;
    assert_says(&printed, &["[[nodes]]", "name = \"my-testbed\""]);
    plimsoll(here, "inventory --draft --json").with_code(2);
    plimsoll(here, "inventory --out x.toml").with_code(2);
}
