//! Files of strangers: no command of theirs is run, nothing of this machine goes into what is made
//! of them, and no pipe in their place is waited for.

use crate::common::{
    Ended, Words, command, end, ended, names, plimsoll, scratch, script, signal, start, text,
    wait_until,
};
use std::fs;
use std::path::Path;
use std::process::Command;

const JOB: &str = "[global]\ndirect=1\nrw=randread\nbs=4k\nsize=1m\nruntime=1\ntime_based\n";

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn a_command_of_a_job_is_named_and_not_run_unless_it_is_allowed() {
    let here = &scratch();
    fs::write(here.join("x.fio"), format!("{JOB}exec_prerun=touch PWNED\n[a]\n")).expect("a job");
    let io500 = "[global]\ndatadir = ./t\ndrop-caches = TRUE\ndrop-caches-cmd = touch PWNED\n\
                 [ior-easy]\nrun = TRUE\n[mdtest-easy]\nrun = FALSE\n[ior-hard]\nrun = \
                 FALSE\n[mdtest-hard]\nrun = FALSE\n[find]\nrun = FALSE\n";
    fs::write(here.join("io500.ini"), io500).expect("a configuration");
    let script =
        "#!/bin/sh\nfio --name=a --rw=read --bs=4k --size=1m --exec_prerun='touch PWNED'\n";
    fs::write(here.join("x.sh"), script).expect("a script");
    let before = names(here);
    for job in ["x.fio", "io500.ini", "x.sh"] {
        let lines: [&[&str]; 4] = [
            &["run", job, "-t", "data"],
            &["run", job, "-t", "data", "--allow-loss"],
            &["plan", job, "-t", "data", "--allow-loss"],
            &["import", job, "--allow-loss", "-o", "suite.toml"],
        ];
        for line in lines {
            let ended = plimsoll(here, line);
            // Of a script, nothing is read.
            let (code, words) = if job == "x.sh" { (2, "not read") } else { (8, "touch PWNED") };
            assert_eq!(ended.code, code, "{line:?}: {ended:#?}");
            assert!(ended.err.contains(words), "{line:?}: {}", ended.err);
            assert_eq!(names(here), before, "{line:?}");
        }
    }
    let ended = plimsoll(here, "plan x.fio -t data --allow-commands");
    assert!(ended.code == 0 && ended.err.contains("x.fio:8 exec_prerun"), "{ended:#?}");
    assert_eq!(names(here), before, "a plan runs nothing");
    // Whoever writes the command on the command line has read it.
    let named = ["--set", "stages.prerun=touch PWNED"];
    let other = ["--set", "stages.prerun=touch OTHER", "--out", "o.plimsoll"];
    let run = "run x.fio -t data --quiet --set backend=sync";
    plimsoll(here, (&run, &other)).with_code(0);
    assert!(names(here).contains(&"OTHER".to_owned()) && !here.join("PWNED").exists());
    plimsoll(here, (&run, &named)).with_code(0);
    assert!(here.join("PWNED").exists());
}

#[test]
fn an_include_leads_out_of_no_folder_and_only_its_options_are_named() {
    let here = &scratch();
    fs::create_dir(here.join("jobs")).expect("a folder");
    fs::write(here.join("secret"), "root:hunter2:0\npassword=hunter2\n").expect("a file");
    std::os::unix::fs::symlink(here.join("secret"), here.join("jobs/link")).expect("a link");
    fs::write(here.join("jobs/beside.inc"), "bs=8k\npassword=hunter2\nnumjobs=hunter2\n")
        .expect("a file");
    let secret = text(&here.join("secret")).to_owned();
    for included in [secret.as_str(), "../secret", "link", "beside.inc"] {
        for (name, text) in [
            ("x.fio", format!("[a]\nrw=read\nsize=1m\ninclude {included}\n")),
            ("x.vdb", format!("sd=a,lun=/x\nwd=w,sd=a\ninclude={included}\nrd=r,wd=w,elapsed=1\n")),
        ] {
            let path = here.join("jobs").join(name);
            fs::write(&path, text).expect("a job");
            let job = text_of(&path);
            for line in [&["import", &job, "--json"][..], &["plan", &job], &["run", &job]] {
                let ended = plimsoll(here, line);
                assert_ne!(ended.code, 0, "{included} {line:?}");
                let all = format!("{}{}", ended.out, ended.err);
                assert!(!all.contains("hunter2"), "{included} {line:?}: {all}");
            }
        }
    }
}

