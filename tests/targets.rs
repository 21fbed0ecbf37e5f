//! Nothing that Plimsoll did not create is written or removed, whatever run files, links, mounts
//! and devices are put in its way.

use crate::common::{
    Ended, Loop, Words, assert_says, end, has, names, plimsoll, recorded, run, scratch, start,
    text, wait_until,
};
use model::plan::PlannedTarget;
use model::{Plan, Record};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const PRECIOUS: &str = "ten years of work";

/// The arguments of a run of so many seconds on `target` that fills and loads two files.
fn arguments(seconds: &str, target: &Path) -> impl Words {
    let line = format!(
        "run --rw randrw --bs 4k --iodepth 2 --size 2M --set layout.files=2 --runtime {seconds} \
         --set interval=100ms --quiet --out run.plimsoll -t"
    );
    (line, [target.to_owned()])
}

/// A record of a short run on `data` in the folder, whose files stay.
fn kept(folder: &Path, hosts: impl Words) -> Record {
    let data = folder.join("data");
    plimsoll(folder, (&arguments("1", &data), "--keep-data", hosts)).with_code(0);
    recorded(folder)
}

/// Writes a run file in which nothing of this plan was done yet.
fn begun(folder: &Path, record: &Record, plan: &Plan) -> PathBuf {
    let out = folder.join("hostile.plimsoll");
    let _ = fs::remove_file(&out);
    let version = env!("CARGO_PKG_VERSION");
    let writer =
        store::Writer::create(&out, plan, &record.testbed, version, record.started_unix_ns);
    writer.and_then(store::Writer::finish).expect("a run file");
    out
}

fn resumed(folder: &Path, hostile: &Path, more: impl Words) -> Ended {
    let _ = fs::remove_file(folder.join("again.plimsoll"));
    plimsoll(folder, (["resume", text(hostile), "--out", "again.plimsoll", "--quiet"], more))
}

#[test]
fn a_hostile_run_file_is_resumed_nowhere_but_at_its_targets() {
    // In this process, and through an agent with a list of what it may touch, as on another host.
    for hosts in ["", "--hosts local:1"] {
        is_resumed_at_its_targets_alone(hosts);
    }
}

fn is_resumed_at_its_targets_alone(hosts: impl Words) {
    let here = &scratch();
    let record = kept(here, hosts);
    let victim = here.join("victim");
    fs::create_dir(&victim).expect("a folder");
    let (precious, missing) = (victim.join("precious"), victim.join("missing"));
    // As large as the file whose place it is to take.
    let size = record.plan.hosts[0].targets[0].files[0].size.0 as usize;
    let content = PRECIOUS
        .repeat(size / PRECIOUS.len() + 1)
        .split_off(PRECIOUS.len() - size % PRECIOUS.len());
    assert_eq!(content.len(), size);
    fs::write(&precious, &content).expect("a file");
    let path = |place: &Path| text(place).to_owned();
    type Attack<'a> = (&'a str, &'a dyn Fn(&mut Plan));
    let attacks: [Attack<'_>; 7] = [
        ("a file", &|plan| plan.hosts[0].targets[0].files[0].path = path(&precious)),
        ("a new file", &|plan| plan.hosts[0].targets[0].files[1].path = path(&missing)),
        ("a root", &|plan| {
            plan.hosts[0].targets[0].kind = PlannedTarget::Directory { root: path(&missing) }
        }),
        ("another host's file", &|plan| {
            plan.hosts[0].targets[0].kind = PlannedTarget::Joined;
            plan.hosts[0].targets[0].files.iter_mut().for_each(|file| file.path = path(&precious));
        }),
        ("a device's path", &|plan| {
            plan.hosts[0].targets[0].kind = PlannedTarget::Device;
            plan.hosts[0].targets[0].files[0].path = path(&precious);
        }),
        ("the way up", &|plan| {
            plan.hosts[0].targets[0].files[0].path =
                format!("{}/../victim/precious", here.join("data").display());
        }),
        ("a target of its own", &|plan| {
            let target = &mut plan.hosts[0].targets[0];
            target.path = path(&missing);
            target.kind = PlannedTarget::Directory { root: path(&missing) };
            for (number, file) in (0..).zip(&mut target.files) {
                file.path =
                    format!("{}/{}", missing.display(), model::plan::names::data_file_name(number));
            }
        }),
    ];
    for (what, attack) in attacks {
        let mut plan = record.plan.clone();
        attack(&mut plan);
        let hostile = begun(here, &record, &plan);
        let refused = resumed(here, &hostile, "").with_code(3);
        assert!(refused.err.contains("; "), "{what}: a remedy: {refused:?}");
        assert_eq!(names(&victim), ["precious"], "{what}");
        assert!(fs::read_to_string(&precious).expect("a file") == content, "{what}");
    }
    // The plan as it was recorded goes on, because its marker is there.
    let honest = begun(here, &record, &record.plan);
    resumed(here, &honest, "").with_code(0);
    assert!(!here.join("data").exists());
    // Now it is not, and the user has to say so.
    let refused = resumed(here, &honest, "").with_code(3);
    assert_says(&refused.err, &["nothing of this run is left", "--target"]);
    resumed(here, &honest, ["--target", text(&here.join("data"))]).with_code(0);
}

