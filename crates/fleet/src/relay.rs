//! An agent that starts others and stands between them and whoever started it: passes orders down,
//! and up what they say.
//!
//! Orders go through it unread, so all that holds between coordinator and agent holds over a relay,
//! too: who falls silent, whose clock shows what, who gives whom up. What a relay adds is that it
//! tells who is gone below it, and that it puts what came meanwhile into one frame.
//!
//! A clock is asked over the whole way. The offsets of the steps would add up to the same offset,
//! and half their round trips, which bound their errors, to half of this one.

use crate::launch::{Agents, LastWords, Launched, Process, Start, Wanted, launch_some};
use crate::link::{Frame, Inlet, LinkError, Outlet};
use crate::tree::Tree;
use crate::wire::{FromAgent, ToAgent, Word};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

/// A frame is closed when it is longer than this, in bytes: a long one would hold up what comes
/// after it.
const LONG_FRAME: usize = 1 << 20;

/// Words that wait to be sent up, at most. Who listens below waits for room: that is all it does.
const MOST_WORDS: usize = 1_024;
/// Why a host is given up whose link has no room for an order.
pub(crate) const DOES_NOT_READ: &str =
    "it does not read what it is told, and as much as may waits for it";

/// Why a host is gone whose relay is. Why that one is gone is said of itself.
pub(crate) fn without(relay: &str) -> String {
    format!("its relay {relay} was lost")
}

/// What a relay below us says, as hosts of ours say it.
pub(crate) fn heard(
    tree: &Tree,
    branch: usize,
    frame: Frame,
) -> Result<Vec<(usize, Word)>, LinkError> {
    let host = |below| tree.host(branch, below).ok_or(LinkError::Garbled);
    match frame.read::<FromAgent>()? {
        FromAgent::Passed(words) => {
            words.into_iter().map(|(below, word)| Ok((host(Some(below))?, word))).collect()
        }
        _ => Ok(vec![(host(None)?, Word::Said(frame))]),
    }
}

/// What is to be said when a branch is gone: all its hosts are.
pub(crate) fn gone(tree: &Tree, branch: usize, relay: &str, why: &str) -> Vec<(usize, Word)> {
    let hosts = tree.branch(branch);
    let below = without(relay);
    let why = |place| if place == 0 { why } else { below.as_str() };
    let gone = |(place, host): (usize, &usize)| (*host, Word::Gone(why(place).to_owned()));
    hosts.iter().enumerate().map(gone).collect()
}

/// An order for a host of `tree`, as its branch is to get it.
pub(crate) fn order(tree: &Tree, host: usize, frame: Frame) -> Result<(usize, Frame), LinkError> {
    match tree.way(host).ok_or(LinkError::Closed)? {
        (branch, None) => Ok((branch, frame)),
        (branch, Some(below)) => Ok((branch, Frame::of(&ToAgent::Pass { below, frame })?)),
    }
}

/// What a link's end means, in words.
pub(crate) fn why(error: LinkError, words: Option<LastWords>) -> String {
    let why = match error {
        LinkError::Closed => "its connection ended",
        LinkError::Garbled => "what it sends cannot be read",
        LinkError::Full => DOES_NOT_READ,
    };
    match words.map(|words| words.wait()) {
        Some(words) if !words.is_empty() => format!("{why} ({words})"),
        _ => why.to_owned(),
    }
}

/// The branches that somebody started, and how to reach them.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    pub(crate) tree: Tree,
    /// The name of the first host of each.
    pub(crate) relays: Vec<String>,
    ends: Vec<End>,
}

/// One branch: its relay, or its only host.
#[derive(Debug)]
struct End {
    outlet: Option<Outlet>,
    process: Option<Process>,
}

impl Branches {
    /// The branches of these links, between hosts of these names, and what is heard on them.
    pub(crate) fn of(
        names: &[String],
        tree: Tree,
        links: Vec<(crate::link::Link, Option<Process>)>,
    ) -> (Branches, Vec<(Inlet, Option<LastWords>)>) {
        let relays = tree
            .branches()
            .map(|hosts| {
                hosts.first().and_then(|first| names.get(*first)).cloned().unwrap_or_default()
            })
            .collect();
        assert_eq!(links.len(), tree.branches().count(), "each branch has its link");
        let (mut ends, mut inlets) = (Vec::new(), Vec::new());
        for (branch, (link, process)) in links.into_iter().enumerate() {
            let (outlet, inlet) = link.split();
            let outlet = outlet.for_hosts(tree.branch(branch).len());
            inlets.push((inlet, process.as_ref().map(Process::words)));
            ends.push(End { outlet: Some(outlet), process });
        }
        (Branches { tree, relays, ends }, inlets)
    }

