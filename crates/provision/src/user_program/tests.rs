//! Programs that do what they are asked, and programs that lie.

use super::*;
use crate::deployment::tests::{Setting, wanted};
use crate::remote::contract::{Answering, copies};
use model::machines::{DiskContent, MachinesWanted};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A machine and a disk are empty files here; the disk `b-2` cannot be made.
const MAKES: &str = r#"
[ -z "$PLIMSOLL_VMS_FOLDER" ] || exit 9
read -r line
get() { printf '%s' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
id=$(get id)
case $(get request) in
    room) echo "{\"site\":\"$(cat site)\",\"memory\":9999999999,\"free\":9999999999}" ;;
    disk | make)
        case $id in *-b-2) echo no room >&2; exit 1 ;; esac
        set -C; printf '%s' "$line" > "$id" && echo '{}' ;;
    state)
        says='"command":["nc"],"ssh":"me@g","disks":["/dev/vdb","/dev/vdc"]'
        state=absent; [ -e "$id" ] && state=running
        printf '{"state":"%s",%s,"console":"%s"}' $state "$says" 'a\nplimsoll-first-read-ns=7' ;;
    act) printf '{"disks":2,"copied":%s}' "$(echo "$line" | grep -c '"act":"move".*"to":"p"')" ;;
    remove) rm -f "$id" "$id"-disk*; echo '{}' ;;
esac
"#;

struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    fn new(text: &str) -> Script {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("my-provider");
        let text = format!("#!/bin/sh\ncd {}{text}", folder.path().display());
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        fs::write(folder.path().join("site"), "here").expect("written");
        Script { folder }
    }

    fn provider(&self, template: &str) -> UserProgram {
        let path = self.folder.path().join("my-provider");
        let provider = UserProgram::new(path.to_str().expect("UTF-8"), template);
        UserProgram { guests: Guests::through(Box::new(Answering)), ..provider }
    }

    /// The files of machines and disks.
    fn made(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).expect("there").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.filter(|name| name.starts_with("plimsoll-")).collect();
        names.sort();
        names
    }
}