fn text_of(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_variable_is_listed_and_no_text_of_the_environment_goes_into_a_suite() {
    let here = &scratch();
    let job = "[global]\nrw=randread\nsize=1m\nbs=${BS}\n[${SECRET}]\nfilename=/tmp/${SECRET}\n";
    fs::write(here.join("x.fio"), job).expect("a job");
    let with = |line: &str| -> Ended {
        let mut command = command(here, line);
        command.env("SECRET", "hunter2").env("BS", "8k");
        Ended::from(command.output().expect("the program"))
    };
    let ended = with("import x.fio --allow-loss -o s.toml");
    assert_eq!(ended.code, 8, "{ended:#?}");
    assert!(ended.err.contains("BS, SECRET: looked for"), "{}", ended.err);
    let suite = fs::read_to_string(here.join("s.toml")).expect("a suite");
    assert!(suite.contains("8KiB"), "{suite}");
    let json = with("import x.fio --json");
    for said in [ended.err, suite, json.out, json.err] {
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_variable_may_hold_the_path_of_what_is_there_and_no_other() {
    let here = &scratch();
    let job = "[a]\nrw=randread\nsize=1m\nruntime=1\ntime_based\ndirectory=${DIR}\n";
    fs::write(here.join("x.fio"), job).expect("a job");
    let with = |value: &str| -> Ended {
        let mut command = command(here, "import x.fio");
        Ended::from(command.env("DIR", value).output().expect("the program"))
    };
    let there = with(&text_of(here));
    assert_eq!(there.code, 0, "{there:#?}");
    let other = with("/hunter2");
    assert_eq!(other.code, 8, "{other:#?}");
    assert!(!format!("{}{}", other.out, other.err).contains("hunter2"), "{other:#?}");
}

#[test]
fn a_plan_and_a_run_say_whose_data_they_write_over() {
    let here = &scratch();
    let run = "run --rw randwrite --size 4M --runtime 1 --quiet -t data";
    plimsoll(here, (&run, "--keep-data --out a.plimsoll")).with_code(0);
    let planned = plimsoll(here, "plan --rw randread --size 4M data").with_code(0);
    let again = plimsoll(here, (&run, "--out b.plimsoll")).with_code(0);
    for ended in [&planned, &again] {
        assert!(ended.err.contains("data has 4 MiB of "), "{ended:#?}");
    }
    let gone = plimsoll(here, (&run, "--out c.plimsoll")).with_code(0);
    assert!(!gone.err.contains("data has "), "{gone:#?}");
}

#[test]
fn no_pipe_is_waited_for_where_a_file_is_meant() {
    let here = &scratch();
    pipe(&here.join("pipe"));
    let run = "run -t sim:ssd --set measure=1s --quiet";
    plimsoll(here, (&run, "--out a.plimsoll")).with_code(0);
    fs::create_dir(here.join("canary")).expect("a folder");
    pipe(&here.join("canary/canary.ledger"));
    let lines = [
        "run -t sim:ssd --events pipe",
        "plan --hosts @pipe",
        "report a.plimsoll -o pipe --force",
        "import pipe",
        "plan ./pipe",
        "show pipe",
        "export a.plimsoll -o pipe --force",
        "predict pipe",
    ];
    let state = here.join("state");
    fs::create_dir_all(state.join("plimsoll/vms/t")).expect("a folder");
    pipe(&state.join("plimsoll/vms/t/machines.json"));
    let down = ended(command(here, "vms down t").env("XDG_STATE_HOME", &state));
    assert!(down.code != 0 && down.err.contains("machines.json"), "{down:#?}");
    let canary = ("canary --dir canary -t sim:ssd --objective", ["p99 < 1s"]).words();
    for line in lines.map(Words::words).into_iter().chain([canary]) {
        let ended = plimsoll(here, &line);
        assert!(ended.code != 0 && ended.err.contains("error"), "{line:?}: {ended:#?}");
    }
    assert_eq!(names(&here.join("canary")), ["canary.ledger"], "nothing was made beside it");
}

#[test]
fn a_plan_starts_no_launcher_that_only_a_suite_names() {
    let here = &scratch();
    let launcher = here.join("l.sh");
    script(here, "l.sh", &format!("#!/bin/sh\ntouch {}/PWNED\n", here.display()));
    let suite = format!(
        "name = \"s\"\n[vms]\nnodes = \"n1\"\nlauncher = \"{} {{host}}\"\n[[workload]]\nname = \
         \"w\"\n",
        launcher.display()
    );
    fs::write(here.join("s.toml"), suite).expect("a suite");
    let plan = "plan s.toml --provider qemu";
    let ended = plimsoll(here, plan).with_code(2);
    assert!(ended.err.contains("--set vms.nodes="), "{}", ended.err);
    let with_nodes = (&plan, "--set vms.nodes=n1");
    assert!(plimsoll(here, with_nodes).with_code(2).err.contains("--set vms.launcher="));
    assert!(!here.join("PWNED").exists());
    let set = format!("vms.launcher={} {{host}}", launcher.display());
    plimsoll(here, (&with_nodes, ["--set", &set]));
    assert!(here.join("PWNED").exists(), "what the command line names is asked");
}

#[test]
fn a_killed_gate_leaves_no_command() {
    let folder = scratch();
    let line = "echo $$ >> pids; sleep 300";
    let mut gate = start(&folder, ["gate", "--base", line, "--head", line, "--detect", "3%"]);
    let pids = || fs::read_to_string(folder.join("pids")).unwrap_or_default();
    wait_until("the command runs", || pids().ends_with('\n'));
    signal(&gate, "KILL");
    gate.wait().expect("it is gone");
    wait_until("the command is gone", || {
        pids().lines().all(|pid| !Path::new("/proc").join(pid).join("exe").exists())
    });
}

#[test]
fn a_target_that_is_no_text_is_refused_in_words() {
    use std::os::unix::ffi::OsStrExt;
    let folder = scratch();
    let mut plan = command(&folder, "plan smoke -t");
    plan.arg(std::ffi::OsStr::from_bytes(b"u/\xff"));
    let ended = Ended::from(plan.output().expect("the program")).with_code(2);
    assert!(ended.err.contains("no UTF-8 text") && ended.err.contains("ln -s"), "{}", ended.err);
}

/// Ends by the first signal even where it may wait for somebody.
#[test]
fn the_first_signal_ends_a_run_whose_reader_of_events_takes_nothing() {
    let here = &scratch();
    pipe(&here.join("pipe"));
    // A reader that is there and takes nothing.
    let mut reader = Command::new("sh")
        .args(["-c", "exec 3<pipe; echo > is-open; exec sleep 300"])
        .current_dir(here)
        .spawn()
        .expect("sh");
    let run =
        ["run", "smoke", "-t", "data", "--events", "pipe", "--quiet", "--set", "measure=10min"];
    let child = start(here, run);
    wait_until("somebody reads", || here.join("is-open").exists());
    wait_until("it runs", || here.join("data").exists());
    signal(&child, "TERM");
    let ended = end(child);
    let _ = reader.kill();
    let _ = reader.wait();
    assert_eq!(ended.code, 130, "{ended:#?}");
}