    /// Sends an order on its way to a host. `None` where nobody has to do with its branch any more.
    pub(crate) fn send(&self, host: usize, frame: Frame) -> Option<Result<(), LinkError>> {
        let (branch, frame) = match order(&self.tree, host, frame) {
            Ok(order) => order,
            Err(error) => return Some(Err(error)),
        };
        self.ends.get(branch)?.outlet.as_ref().map(|outlet| outlet.pass(frame))
    }

    /// Has nothing to do with a host any more. Comes back with the hosts that are cut off by that,
    /// itself left out, and the reason in words.
    pub(crate) fn part(&mut self, host: usize) -> Vec<(usize, String)> {
        match self.tree.way(host) {
            Some((branch, None)) => {
                if let Some(end) = self.ends.get_mut(branch) {
                    (end.outlet, end.process) = (None, None);
                }
                let why = without(self.relays.get(branch).map_or("", String::as_str));
                let below = self.tree.branch(branch).iter().skip(1);
                below.map(|host| (*host, why.clone())).collect()
            }
            Some((branch, Some(below))) => {
                let outlet = self.ends.get(branch).and_then(|end| end.outlet.as_ref());
                // If the branch is gone, so is the host. Who is below it, its relay says.
                let part = Frame::of(&ToAgent::Part { below });
                let _ = outlet.zip(part.ok()).map(|(outlet, part)| outlet.pass(part));
                Vec::new()
            }
            None => Vec::new(),
        }
    }
}

impl Drop for Branches {
    fn drop(&mut self) {
        // All at once; then each process is waited for, and they have ended meanwhile.
        self.ends.iter_mut().for_each(|end| end.outlet = None);
    }
}

/// The hosts below this agent.
#[derive(Debug)]
pub(crate) struct Relay {
    branches: Branches,
    up: SyncSender<Up>,
}

/// What came of starting others.
#[derive(Debug)]
pub(crate) struct Adopted {
    pub(crate) relay: Relay,
    pub(crate) starts: Vec<Start>,
    /// What those say that were started.
    pub(crate) words: Words,
}

/// What hosts below say, for [`collect`].
#[derive(Debug)]
pub(crate) struct Words(Receiver<Up>);

#[derive(Debug)]
enum Up {
    Word(u32, Word),
    End,
}

impl Relay {
    /// Starts the agents of these hosts, as far as they can be.
    pub(crate) fn adopt(wanted: &Wanted) -> Result<Adopted, Vec<Start>> {
        let launched = launch_some(wanted, &|_, _| {});
        let Launched { agents, starts } =
            launched.map_err(|errors| Start::in_vain(wanted, &errors))?;
        let Agents { names, tree, links, .. } = agents.closed_up();
        let links = links.into_iter().map(|(link, process)| (link, Some(process))).collect();
        let (branches, inlets) = Branches::of(&names, tree, links);
        let (up, words) = sync_channel(MOST_WORDS);
        for (branch, ((inlet, last), name)) in inlets.into_iter().zip(&branches.relays).enumerate()
        {
            let (tree, name, up) = (branches.tree.clone(), name.clone(), up.clone());
            thread::spawn(move || listen(&tree, branch, &name, inlet, last, &up));
        }
        Ok(Adopted { relay: Relay { branches, up }, starts, words: Words(words) })
    }

    /// Passes an order on. A host that is gone is told of otherwise; one that does not read is
    /// given
    /// up.
    pub(crate) fn pass(&mut self, below: u32, frame: Frame) {
        if self.branches.send(below as usize, frame) == Some(Err(LinkError::Full)) {
            let mut gone = vec![(below as usize, DOES_NOT_READ.to_owned())];
            gone.extend(self.branches.part(below as usize));
            self.tell(gone);
        }
    }

    /// Has nothing to do with a host any more.
    pub(crate) fn part(&mut self, below: u32) {
        let cut_off = self.branches.part(below as usize);
        self.tell(cut_off);
    }

    /// Says who is gone. Whoever reads our orders does not wait for room: that is another thread's.
    fn tell(&self, gone: Vec<(usize, String)>) {
        if gone.is_empty() {
            return;
        }
        let up = self.up.clone();
        // If nobody collects any more, this relay is gone itself.
        thread::spawn(move || {
            gone.into_iter()
                .all(|(host, why)| up.send(Up::Word(host as u32, Word::Gone(why))).is_ok())
        });
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Or who collects would hold the way up open.
        if let Err(TrySendError::Full(end)) = self.up.try_send(Up::End) {
            let up = self.up.clone();
            thread::spawn(move || up.send(end));
        }
    }
}