#[test]
fn a_recorded_device_is_guarded_as_one_that_is_named() {
    let true = has("a device in a hostile run file", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let here = &scratch();
    let record = kept(here, "");
    let mounted = crate::common::Mounted::new("mkfs.ext4", 16);
    let source = run("findmnt", ["--noheadings", "--output", "SOURCE", text(mounted.path())]);
    for kind in [PlannedTarget::Device, PlannedTarget::Joined] {
        let mut plan = record.plan.clone();
        let target = &mut plan.hosts[0].targets[0];
        target.path = source.clone();
        target.kind = kind;
        target.files.iter_mut().for_each(|file| file.path = source.clone());
        let hostile = begun(here, &record, &plan);
        resumed(here, &hostile, "").with_code(3);
        resumed(here, &hostile, ["--destroy-data", &source]).with_code(3);
    }
    fs::write(mounted.path().join("file"), PRECIOUS).expect("it is whole");
    run("umount", [text(mounted.path())]);
    run("fsck.ext4", ["-n", "-f", &source]);
}

#[test]
fn what_is_mounted_over_a_target_in_mid_run_stays_whole() {
    let true = has("a mount over a target", "mount") else { return };
    let here = &scratch();
    // Another run's data, with their marker.
    let other = kept(here, "");
    assert_eq!(other.plan.hosts[0].targets[0].files.len(), 2);
    fs::rename(here.join("data"), here.join("other")).expect("moved");
    fs::remove_file(here.join("run.plimsoll")).expect("a run file");
    let data = here.join("data");
    let child = start(here, arguments("60", &data));
    wait_until("the load", || {
        store::read(&here.join("run.plimsoll"))
            .is_ok_and(|record| record.stages.last().is_some_and(|stage| stage.stage > 0))
    });
    run("mount", ["--bind", text(&here.join("other")), text(&data)]);
    crate::common::signal(&child, "INT");
    let ended = end(child);
    run("umount", [text(&data)]);
    assert!(ended.err.contains("leads to another place"), "{ended:?}");
    assert_eq!(names(&here.join("other")), [".plimsoll", "data-00000.bin", "data-00001.bin"]);
    let held = fs::metadata(here.join("other/data-00000.bin")).expect("a file").len();
    assert!(held > 0, "nothing was cut");
    assert_eq!(names(&data), Vec::<String>::new(), "what is ours is gone below the mount");
}

#[test]
fn a_target_that_is_swapped_for_a_link_in_mid_run_costs_nobody_a_file() {
    let here = &scratch();
    let (data, victim) = (here.join("data"), here.join("victim"));
    fs::create_dir_all(victim.join("tree-00000")).expect("folders");
    for name in ["data-00000.bin", "data-00001.bin", "tree-00000/f000000000000000001"] {
        fs::write(victim.join(name), PRECIOUS).expect("a file");
    }
    let child = start(here, arguments("60", &data));
    wait_until("the load", || {
        store::read(&here.join("run.plimsoll"))
            .is_ok_and(|record| record.stages.last().is_some_and(|stage| stage.stage > 0))
    });
    fs::rename(&data, here.join("moved")).expect("moved");
    symlink(&victim, &data).expect("a link");
    crate::common::signal(&child, "INT");
    let ended = end(child);
    assert!(ended.err.contains("leads to another place"), "{ended:?}");
    for name in ["data-00000.bin", "data-00001.bin", "tree-00000/f000000000000000001"] {
        assert_eq!(fs::read_to_string(victim.join(name)).expect("it is there"), PRECIOUS);
    }
    assert_eq!(names(&victim), ["data-00000.bin", "data-00001.bin", "tree-00000"]);
    assert_eq!(names(&here.join("moved")), Vec::<String>::new());
}

#[test]
fn cleaning_does_not_cross_into_what_is_mounted_in_a_tree() {
    let true = has("a mount in a tree", "mount") else { return };
    let here = &scratch();
    let (data, victim) = (here.join("data"), here.join("victim"));
    let mine = data.join("tree-00000/d000000000000000000");
    for made in [&mine, &victim, &data.join("tree-00001")] {
        fs::create_dir_all(made).expect("folders");
    }
    fs::write(
        data.join(".plimsoll"),
        "{\"made_by\":\"plimsoll\",\"run_id\":\"r\",\"pid\":1,\"made_directory\":false}",
    )
    .expect("a marker");
    fs::write(victim.join("f000000000000000001"), PRECIOUS).expect("a file");
    let single = mine.parent().expect("a tree").join("f000000000000000002");
    fs::write(&single, "ours").expect("a file");
    let mounts = [
        (&victim, &mine),
        (&victim, &data.join("tree-00001")),
        (&victim.join("f000000000000000001"), &single),
    ];
    for (from, to) in mounts {
        run("mount", ["--bind", text(from), text(to)]);
    }
    let cleaned = plimsoll(here, ["clean", text(&data)]);
    let left = (
        mine.join("f000000000000000001").exists(),
        single.exists(),
        data.join(".plimsoll").exists(),
    );
    for (_, to) in mounts {
        run("umount", [text(to)]);
    }
    cleaned.with_code(0);
    assert_eq!(left, (true, true, true), "the marker stays with the trees");
    assert_eq!(fs::read_to_string(victim.join("f000000000000000001")).expect("a file"), PRECIOUS);
    plimsoll(here, ["clean", text(&data)]).with_code(0);
    assert_eq!(names(&data), Vec::<String>::new());
}

#[test]
fn a_device_below_a_loop_device_and_a_second_loop_over_an_image_are_in_use() {
    let true = has("loop devices over devices", "losetup loop mkfs.ext4 mount") else { return };
    let folder = scratch();
    let below = Loop::new(16);
    let attach = |over: &str| run("losetup", ["--find", "--show", over]);
    let image = fs::read_to_string(format!(
        "/sys/block/{}/loop/backing_file",
        below.device.file_name().expect("a name").to_string_lossy()
    ));
    let (above, second) = (attach(text(&below.device)), attach(image.expect("an image").trim()));
    let told: Vec<Ended> = [text(&below.device), &second]
        .iter()
        .map(|device| plimsoll(&folder, ["plan", "smoke", "--destroy-data", device]))
        .collect();
    for device in [&above, &second] {
        run("losetup", ["--detach", device]);
    }
    for (ended, word) in told.into_iter().zip(["is built on it", "shows the same image"]) {
        let ended = ended.with_code(3);
        assert_says(&ended.err, &["the device is in use: loop", word]);
    }
}
