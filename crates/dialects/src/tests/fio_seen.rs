//! Jobs that ran beside fio 3.33: what it was seen to send is what their suites say, or what their
//! reports say is otherwise.

use super::common::planned;
use crate::Class::{self, Approximated as Near, Harmless, Same};
use crate::{Dialect, World, import};

/// A job, lines of its suite (behind `!`: lines that it has not), and an option with its class and
/// words of its reason.
type Seen<'a> = (String, &'a [&'a str], (&'a str, Class, &'a str));

#[track_caller]
fn holds(all: &[Seen<'_>]) {
    for (job, lines, (name, class, words)) in all {
        let import = import("a.fio", job, Some(Dialect::Fio), &World::NOTHING).expect(job);
        let suite = &import.suites[0].text;
        let plain = |line: &str| line.split(" #").next().unwrap_or(line).trim_end().to_owned();
        let all: Vec<String> = suite.lines().map(plain).collect();
        for line in *lines {
            let is_met = match line.strip_prefix('!') {
                Some(line) => !all.iter().any(|one| one.starts_with(line)),
                None => all.iter().any(|one| one == line),
            };
            assert!(is_met, "{job}\n{line}\n{suite}");
        }
        let mut told = import.options.iter().filter(|told| told.name == *name);
        let is_it = |told: &crate::ReportedOption| told.class == *class && told.why.contains(words);
        assert!(told.any(is_it), "{job}\n{:#?}", import.options);
        if import.refused().next().is_none() {
            planned(suite).unwrap_or_else(|why| panic!("{job}: {why}\n{suite}"));
        }
    }
}

#[test]
fn jobs_on_devices_of_their_own_load_no_other_one() {
    let two = "[a]\nfilename=/dev/x\n[b]\nfilename=/dev/y\n";
    let job = |head: &str, jobs: &str| -> String { format!("[global]\ndirect=1\n{head}\n{jobs}") };
    let of = ("filename", Same, "target");
    holds(&[
        (
            job("rw=read\nruntime=1\ntime_based\nbs=128k\nnumjobs=2", two),
            &["targets = \"1\"", "targets = \"2\"", "workers = 2", "!workers = 4"],
            of,
        ),
        (
            job("rw=randread\nruntime=1\ntime_based\nrate_iops=100\nnumjobs=3", two),
            &["targets = \"1\"", "targets = \"2\"", "workers = 3", "rate = 100"],
            of,
        ),
        (
            job("rw=write\nsize=8m\nnumjobs=2", two),
            &["targets = \"1\"", "targets = \"2\"", "size = \"8MiB\"", "!range"],
            of,
        ),
        (
            job("rw=read\nsize=50%", two),
            &["targets = \"1\"", "targets = \"2\"", "workers = 1", "range = \"0%-50%\""],
            of,
        ),
        (
            job(
                "rw=read\nruntime=1\ntime_based",
                "[a]\nfilename=/dev/x:/dev/y\n[b]\nfilename=/dev/z\nnumjobs=2\n",
            ),
            &["targets = \"1-2\"", "targets = \"3\"", "workers = 1", "workers = 2", "streams = 2"],
            of,
        ),
        (
            job(
                "rw=read\nruntime=1\ntime_based",
                "[a]\nfilename=/dev/x:/dev/y\n[b]\nfilename=/dev/x:/dev/y\n",
            ),
            &["!targets =", "workers = 2", "sharing = \"whole\""],
            of,
        ),
    ]);
}

#[test]
fn what_is_sent_in_a_ramp_is_a_part_of_an_amount() {
    let near = ("ramp_time", Near, "a part of the amount");
    let on = "[a]\nfilename=/dev/x\ndirect=1\n";
    let job = |lines: &str| -> String { format!("{on}{lines}\n") };
    holds(&[
        (job("rw=randwrite\nsize=64m\nio_size=8m\nramp_time=1"), &["!precondition"], near),
        (job("rw=write\nsize=16m\nrate_iops=128\nramp_time=1"), &["!precondition"], near),
        (
            job("rw=randread\nruntime=2\ntime_based\nramp_time=1"),
            &["precondition = \"1s\""],
            ("ramp_time", Near, "begins anew"),
        ),
        (
            job("rw=randread\nruntime=2\ntime_based\nramp_time=1\nnorandommap"),
            &["precondition = \"1s\""],
            ("ramp_time", Same, "precondition"),
        ),
        (
            "[global]\nfilename=/dev/x\nrw=randread\nruntime=2\nramp_time=1\ntime_based\n\
             [a]\nrate_iops=50\n[b]\nrate_iops=100\nstartdelay=1\n"
                .to_owned(),
            &["!precondition", "measure = \"4s\"", "rate = [{hold = \"1s\"}, {to = 100}]"],
            ("ramp_time", Near, "all of it is measured"),
        ),
    ]);
}

#[test]
fn a_filename_adds_to_those_before() {
    let both = "\"all\" = [\"/dev/x\", \"/dev/y\"]";
    let read = ("filename", Same, "as it is");
    holds(&[
        ("[global]\nfilename=/dev/x\n[a]\nfilename=/dev/y\nsize=8m\n".to_owned(), &[both], read),
        (
            "[a]\nfilename=/dev/x\nfilename=/dev/y\nsize=8m\n".to_owned(),
            &[both, "streams = 2"],
            read,
        ),
        (
            "[a]\nfilename=/dev/x\nfilename=/dev/x\n".to_owned(),
            &["\"all\" = \"/dev/x\""],
            ("filename", Near, "fio takes it for two"),
        ),
    ]);
    let text = "[global]\nfilename=/dev/x\n[a]\nfilename=/dev/y\nsize=8m\n";
    let import = import("a", text, Some(Dialect::Fio), &World::NOTHING).expect("a job");
    assert!(import.options.iter().all(|told| told.class == Same), "{:#?}", import.options);
}

#[test]
fn random_requests_go_anywhere_in_files_that_are_larger_than_their_size() {
    let roams = |lines: &str| -> String {
        format!("[a]\nfilename=/dev/x\nrw=randwrite\nfilesize=32m\nsize=4m\n{lines}\n")
    };
    let amount = ("size", Same, "stages.amount");
    holds(&[
        (roams("numjobs=2"), &["size = \"32MiB\"", "amount = \"4MiB\"", "!range"], amount),
        (roams("offset=8m"), &["amount = \"4MiB\"", "range = \"25%-100%\""], amount),
        (roams("io_size=8m"), &["amount = \"8MiB\"", "!range"], ("io_size", Same, "amount")),
        (roams("number_ios=2k"), &["amount = \"4MiB\""], ("number_ios", Harmless, "before")),
        (roams("runtime=1\ntime_based"), &["!amount", "!range"], ("size", Harmless, "filesize")),
        (roams("rw=write"), &["amount = \"all\"", "range = \"0%-12.5%\""], ("size", Same, "")),
    ]);
}

#[test]
fn what_fio_ends_early_or_does_more_often_is_said() {
    let on = "[a]\nfilename=/dev/x\ndirect=1\nbs=64k\n";
    let job = |lines: &str| -> String { format!("{on}{lines}\n") };
    holds(&[
        (
            job("rw=randread\npercentage_random=30\nsize=32m"),
            &["amount = \"all\""],
            ("percentage_random", Near, "fio ends as soon as"),
        ),
        (job("rw=randread:8\nsize=32m"), &[], ("rw", Near, "fio ends as soon as")),
        (
            job("rw=randread\npercentage_random=30\nsize=32m\nruntime=1\ntime_based"),
            &[],
            ("percentage_random", Same, "random"),
        ),
        (
            job("rw=randread\npercentage_random=30\nsize=32m\nnorandommap"),
            &[],
            ("percentage_random", Same, "random"),
        ),
        (job("rw=randread\npercentage_random=30"), &[], ("percentage_random", Same, "random")),
        (job("rw=randtrim\nbs=4k,64k\nsize=16m"), &[], ("bs", Near, "first one beyond the end")),
        (job("rw=read:64k\nsize=16m"), &["stride = \"128KiB\""], ("rw", Same, "access")),
        (
            job("rw=read\nsize=1m\nnumber_ios=100"),
            &["amount = \"all\""],
            ("number_ios", Harmless, "`size` is done before"),
        ),
        (job("rw=trimwrite\nsize=8m"), &[], ("rw", Near, "twice as many requests")),
        (job("rw=trimwrite\nsize=8m"), &[], ("size", Near, "in fio each is both")),
        (
            job("rw=read\nsize=32m\nzonemode=strided\nzonesize=1m\nzoneskip=1m"),
            &[],
            ("zonemode", Near, "fio goes on behind it"),
        ),
        (
            job("rw=read\noffset=33%\noffset_align=1m\nsize=4m"),
            &["range = \"33%+4MiB\""],
            ("offset_align", Near, "not at a multiple"),
        ),
        (
            job("rw=read\noffset=1000k\noffset_align=1m\nsize=4m"),
            &[],
            ("offset_align", Harmless, "as it is"),
        ),
    ]);
}

#[test]
fn files_that_jobs_do_not_share_in_fio_are_told() {
    let on = "[global]\ndirectory=/m\nrw=write\nbs=64k\n";
    let job = |lines: &str| -> String { format!("{on}{lines}\n") };
    let share = "which all jobs of its group share";
    holds(&[
        (job("[a]\nsize=4m\n[b]\nsize=8m\nnumjobs=2"), &[], ("size", Near, share)),
        (
            job("[a]\nfilename=x\nsize=4m\n[b]\nfilename=y\nsize=4m"),
            &[],
            ("filename", Near, "a part of 1 file of Plimsoll's own, which all"),
        ),
        (
            job("[a]\nfilename=x\nsize=4m\n[c]\nstonewall\nfilename=x\nsize=4m\nrw=read"),
            &[],
            ("filename", Near, "which `prepare` writes"),
        ),
        (job("[a]\nsize=4m\n[b]\nsize=4m"), &["files = 2"], ("size", Same, "")),
    ]);
}
