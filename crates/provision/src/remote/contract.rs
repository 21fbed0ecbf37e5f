//! What every provider behind an interface of somebody else's has to do, held against stand-ins
//! that answer in the documented forms of its programs.

use super::program::{Feed, Program, Runs, Takes};
use crate::deployment::tests::{Setting, wanted};
use crate::provider::{Line, Provider, State};
use crate::record::{Deployment, Ground, Remote};
use crate::{Outcome, Problem};
use model::Bytes;
use model::machines::{Accelerator, MachineAct, MachinesWanted, ProviderKind};
use model::rng::Rng;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Something that answers as a provider's programs do, and remembers what was done.
pub(crate) trait World {
    /// What a call answers, or the words with which it fails.
    fn answer(&mut self, words: &[&str], input: &str) -> Result<String, String>;
    /// The names of all machines, in order.
    fn machines(&self) -> Vec<String>;
    /// The names of all disks that machines have or that were made for them, in order.
    fn disks(&self) -> Vec<String>;
    /// A machine of somebody else, without any of our marks, and with a disk.
    fn add_theirs(&mut self, name: &str);
    /// Takes our marks from a machine.
    fn unmark(&mut self, name: &str);
    /// The installation becomes another one.
    fn change_site(&mut self);
    /// The start of this machine fails.
    fn refuse_start(&mut self, name: &str);
}

/// A world that is a program.
pub(crate) struct Stand<W>(pub(crate) Rc<RefCell<W>>);

impl<W: World> Runs for Stand<W> {
    fn run(&self, words: &[&str], _: Takes, feed: Feed<'_>) -> Outcome<String> {
        let mut input = Vec::new();
        feed(&mut input)?;
        let input = String::from_utf8_lossy(&input).into_owned();
        let told = self.0.borrow_mut().answer(words, &input);
        told.map_err(|said| Problem::Tool { call: words.join(" "), said })
    }
}

/// Guests that all answer.
pub(crate) struct Answering;

impl Runs for Answering {
    fn run(&self, _: &[&str], _: Takes, _: Feed<'_>) -> Outcome<String> {
        Ok(String::new())
    }
}

/// Two machines with two disks each, which are copies of the user's.
pub(crate) fn copies(name: &str) -> MachinesWanted {
    MachinesWanted { accelerator: Accelerator::Native, ..wanted(name) }
}

/// Holds a provider to the contract.
pub(crate) fn holds<W: World>(world: &Rc<RefCell<W>>, provider: &dyn Provider) {
    let setting = Setting::new();
    world.borrow_mut().add_theirs("x-1");
    let before = (world.borrow().machines(), world.borrow().disks());
    let is_as_before = || (world.borrow().machines(), world.borrow().disks()) == before;

    // What cannot be made is refused before anything is.
    let taken = setting.make(provider, &copies("x"), None).expect_err("taken");
    assert!(matches!(&taken, Problem::NameOfOthers { name, .. } if name == "x-1"), "{taken}");
    let large = MachinesWanted { memory: Bytes::gib(1 << 20), ..copies("a") };
    let refused = setting.make(provider, &large, None).expect_err("too large");
    assert!(matches!(refused, Problem::Memory { .. }), "{refused}");
    let refused = setting.make(provider, &copies("a"), Some("no-such-pool"));
    assert!(refused.is_err());
    assert!(is_as_before() && setting.has_no_record());

    // All of it is made, found and removed, and nothing else.
    let held = setting.make(provider, &copies("a"), None).expect("made");
    let recorded = held.deployment.clone();
    drop(held);
    assert_eq!(world.borrow().machines(), ["a-1", "a-2", "x-1"]);
    let made = world.borrow().disks();
    assert!(made.len() >= before.1.len() + 4, "{made:?}");
    for machine in &recorded.machines {
        assert_eq!(provider.state(&recorded, machine), State::Listening);
        let devices = recorded.devices_of(machine);
        assert_eq!(devices.len(), 2, "{devices:?}");
        match provider.line(&recorded, machine).expect("a line") {
            Line::Guest { disks, .. } => assert_eq!(disks, devices),
            other => panic!("{other:?}"),
        }
    }
    let first = &recorded.machines[0];
    provider.act(&recorded, first, MachineAct::Pause, None).expect("paused");
    assert_eq!(provider.state(&recorded, first), State::Paused);
    provider.act(&recorded, first, MachineAct::Resume, None).expect("goes on");
    assert_eq!(provider.state(&recorded, first), State::Listening);
    setting.down(provider, "a").expect("removed");
    assert!(is_as_before() && setting.has_no_record(), "{:?}", world.borrow().disks());

    // What breaks in the middle is taken down whole.
    world.borrow_mut().refuse_start("b-2");
    let broken = setting.make(provider, &copies("b"), None).expect_err("refused");
    assert!(matches!(&broken, Problem::NotStarted { machine, .. } if machine == "b-2"), "{broken}");
    assert!(is_as_before() && setting.has_no_record(), "{:?}", world.borrow().machines());

    // A machine of our name without our marks is somebody else's, and stays.
    drop(setting.make(provider, &copies("c"), None).expect("made"));
    world.borrow_mut().unmark("c-1");
    let found = crate::deployment::find(&setting.places, "c").expect("read").expect("there");
    assert_eq!(provider.state(&found, &found.machines[0]), State::Absent);
    for act in [MachineAct::Off, MachineAct::Pause] {
        provider.act(&found, &found.machines[0], act, None).expect_err("not ours");
    }
    // Another installation than theirs is not searched, and the record stays.
    world.borrow_mut().change_site();
    let elsewhere = setting.down(provider, "c").expect_err("another site");
    assert!(matches!(elsewhere, Problem::Unfit { .. }), "{elsewhere}");
    assert!(!setting.has_no_record() && world.borrow().machines().len() == 3);
    world.borrow_mut().change_site();
    // Its disks go where they can; the machine does not.
    let _ = setting.down(provider, "c");
    assert_eq!(world.borrow().machines(), ["c-1", "x-1"]);
}

