//! Jobs of other tools become suites that run, or say why not.

use crate::common::{Ended, Words, assert_says, command, names, plimsoll, scratch};
use std::fs;
use std::path::{Path, PathBuf};

const JOB: &str =
    "[global]\nrw=randrw\nbs=4k\nsize=1m\nioengine=psync\nruntime=1\n[a]\n[b]\nbs=8k\n";

#[test]
fn a_job_of_fio_becomes_a_suite_that_runs() {
    let folder = scratch();
    fs::write(folder.join("job.fio"), JOB).expect("a job");
    let ended = plimsoll(&folder, "import job.fio -o suite.toml");
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.err.contains("fio job: 6 options"), "{}", ended.err);
    let suite = fs::read_to_string(folder.join("suite.toml")).expect("a suite");
    assert_says(&suite, &["block_size = \"8KiB\"", "# job.fio:9 bs=8k"]);
    // No file is overwritten.
    assert_eq!(plimsoll(&folder, "import job.fio -o suite.toml").code, 2);
    let plan = plimsoll(&folder, "plan job.fio");
    assert_eq!(plan.code, 0, "{plan:#?}");
    let run = plimsoll(&folder, "run job.fio --scale 1/2 --out a.plimsoll");
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(names(&folder).contains(&"a.plimsoll".to_owned()));
    // What was lost on the way is in the run: its page and its results.
    let page = fs::read_to_string(folder.join("a.html")).expect("a page");
    assert!(page.contains("Imported job") && page.contains("job.fio:6"), "no report of losses");
    let shown = plimsoll(&folder, "show a.plimsoll --json").with_code(0).json();
    assert_eq!(shown["imported"]["dialect"], "fio");
    assert_eq!(shown["imported"]["options"][0]["class"], "approximated");
}

#[test]
fn what_is_refused_is_named_and_nothing_is_written_without_leave() {
    let folder = scratch();
    let text = "[a]\nrw=write\nsize=1m\nzonemode=zbd\niodeth=4\n";
    fs::write(folder.join("job.fio"), text).expect("a job");
    for line in ["import job.fio -o suite.toml", "run job.fio", "plan job.fio"] {
        let ended = plimsoll(&folder, line);
        assert_eq!(ended.code, 8, "{ended:#?}");
        assert_says(&ended.err, &["zonemode=zbd", "`iodepth`"]);
        assert_eq!(names(&folder), ["job.fio"], "{line:?}");
    }
    let json = plimsoll(&folder, "import job.fio --json");
    assert_eq!(json.code, 8, "{json:#?}");
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["dialect"], "fio");
    assert_eq!(value["options"][2]["class"], "refused");
    assert_eq!(value["options"][2]["place"], "job.fio:4");
    assert!(value["suites"][0]["text"].as_str().is_some_and(|text| text.contains("[[workload]]")));
    let allowed = plimsoll(&folder, "import job.fio --allow-loss -o suite.toml");
    assert_eq!(allowed.code, 8, "{allowed:#?}");
    assert_eq!(plimsoll(&folder, "plan suite.toml").code, 0);
}

#[test]
fn a_command_line_goes_to_standard_output() {
    let folder = scratch();
    let line = "fio --name=a --rw=randread --bs=4k --iodepth=8 --ioengine=libaio --direct=1";
    let ended = plimsoll(&folder, ["import", "--command", line]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.out.contains("depth = 8") && ended.err.contains("fio job:"), "{ended:#?}");
    let unknown = plimsoll(&folder, ["import", "--command", "dd if=/dev/zero"]);
    assert_eq!(unknown.code, 2, "{unknown:#?}");
    fs::write(folder.join("run.sh"), line).expect("a script");
    let script = plimsoll(&folder, "import run.sh");
    assert_eq!(script.code, 2, "{script:#?}");
    assert!(script.err.contains("scripts are not read; paste a line"), "{}", script.err);
    let quick = plimsoll(&folder, "run --rw read --zonemode zbd");
    assert_eq!(quick.code, 2, "{quick:#?}");
    assert!(quick.err.contains("zones") && quick.err.contains("import --command"), "{}", quick.err);
}