#[test]
fn a_program_makes_machines_acts_on_them_and_removes_them_whole() {
    let (script, setting) = (Script::new(MAKES), Setting::new());
    let provider = script.provider("");
    let order = MachinesWanted { content: DiskContent::Random, ..wanted("a") };
    let held = setting.make(&provider, &order, Some("p")).expect("made");
    let made = held.deployment.clone();
    drop(held);
    assert_eq!(script.made().len(), 2 + 4, "{:?}", script.made());
    assert!(made.devices == ["/dev/vda", "/dev/vdb"] && made.boots[1].first_read.is_some());
    let Ground::Remote(at) = &made.ground else { panic!("{:?}", made.ground) };
    assert!(at.connect.starts_with('/') && at.site == "here" && at.pools == ["p"], "{at:?}");
    let asked = fs::read_to_string(script.folder.path().join(&script.made()[0])).expect("there");
    let words = [r#""version":1"#, r#""vcpus":1"#, r#""kernel":"/"#, "--name=a-1", "virtio-blk"];
    assert!(words.iter().all(|words| asked.contains(words)), "{asked}");
    let first = &made.machines[0];
    assert_eq!(provider.line(&made, first), Ok(Line::Command(vec!["nc".to_owned()])));
    let acted = provider.act(&made, first, MachineAct::Move, Some("p")).expect("moved");
    assert_eq!((acted.disks, acted.copied), (2, Bytes(1)));
    // Another installation than theirs is not asked to remove them.
    fs::write(script.folder.path().join("site"), "there").expect("written");
    let elsewhere = setting.down(&provider, "a").expect_err("another site").to_string();
    assert!(elsewhere.contains("were made at here, and this is there"), "{elsewhere}");
    fs::write(script.folder.path().join("site"), "here").expect("written");
    setting.down(&provider, "a").expect("removed");
    assert!(script.made().is_empty() && setting.has_no_record());
    // What breaks in the middle is taken down whole.
    let broken = setting.make(&provider, &wanted("b"), None).expect_err("no room").to_string();
    assert!(broken.contains("/my-provider (make)` failed: no room;"), "{broken}");
    assert!(script.made().is_empty() && setting.has_no_record());
}

#[test]
fn copies_of_a_template_are_reached_over_ssh_with_the_disks_that_the_program_names() {
    let (script, setting) = (Script::new(MAKES), Setting::new());
    let provider = script.provider("debian");
    let held = setting.make(&provider, &copies("a"), None).expect("made");
    let made = &held.deployment;
    let disks = vec!["/dev/vdb".to_owned(), "/dev/vdc".to_owned()];
    assert_eq!(made.devices_of(&made.machines[1]), disks);
    let line = provider.line(made, &made.machines[1]);
    assert_eq!(line, Ok(Line::Guest { address: "me@g".to_owned(), disks }));
    // Names that could mean something else are none.
    for (good, bad) in [("/dev/vdb", "/dev/../etc"), ("/dev/vdb", "vdb"), ("me@g", "-oProxy=x")] {
        let lying = Script::new(&MAKES.replace(good, bad));
        let refused = setting.make(&lying.provider("debian"), &copies("c"), None);
        assert!(refused.is_err() && lying.made().is_empty(), "{bad}");
    }
    let ours = script.provider("").fits(&copies("b")).expect_err("an emulated guest?").to_string();
    assert!(ours.contains("vms.accelerator"), "{ours}");
}

#[test]
fn programs_that_lie_fail_hang_or_are_none_are_named_in_few_words() {
    for (text, words) in [
        ("", "(room)` failed: its answer is empty"),
        ("echo '{}'; echo '{}'", "several lines"),
        ("echo '{'", "its answer is none (EOF"),
        ("echo null", "its answer is none"),
        ("echo '{\"site\":\"a\",\"memory\":-1}'", "its answer is none"),
        ("echo '{\"site\":\"a\",\"memory\":1,\"sise\":1}'", "unknown field `sise`"),
        ("yes x | head -c 9000000 | tr -d '\\n'", "longer than 64 KiB"),
        ("echo '{\"site\":\"a\",\"memory\":1}'; echo 'no host' >&2; exit 1", "failed: no host;"),
        ("exit 1", "it gave no reason"),
        ("kill -9 $$", "failed: "),
        ("printf '\\033[2J%09999d' 1 >&2; exit 1", "failed: "),
    ] {
        let script = Script::new(&format!("\n{text}\n"));
        let said = script.provider("").node().expect_err(text).to_string();
        assert!(said.contains(words) && said.len() < 1000, "{text}: {said}");
        assert!(said.contains("/my-provider (room)") && !said.contains('\u{1b}'), "{said}");
    }
    let hangs = Script::new("\nexec sleep 60\n");
    let provider = UserProgram { short: Duration::from_millis(50), ..hangs.provider("") };
    assert!(matches!(provider.node(), Err(Problem::Hangs { .. })));
    for path in ["qemu:///system", "ls", "./no-such"] {
        let said = UserProgram::new(path, "").node().expect_err(path).to_string();
        assert!(said.contains("names no program") && said.contains("./my-provider"), "{said}");
    }
    // A state that nobody can read is none, and why is told where a console would be.
    let (made, lies) = (Script::new(MAKES), Script::new("\necho '{\"state\":\"up\"}'\n"));
    let held = Setting::new().make(&made.provider(""), &wanted("a"), None).expect("made");
    let (provider, machine) = (lies.provider(""), &held.deployment.machines[0]);
    assert_eq!(provider.state(&held.deployment, machine), State::Unknown);
    assert!(provider.console(&held.deployment, machine).contains("unknown variant `up`"));
}