struct Endless;

impl Runs for Endless {
    fn run(&self, _: &[&str], _: Takes, feed: Feed<'_>) -> Outcome<String> {
        let sleep = Program::new("sleep", "coreutils");
        let sleep = Program { short: Duration::from_millis(20), ..sleep };
        sleep.run(&["600"], Takes::Short, feed)
    }
}

/// A program that always says the same, and remembers what it was asked.
struct Saying {
    what: String,
    asked: Rc<RefCell<Vec<String>>>,
}

impl Runs for Saying {
    fn run(&self, words: &[&str], _: Takes, _: Feed<'_>) -> Outcome<String> {
        self.asked.borrow_mut().push(words.join(" "));
        Ok(self.what.clone())
    }
}

/// Words of which nothing may be asked where nobody said that something is ours.
const DESTRUCTIVE: [&str; 3] = ["vm.destroy", "datastore.rm", "-off"];

/// What programs say that hang, lie, or are somebody else's.
pub(crate) fn bears_with_anything(of: &dyn Fn(Box<dyn Runs>) -> Box<dyn Provider>) {
    let hanging = of(Box::new(Endless));
    let problem = hanging.node().expect_err("it hangs");
    assert!(matches!(problem, Problem::Hangs { .. }), "{problem}");

    let hostile = "$(touch /tmp/x)`id`';\u{1b}[31m --all -oProxyCommand=x";
    let names = [
        format!(r#"[{{"name":{0:?},"vmid":-1,"tags":{0:?},"node":"../..","storage":"-x"}}]"#, "y"),
        format!(
            "[{}]",
            serde_json::json!({ "name": hostile, "vmid": 1, "node": hostile,
            "tags": hostile, "storage": hostile, "volid": hostile, "type": "node", "local": 1 })
        ),
        serde_json::json!({ "items": [{ "metadata": { "name": hostile } }],
            "about": { "instanceUuid": hostile }, "id": hostile, "name": hostile, "count": "x",
            "contexts": [{ "name": hostile, "context": { "namespace": hostile } }] })
        .to_string(),
        serde_json::json!([hostile, "--all", "/x"]).to_string(),
    ];
    let fixed = ["", "null", "[]", "{}", "{", "0", "-1", "18446744073709551616", "\u{0}\u{1b}[2J"];
    let long = ["[".repeat(200_000), format!("\"{}\"", "y".repeat(1 << 20))];
    let all = fixed.map(str::to_owned).into_iter().chain(names).chain(long);
    let deployment = |site: &str| {
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Vsphere,
            connect: String::new(),
            site: site.to_owned(),
            pools: vec!["p".to_owned()],
            template: "t".to_owned(),
        });
        let token = "0123456789abcdef0123456789abcdef".to_owned();
        Deployment::new(&copies("a"), token, ground).placed(std::path::Path::new("/s/a"))
    };
    for what in all {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let provider = of(Box::new(Saying { what: what.clone(), asked: asked.clone() }));
        let made = deployment("s");
        let machine = &made.machines[0];
        let told = [
            provider.node().map(|_| ()),
            provider.room(Some("p"), std::path::Path::new("/s/a")).map(|_| ()),
            provider.refuse_taken("a-1"),
            provider.fits(&copies("a")).map(|_| ()),
            provider.devices(&made, machine).map(|_| ()),
            provider.act(&made, machine, MachineAct::Move, Some("q")).map(|_| ()),
            provider.remove(&made, machine),
            provider.clear(&made),
        ];
        for problem in told.into_iter().filter_map(Result::err) {
            let words = problem.to_string();
            let is_short = words.len() < 2_000 && !words.contains('\u{1b}');
            assert!(is_short, "{}", words.chars().take(300).collect::<String>());
        }
        assert!(!matches!(provider.state(&made, machine), State::Listening));
        provider.console(&made, machine);
        for call in asked.borrow().iter() {
            let is_safe = DESTRUCTIVE.iter().all(|word| !call.contains(word));
            assert!(is_safe, "{call} after {}", what.chars().take(100).collect::<String>());
        }
    }
}

