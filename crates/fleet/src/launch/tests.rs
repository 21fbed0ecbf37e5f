use super::one::{Copied, copy, send};
use super::*;
use std::process::Command;

fn wanted(via: Via, hosts: &[&str]) -> Wanted {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    Wanted { via, hosts, version: "1.0.0".to_owned(), ..Wanted::default() }
}

/// A way to "hosts" that are this machine, with a cache of their own.
fn here(cache: &std::path::Path) -> Via {
    // `env` takes the script behind its settings; the host's name is only looked at.
    Via::Template(
        ["env", &format!("XDG_CACHE_HOME={}/{{host}}", cache.display())]
            .map(str::to_owned)
            .to_vec(),
    )
}

#[test]
fn a_host_that_is_named_twice_is_refused() {
    let errors = launch(&wanted(Via::Ssh, &["a", "b", "a"])).expect_err("twice");
    assert_eq!(errors[0].to_string(), "host a: is named twice; name each host once");
}

#[test]
fn the_program_is_copied_to_a_host_that_lacks_it_and_a_changed_copy_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let via = here(folder.path());
    let binary = Binary::own().expect("readable");
    let wanted = wanted(via.clone(), &["h1"]);
    copy(&wanted, &binary, "h1").expect("room");
    let copied = std::fs::read_dir(folder.path().join("h1/plimsoll"))
        .expect("made")
        .flatten()
        .next()
        .expect("a copy");
    assert_eq!(
        std::fs::read(copied.path()).expect("readable"),
        std::fs::read(&binary.path).expect("readable")
    );
    // A copy that is another program of the same length, one of zeros, and one that is cut off:
    // none is started, and each is replaced (by this test program, which is no agent).
    let liar = format!("#!/bin/sh\necho '{}'\ncat\nexit\n", greeting("1.0.0", &binary.hash));
    for (damaged, length) in [(liar.as_str(), binary.length), ("", binary.length), ("junk", 4)] {
        std::fs::write(copied.path(), damaged).expect("written");
        std::fs::OpenOptions::new()
            .write(true)
            .open(copied.path())
            .and_then(|file| file.set_len(length))
            .expect("room");
        let error = launch(&wanted).expect_err("no agent");
        assert!(error[0].what.contains("cannot start there: exit status"), "{}", error[0]);
        assert_eq!(
            std::fs::read(copied.path()).expect("readable"),
            std::fs::read(&binary.path).expect("readable")
        );
    }
    forget(&via, &["h1".to_owned()]).expect("allowed");
    assert!(!folder.path().join("h1/plimsoll").exists());
}

#[test]
fn every_host_without_an_agent_is_named_with_the_reason() {
    let via =
        Via::Template(vec!["sh".into(), "-c".into(), "echo no route to {host} >&2; exit 1".into()]);
    let errors = launch(&wanted(via, &["x", "y"])).expect_err("none");
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(
        text.len() == 2
            && text[1].contains("host y: no agent could be started: no route to y; check that"),
        "{text:?}"
    );
    let causes = LaunchError::by_cause(&errors);
    assert_eq!(causes.len(), 2, "each says another thing: {causes:?}");
    let same = Via::Template(vec!["sh".into(), "-c".into(), "echo no route >&2; exit 1".into()]);
    let errors = launch(&wanted(same, &["n1", "n2", "n4"])).expect_err("none");
    let causes = LaunchError::by_cause(&errors);
    assert_eq!((errors.len(), causes.len()), (3, 1), "{errors:?}");
    let said = causes[0].to_string();
    assert!(
        said.starts_with("3 hosts (n[1-2],n4): no agent could be started: no route; "),
        "{said}"
    );
}

#[test]
fn another_version_and_another_machine_are_refused() {
    let says = |line: &str| {
        Via::Template(vec!["sh".into(), "-c".into(), format!("echo '{line}'; cat {{host}}")])
    };
    let mut other = wanted(says(&greeting("0.9.0", "x")), &["/dev/null"]);
    other.agent = Some("/x".into());
    assert!(
        launch(&other).expect_err("older")[0].what.contains("version 0.9.0, and this is 1.0.0")
    );
    let other = wanted(says("plimsoll-missing Linux mips"), &["/dev/null"]);
    assert!(launch(&other).expect_err("another machine")[0].what.contains("runs Linux mips"));
}

#[test]
fn a_host_without_room_says_so() {
    // A file where the cache would be: nothing can be made below it.
    let file = tempfile::NamedTempFile::new().expect("a file");
    let via = Via::Template(vec![
        "env".into(),
        format!("XDG_CACHE_HOME={}", file.path().display()),
        "HOST={host}".into(),
    ]);
    let errors = launch(&wanted(via, &["x"])).expect_err("nowhere to put it");
    assert!(errors[0].what.contains("cannot be copied there"), "{}", errors[0]);
}

#[test]
fn a_host_that_stops_reading_the_program_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = Binary::own().expect("readable");
    // It asks as any, and then takes nothing; its child holds the pipe.
    let via = Via::template("sh {host}").expect("a template");
    let mut stands_still = Command::new("sh");
    stands_still.args(["-c", "sleep 600; cat"]).current_dir(folder.path());
    let to = Copied { via: &via, host: "still", within: Duration::from_millis(200) };
    let error = thread::scope(|scope| {
        let sent = scope.spawn(|| send(&to, stands_still, &binary));
        let is_listed = || copying().iter().any(|copy| copy.host == "still");
        while !is_listed() && !sent.is_finished() {
            thread::yield_now();
        }
        assert!(is_listed(), "whoever waits can see which host takes nothing");
        sent.join().expect("no panic").expect_err("nothing is taken")
    });
    let error = error.what;
    assert!(copying().iter().all(|copy| copy.host != "still"));
    assert!(error.contains("no answer within") && error.contains(" of "), "{error}");
    let mut ends = Command::new("sh");
    ends.args(["-c", "echo 'no space left' >&2; exit 1"]);
    let to = Copied { via: &via, host: "ends", within: Duration::from_secs(60) };
    let error = send(&to, ends, &binary).expect_err("it ended");
    assert!(error.what.contains("no space left"), "{error:?}");
}

#[test]
fn who_says_nothing_is_given_up_once_all_others_answered() {
    let greeting = greeting("1.0.0", "x");
    // A greeting comes, and then the stream stays open; of the silent one, nothing does.
    let code = format!("[ {{host}} = silent ] && exec sleep 600; echo '{greeting}'; exec cat");
    let via = Via::Template(vec!["sh".into(), "-c".into(), code]);
    let mut some = wanted(via, &["a", "silent", "b"]);
    (some.agent, some.may_lack) = (Some("/x".into()), true);
    let launched = launch_some(&some, &|_, _| {}).expect("two of them");
    let errors = launched.errors();
    assert_eq!((errors.len(), errors[0].hosts.as_slice()), (1, &["silent".to_owned()][..]));
    let whole = format!("within {} s", ANSWER.as_secs());
    assert!(errors[0].what.contains("no answer within"), "{}", errors[0]);
    assert!(!errors[0].what.contains(&whole), "{}", errors[0]);
    assert!(launched.agents.has(0) && launched.agents.has(2));
}
