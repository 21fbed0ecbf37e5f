//! Bad input gets a clear error and a documented exit code before anything is touched.

use crate::common::{Loop, assert_explained, assert_says, has, names, plimsoll, scratch, text};
use std::fs;

/// Each line: the arguments, the exit code, and what the message has to say.
const CASES: [(&str, i32, &[&str]); 21] = [
    ("run four-corner", 2, &["no suite is called `four-corner`", "did you mean `four-corners`?"]),
    ("run nosuch.toml", 2, &["nosuch.toml"]),
    ("run smoke --target no/such/place", 3, &["no/such/place", "check the path"]),
    ("run smoke --target /dev/null", 3, &["/dev/null", "a character device"]),
    ("run smoke --existing", 3, &["--existing wants a file or a device"]),
    ("run smoke --target file.txt", 3, &["did not make", "--existing"]),
    ("run smoke --destroy-data file.txt", 3, &["not a block device"]),
    ("run smoke --set layout.size=1KiB", 2, &["less than one block"]),
    ("run smoke --set block_size=1000 --buffered", 0, &[]),
    ("run smoke --set block_sise=4k", 2, &["block_sise", "block_size"]),
    ("run smoke --set depth=0", 2, &["depth"]),
    ("run smoke --set measure=fast", 2, &["`fast` is not a duration", "500ms"]),
    (
        "run smoke --set layout.size=1GiB/(hosts-1)",
        2,
        &["--set:1:13: size = \"1GiB/(hosts-1)\" divides by zero", "max(1"],
    ),
    ("run smoke --set clients.count=2", 2, &["[clients]", "plimsoll plan"]),
    ("run smoke --scale 2", 2, &["is not a scale", "1/100"]),
    ("run smoke --scale 0", 2, &["is not a scale"]),
    ("run --rw sideways", 2, &["sideways", "randread"]),
    ("run --iodepth 4", 2, &["--rw"]),
    ("run smoke --set workload.nobody.depth=1", 2, &["nobody"]),
    ("show nosuch.plimsoll", 5, &["nosuch.plimsoll"]),
    ("frobnicate", 2, &["frobnicate"]),
];

#[test]
fn every_mistake_has_its_message_and_its_code() {
    for (line, code, words) in CASES {
        let folder = scratch();
        fs::write(folder.join("file.txt"), "theirs").expect("a file");
        let args: Vec<&str> =
            line.split(' ').chain(["--scale", "1/20"].into_iter().filter(|_| code == 0)).collect();
        let ended = plimsoll(&folder, &args);
        assert_eq!(ended.code, code, "{line}: {ended:#?}");
        for word in words {
            assert!(ended.err.contains(word), "{line}: `{word}` is missing in\n{}", ended.err);
        }
        if code != 0 {
            assert!(ended.out.is_empty(), "{line}: {}", ended.out);
            assert_eq!(names(&folder), ["file.txt"], "{line} touched something");
        }
    }
}

#[test]
fn a_block_that_direct_io_cannot_have_is_refused_with_the_near_one() {
    let folder = scratch();
    let ended = plimsoll(&folder, "run smoke --set block_size=1000");
    // On file systems that do not tell their block size, the kernel would refuse each request
    // instead; the disk of CI tells.
    let ended = ended.with_code(3);
    for word in ["multiples of", "1000 bytes", "--buffered"] {
        assert!(ended.err.contains(word), "{ended:#?}");
    }
}

#[test]
fn a_device_is_only_written_to_when_its_user_gives_it_up() {
    let true = has("devices without --destroy-data", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let folder = scratch();
    let device = Loop::new(64);
    let path = text(&device.device);
    let before = device.counters();
    let ended = plimsoll(&folder, ["run", "smoke", "--target", path]).with_code(3);
    assert_says(&ended.err, &["is a block device", "--destroy-data"]);
    assert_eq!(device.counters(), before);

    // One that is mounted is not to be had at all.
    let mounted = crate::common::Mounted::new("mkfs.ext4", 64);
    let source =
        crate::common::run("findmnt", ["--noheadings", "--output", "SOURCE", text(mounted.path())]);
    let ended = plimsoll(&folder, ["run", "smoke", "--destroy-data", &source]).with_code(3);
    assert!(ended.err.contains("mounted at"), "{ended:#?}");
    assert_eq!(names(mounted.path()), ["lost+found"]);
}

/// Each `fixtures/bad-suites/NAME.toml` has its `NAME.expected`: what a user sees. Add a pair
/// without touching code; `UPDATE_EXPECTED=1` writes the second half.
#[test]
fn every_bad_suite_is_explained_as_expected() {
    assert_explained("bad-suites", 8, "run");
}

#[test]
fn a_target_without_a_name_is_refused_before_anything_is_made() {
    let folder = scratch();
    for line in [["run", "smoke", "--target", ""], ["plan", "smoke", "--target", " "]] {
        let ended = plimsoll(&folder, line).with_code(2);
        assert!(ended.err.contains("error: a target has no name; give a directory"), "{ended:#?}");
        assert!(names(&folder).is_empty(), "{line:?}");
    }
}