/// A program that now and then fails or is cut off, before or after it did what it was asked.
struct Noisy<W> {
    inner: Stand<W>,
    random: RefCell<Rng>,
    /// Three of so many calls go wrong.
    rarely: u64,
}

impl<W: World> Runs for Noisy<W> {
    fn run(&self, words: &[&str], takes: Takes, feed: Feed<'_>) -> Outcome<String> {
        let mut random = self.random.borrow_mut();
        let fails = || Problem::tool("noise", "connection reset");
        match random.below(self.rarely) {
            0 => Err(fails()),
            1 => self.inner.run(words, takes, feed).and(Err(fails())),
            2 => self.inner.run(words, takes, feed).map(|told| {
                // An answer of nothing at all has a meaning of its own.
                let keeps = 1 + random.below(told.len().max(2) as u64 - 1) as usize;
                told.chars().take(keeps).collect()
            }),
            _ => self.inner.run(words, takes, feed),
        }
    }
}

/// Whatever fails in the middle, nobody else loses anything, and what is left is found and removed
/// when the provider answers again.
pub(crate) fn harms_nobody<W: World + Default + 'static>(
    of: &dyn Fn(Box<dyn Runs>) -> Box<dyn Provider>,
) {
    let mut outcomes = [0, 0];
    for seed in 0..30 {
        let world = Rc::new(RefCell::new(W::default()));
        world.borrow_mut().add_theirs("x-1");
        let before = (world.borrow().machines(), world.borrow().disks());
        let setting = Setting::new();
        let random = RefCell::new(Rng::new(seed));
        let (inner, rarely) = (Stand(world.clone()), 16 << (seed % 6));
        let noisy = of(Box::new(Noisy { inner, random, rarely }));
        let made = setting.make(&*noisy, &copies("a"), None);
        outcomes[usize::from(made.is_ok())] += 1;
        drop(made);
        let _ = setting.down(&*noisy, "a");
        let has_theirs = |of: &[String], all: &[String]| of.iter().all(|one| all.contains(one));
        assert!(has_theirs(&before.0, &world.borrow().machines()), "seed {seed}");
        assert!(has_theirs(&before.1, &world.borrow().disks()), "seed {seed}");
        if !setting.has_no_record() {
            let calm = of(Box::new(Stand(world.clone())));
            setting.down(&*calm, "a").unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        }
        let after = (world.borrow().machines(), world.borrow().disks());
        assert!(after == before && setting.has_no_record(), "seed {seed}: {after:?}");
    }
    // Both ways were gone.
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}