/// Takes what comes from a branch until it ends.
fn listen(
    tree: &Tree,
    branch: usize,
    name: &str,
    mut inlet: Inlet,
    last: Option<LastWords>,
    up: &SyncSender<Up>,
) {
    let error = loop {
        match inlet.frame().and_then(|frame| heard(tree, branch, frame)) {
            Ok(words) => {
                for (host, word) in words {
                    if up.send(Up::Word(host as u32, word)).is_err() {
                        return;
                    }
                }
            }
            Err(error) => break error,
        }
    };
    for (host, word) in gone(tree, branch, name, &why(error, last)) {
        // If nobody collects any more, this relay is gone itself.
        let _ = up.send(Up::Word(host as u32, word));
    }
}

/// Sends up what came, and all that came while the last frame was sent in one.
pub(crate) fn collect(words: &Words, out: &Outlet) {
    let Words(words) = words;
    let mut is_over = false;
    while !is_over && let Ok(Up::Word(host, word)) = words.recv() {
        let mut length = word.length();
        let mut frame = vec![(host, word)];
        while length < LONG_FRAME {
            match words.try_recv() {
                Ok(Up::Word(host, word)) => {
                    length += word.length();
                    frame.push((host, word));
                }
                Ok(Up::End) => {
                    is_over = true;
                    break;
                }
                Err(_) => break,
            }
        }
        // Those below wait with us, and the words of each hold up no other thing of this agent.
        if out.send_while(&FromAgent::Passed(frame), || true).is_err() {
            return;
        }
    }
}

