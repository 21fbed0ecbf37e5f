//! What of a lab needs neither root nor GlusterFS.

use super::*;

fn places(root: &Path) -> Places {
    Places { state: root.join("state/vms"), kernels: root.join("kernels") }
}

#[test]
fn a_lab_that_is_not_there_or_not_whole_is_named_with_what_to_do() {
    let root = tempfile::tempdir().expect("a folder");
    let places = places(root.path());
    let said = |found: Outcome<Lab>| found.expect_err("no lab").to_string();
    assert!(said(find(&places)).contains("plimsoll lab up"));
    assert!(down(&places).expect_err("no lab").to_string().contains("there is no lab"));
    places::make_all(&places.lab()).expect("made");
    assert!(said(find(&places)).contains("plimsoll lab down"), "it was cut short");
    let lab = Lab { wanted: Wanted { nodes: 3, sites: 2, replicas: 2 }, folder: places.lab() };
    lab.record().expect("written");
    assert_eq!(find(&places), Ok(lab.clone()));
    assert!(lab.states().iter().all(|state| !state.is_there && state.bricks == 0 && state.of == 2));
    assert!(lab.command("n4").expect_err("no node").to_string().contains("n1 to n3"));
    assert!(lab.command("n1").expect_err("gone").to_string().contains("does not run"));
    fs::write(places.lab().join(FILE), "{}").expect("written");
    assert!(matches!(find(&places), Err(Problem::NotOurs { .. })));
    down(&places).expect("removed");
    assert!(!places.lab().exists());
}

#[test]
fn a_lab_of_somebody_else_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().expect("a folder");
    let places = places(root.path());
    places::make_all(&places.lab()).expect("made");
    fs::set_permissions(places.lab(), fs::Permissions::from_mode(0o777)).expect("set");
    assert!(matches!(down(&places), Err(Problem::NotOurs { .. })));
    assert!(places.lab().exists());
}

#[test]
fn only_what_carries_the_folder_is_ended() {
    let root = tempfile::tempdir().expect("a folder");
    let places = places(root.path());
    places::make_all(&places.lab()).expect("made");
    let sleeping = |of: &Path| {
        let mut command = Command::new("sleep");
        tool::mark(&mut command, of);
        let child = command.arg("600").spawn().expect("started");
        // A process has its environment a moment after it has begun.
        while !tool::is_for(child.id() as i32, of) {
            sleep(PAUSE);
        }
        child
    };
    let (mut ours, mut others) = (sleeping(&places.lab()), sleeping(root.path()));
    down(&places).expect("removed");
    assert!(!ours.wait().expect("ours").success());
    assert!(others.try_wait().expect("ours").is_none());
    others.kill().and_then(|()| others.wait()).expect("ours");
}

#[test]
fn a_path_that_bricks_cannot_have_is_refused() {
    assert_eq!(is_plain_path(Path::new("/var/lib/x-1_2.y")), Ok(()));
    for path in ["/a b", "/a,b", "/a:b", "/a'b"] {
        let said = is_plain_path(Path::new(path)).expect_err("refused").to_string();
        assert!(said.contains("XDG_STATE_HOME"), "{said}");
    }
}
