//! Guests that lie on their line. No hypervisor is needed: the other end of a line is a socket, and
//! whatever a guest could write to it can be written here.

use super::User;
use crate::common::Ended;
use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

/// A group of one machine on record, behind whose socket somebody says what is given. It is made by
/// hand: nobody else's program runs.
fn with_guest(says: impl Fn(UnixStream) + Send + Sync + 'static) -> (User, Ended) {
    let user = User::new();
    let folder = user.state().join("t");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).expect("made");
    let version = user.plimsoll("--version").with_code(0).out;
    assert!(version.starts_with("plimsoll "), "{version}");
    fs::write(folder.join("machines.json"), record(&folder, &hash())).expect("written");
    let listener = UnixListener::bind(folder.join("t-1.agent")).expect("bound");
    thread::spawn(move || {
        // It serves as long as the test runs.
        for stream in listener.incoming().map_while(Result::ok) {
            says(stream);
        }
    });
    let told = user.plimsoll("run quick --hosts=vms:t --json");
    (user, told)
}

/// The hash by which a record names this build.
fn hash() -> String {
    let output = std::process::Command::new("sha256sum")
        .arg(crate::common::PLIMSOLL)
        .output()
        .expect("sha256sum");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_whitespace().next().expect("a hash").to_owned()
}

fn record(folder: &std::path::Path, hash: &str) -> String {
    serde_json::json!({
        "format": 2, "name": "t", "token": "0123456789abcdef0123456789abcdef", "program": hash,
        "ground": { "folders": [folder.join("disks")] }, "disks_each": 1,
        "devices": ["/dev/vda"], "accelerator": "Tcg", "cache": "None",
        "machines": [{ "name": "t-1", "uuid": "01234567-89ab-cdef-0123-456789ab0000" }],
        "boots": []
    })
    .to_string()
}

fn refused(told: &Ended, what: &str) {
    assert!(!told.err.is_empty() && told.err.contains(what), "{what}: {told:?}");
    assert!(told.err.contains("t-1"), "it says who: {told:?}");
    assert!(told.err.len() < 10_000, "what a guest says does not fill the screen: {told:?}");
}

#[test]
fn a_guest_that_says_nothing_of_ours_without_end_is_left() {
    let (_user, told) = with_guest(|mut stream| {
        let chunk = vec![b'x'; 64 << 10];
        while stream.write_all(&chunk).is_ok() {}
    });
    refused(&told.with_code(3), "no agent could be started");
}

#[test]
fn a_guest_that_ends_at_once_or_greets_in_other_words_is_refused() {
    let (_user, told) = with_guest(drop);
    refused(&told.with_code(3), "no agent could be started");
    let (_user, told) = with_guest(|mut stream| {
        let _ = stream.write_all(b"plimsoll-agent 999999 0.0.1 abc x86_64\n");
        let _ = stream.read(&mut [0; 1]);
    });
    refused(&told.with_code(3), "its agent is version");
}

#[test]
fn a_guest_that_greets_well_and_then_lies_is_refused() {
    // The right greeting is no secret: each guest has the program.
    let user = User::new();
    let agent = user.command("agent").output().expect("started");
    let greeting = agent.stdout.split(|byte| *byte == b'\n').next().expect("a line").to_vec();
    assert!(greeting.starts_with(b"plimsoll-agent "), "{agent:?}");
    let frames: [&[u8]; 3] = [
        // A frame that claims to be as long as a number can say.
        &[0xff; 64],
        &[0; 4096],
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    ];
    for frame in frames {
        let said = [&greeting[..], b"\n", frame].concat();
        let (user, told) = with_guest(move |mut stream| {
            let _ = stream.write_all(&said);
            // It goes on with nonsense until nobody listens any more.
            while stream.write_all(&[0x7f; 4096]).is_ok() {}
        });
        assert_ne!(told.code, 0, "{told:?}");
        assert!(told.err.contains("t-1") && told.err.len() < 10_000, "{told:?}");
        assert!(told.out.len() < 10_000);
        drop(user);
    }
}