impl Word {
    /// Its length on the wire, more or less, in bytes.
    fn length(&self) -> usize {
        match self {
            Word::Said(frame) => frame.length(),
            Word::Gone(why) => why.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::pair;
    use crate::wire::Outcome;
    use proptest::prelude::*;

    fn frame(message: &FromAgent) -> Frame {
        Frame::of(message).expect("short")
    }

    #[test]
    fn an_order_is_wrapped_once_for_each_relay_on_its_way_and_a_word_finds_its_host() {
        let stop = Frame::of(&ToAgent::Stop).expect("short");
        // Of 13 hosts, 8 is a relay of ours, and 11 one of its own.
        let (root, below) = (Tree::new(13, 3), Tree::new(4, 3));
        let (branch, first) = order(&root, 12, stop.clone()).expect("a host");
        assert_eq!(branch, 2);
        let Ok(ToAgent::Pass { below: number, frame }) = first.read() else { panic!("{first:?}") };
        let (branch, second) = order(&below, number as usize, frame).expect("a host");
        assert_eq!((number, branch), (3, 2));
        assert_eq!(second.read(), Ok(ToAgent::Pass { below: 0, frame: stop.clone() }));
        assert_eq!(order(&root, 8, stop.clone()), Ok((2, stop.clone())));
        assert_eq!(order(&root, 13, stop), Err(LinkError::Closed));

        let armed = self::frame(&FromAgent::Armed { stage: 1 });
        let passed = self::frame(&FromAgent::Passed(vec![(0, Word::Said(armed.clone()))]));
        let words = heard(&below, 2, passed).expect("of a host");
        assert_eq!(words, [(3, Word::Said(armed.clone()))]);
        let passed = self::frame(&FromAgent::Passed(vec![(3, words[0].1.clone())]));
        assert_eq!(heard(&root, 2, passed), Ok(vec![(12, Word::Said(armed))]));
    }

    #[test]
    fn words_of_hosts_that_are_not_there_are_none() {
        let tree = Tree::new(4, 2);
        for number in [1, u32::MAX] {
            let passed = frame(&FromAgent::Passed(vec![(number, Word::Gone(String::new()))]));
            assert_eq!(heard(&tree, 1, passed), Err(LinkError::Garbled));
        }
        assert_eq!(heard(&tree, 7, frame(&FromAgent::Armed { stage: 0 })), Err(LinkError::Garbled));
    }

    #[test]
    fn a_branch_that_is_gone_is_told_host_by_host() {
        let words = gone(&Tree::new(5, 2), 1, "n3", "no route");
        let without = || Word::Gone("its relay n3 was lost".to_owned());
        assert_eq!(words, [(2, Word::Gone("no route".to_owned())), (3, without()), (4, without())]);
    }

    #[test]
    fn what_came_meanwhile_goes_up_in_one_frame_in_its_order_unless_it_is_long() {
        let (ours, theirs) = pair();
        let ((out, _), (_, mut inlet)) = (ours.split(), theirs.split());
        let (up, words) = sync_channel(MOST_WORDS);
        let short = frame(&FromAgent::Armed { stage: 1 });
        let long = vec![crate::wire::Cleaned {
            target: String::new(),
            root: String::new(),
            outcome: Outcome::Nothing("x".repeat(LONG_FRAME)),
        }];
        let said = [
            (0, short.clone()),
            (7, short.clone()),
            (2, frame(&FromAgent::Cleaned(long))),
            (0, short),
        ];
        for (host, frame) in &said {
            up.send(Up::Word(*host, Word::Said(frame.clone()))).expect("open");
        }
        up.send(Up::End).expect("open");
        collect(&Words(words), &out);
        drop(out);
        let mut frames = Vec::new();
        while let Ok(FromAgent::Passed(words)) = inlet.receive() {
            frames.push(words);
        }
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
        let order: Vec<u32> = frames.iter().flatten().map(|(host, _)| *host).collect();
        assert_eq!(order, [0, 7, 2, 0]);
    }

    #[test]
    fn a_relay_with_no_room_upwards_holds_up_who_listens_below_and_not_who_hears_orders() {
        let (above, below) = (pair(), pair());
        let (up, words) = sync_channel(1);
        let links = vec![(below.0, None)];
        let (branches, mut inlets) = Branches::of(&["a".into()], Tree::new(1, 1), links);
        let mut relay = Relay { branches, up: up.clone() };
        let (mut said, _) = (below.1.split().0, inlets.len());
        let (inlet, _) = inlets.remove(0);
        let tree = Tree::new(1, 1);
        let listens = thread::spawn(move || listen(&tree, 0, "a", inlet, None, &up));
        said = said.with_room(3);
        let armed = || frame(&FromAgent::Armed { stage: 1 });
        // One waits to be collected, one to be put there, and three in the link.
        (0..3).for_each(|_| said.pass(armed()).expect("room"));
        said.send_while(&FromAgent::Armed { stage: 1 }, || true).expect("room");
        said.send_while(&FromAgent::Armed { stage: 1 }, || true).expect("room");
        assert_eq!(said.pass(armed()), Err(LinkError::Full), "and then the host itself waits");
        relay.part(0);
        drop((relay, said));
        let ((out, _), (_, mut inlet)) = (above.0.split(), above.1.split());
        let collects = thread::spawn(move || collect(&Words(words), &out));
        let mut heard = 0;
        while let Ok(FromAgent::Passed(words)) = inlet.receive() {
            heard += words.iter().filter(|(_, word)| matches!(word, Word::Said(_))).count();
        }
        collects.join().expect("no panic");
        listens.join().expect("no panic");
        assert!(heard <= 5);
    }

    #[test]
    fn a_host_below_that_does_not_read_is_given_up_with_the_reason() {
        let (ours, theirs) = pair();
        let (branches, _inlets) = Branches::of(&["a".into()], Tree::new(1, 1), vec![(ours, None)]);
        let (up, words) = sync_channel(MOST_WORDS);
        let mut relay = Relay { branches, up };
        let stop = || Frame::of(&ToAgent::Stop).expect("short");
        let end = &mut relay.branches.ends[0];
        end.outlet = end.outlet.take().map(|outlet| outlet.with_room(2));
        (0..4).for_each(|_| relay.pass(0, stop()));
        let Ok(Up::Word(0, Word::Gone(why))) = words.recv() else { panic!("nothing was said") };
        assert_eq!(why, DOES_NOT_READ);
        let (_, mut inlet) = theirs.split();
        assert_eq!((inlet.receive(), inlet.receive()), (Ok(ToAgent::Stop), Ok(ToAgent::Stop)));
        assert_eq!(inlet.receive::<ToAgent>(), Err(LinkError::Closed), "its link is closed");
    }

    proptest! {
        #[test]
        fn any_word_is_taken_without_a_panic(
            hosts in 0usize..20, fanout in 0usize..6, branch in 0usize..8,
                numbers in prop::collection::vec(any::<u32>(), 0..5),
        ) {
            let words = numbers.iter().map(|number| (*number, Word::Gone(String::new()))).collect();
            let tree = Tree::new(hosts, fanout);
            if let Ok(words) = heard(&tree, branch, frame(&FromAgent::Passed(words))) {
                prop_assert!(words.iter().all(|(host, _)| tree.branch(branch).contains(host)));
            }
        }
    }
}