#[test]
fn results_of_other_tools_are_shown_with_their_doubts() {
    let folder = scratch();
    let summary = "IO500 version made-up\n[RESULT] ior-easy-write 2.0 GiB/s : time 300.0 seconds\n\
                   [RESULT] find 8.0 kIOPS : time 1.0 seconds\n\
                   [SCORE ] Bandwidth 2.0 GiB/s : IOPS 8.0 kiops : TOTAL 5.0\n";
    fs::write(folder.join("summary.txt"), summary).expect("written");
    let ended = plimsoll(&folder, "import summary.txt");
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("score: 5 is printed, 4.000000 follows"), "{}", ended.out);
    let json = plimsoll(&folder, "import summary.txt --json");
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["results"]["rows"][0]["workload"], "ior-easy-write");
    // Results and jobs go into files of different kinds.
    fs::write(folder.join("job.fio"), JOB).expect("a job");
    let both = plimsoll(&folder, "import summary.txt job.fio -o x.toml");
    assert_eq!(both.code, 2, "{both:#?}");
    assert!(both.err.contains("one after the other"), "{}", both.err);
}

/// Where distributions put fio's own examples; `FIO_EXAMPLES` names another folder.
const EXAMPLES: &str = "/usr/share/doc/fio/examples";

/// Job files of ours, and those of fio that are here.
fn job_files() -> Vec<PathBuf> {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects/fio");
    let theirs = std::env::var_os("FIO_EXAMPLES").map_or(EXAMPLES.into(), PathBuf::from);
    let in_folder = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        all.retain(|path| path.extension().is_some_and(|ending| ending == "fio"));
        all.sort();
        all
    };
    [ours, theirs].iter().flat_map(in_folder).collect()
}

/// What the examples take from the environment.
fn with_variables(folder: &Path, line: impl Words) -> Ended {
    let mut command = command(folder, line);
    for (name, value) in [
        ("FIO_RW", "randread"),
        ("FIO_BS", "4k"),
        ("FIO_IODEPTH", "1"),
        ("FIO_DIR", "/mnt/x"),
        ("DEPTH", "8"),
    ] {
        command.env(name, value);
    }
    Ended::from(command.output().expect("the program"))
}

#[test]
fn a_job_that_is_imported_whole_becomes_a_job_again_and_stays_that_one() {
    let (mut whole, mut again, mut wrong) = (0, 0, Vec::new());
    for path in job_files() {
        let folder = &scratch();
        let (name, path) =
            (path.file_name().unwrap_or_default().to_owned(), path.display().to_string());
        let name = name.to_string_lossy();
        let imported = with_variables(folder, ["import", &path, "--from", "fio", "-o", "1.toml"]);
        if imported.code != 0 {
            continue;
        }
        whole += 1;
        let first = plimsoll(folder, "suites 1.toml --as fio");
        let is_lost = match first.code {
            0 => false,
            8 => true,
            _ => panic!("{name}: {first:#?}"),
        };
        fs::write(folder.join("1.fio"), &first.out).expect("a job");
        let imported = plimsoll(folder, "import 1.fio --from fio -o 2.toml");
        match imported.code {
            0 => {}
            // What was refused before may be what is missing now.
            _ if is_lost => continue,
            _ => {
                wrong.push(format!("{name}: {}\n{}", imported.err, first.out));
                continue;
            }
        }
        let second = plimsoll(folder, "suites 2.toml --as fio");
        // The first line has the suite's name.
        let jobs = |ended: &Ended| ended.out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        match jobs(&first) == jobs(&second) {
            true => again += 1,
            // What the job does not say, no suite takes back from it.
            false if is_lost => {}
            false => wrong.push(format!("{name}:\n{}\n{}", first.out, second.out)),
        }
    }
    eprintln!("{again} of {whole} jobs that are imported whole are fixed points");
    assert!(again >= 3, "{again} of {whole}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
