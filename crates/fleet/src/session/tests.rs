use super::*;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;

const LONG: Duration = Duration::from_secs(600);

/// Both ends of a stream, and what breaks it.
fn streams() -> (Stream, Stream, [UnixStream; 2]) {
    let (left, right) = UnixStream::pair().expect("sockets");
    let stream = |end: &UnixStream| Stream {
        reader: Box::new(end.try_clone().expect("a socket")),
        writer: Box::new(end.try_clone().expect("a socket")),
        carrier: Box::new(()),
    };
    (stream(&left), stream(&right), [left, right])
}

fn cut(ends: &[UnixStream; 2]) {
    ends.iter().for_each(|end| end.shutdown(std::net::Shutdown::Both).expect("connected"));
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let by = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < by, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_is_said_over_streams_that_break_arrives_once_and_in_order() {
    let (ours, theirs, ends) = streams();
    let (left, ours, _) = over(ours, LONG, Begins::New);
    let (right, theirs, _) = over(theirs, LONG, Begins::Held);
    let (out, _) = left.split();
    let (_back, mut inlet) = right.split();
    let (said, heard) = channel();
    let reader = thread::spawn(move || {
        while let Ok(number) = inlet.receive::<u32>() {
            said.send(number).expect("somebody listens");
        }
    });
    let mut ends = ends;
    for round in 0..20u32 {
        (0..50u32).for_each(|number| out.send(&(round * 50 + number)).expect("room"));
        cut(&ends);
        wait_until("both notice", || ours.lock().since.is_some() && theirs.lock().since.is_some());
        out.send(&(1_000_000 + round)).expect("it is kept");
        let (new, other, more) = streams();
        ours.go_on_over(new);
        theirs.go_on_over(other);
        ends = more;
    }
    drop(out);
    reader.join().expect("no panic");
    let heard: Vec<u32> = heard.iter().collect();
    let all =
        |round: u32| (0..50).map(move |number| round * 50 + number).chain([1_000_000 + round]);
    assert_eq!(heard, (0..20).flat_map(all).collect::<Vec<u32>>());
}

#[test]
fn who_takes_over_hears_what_was_kept_and_the_other_nothing_more() {
    let (first, agent, _ends) = streams();
    let (link, session, _) = over(first, LONG, Begins::New);
    let (agents, held, _) = over(agent, LONG, Begins::Held);
    let (out, mut orders) = agents.split();
    let (ours, mut heard) = link.split();
    ours.send(&77u32).expect("room");
    assert_eq!(orders.receive::<u32>(), Ok(77), "what it took of another is no matter");
    (0..10u32).for_each(|number| out.send(&number).expect("room"));
    (0..10u32).for_each(|number| assert_eq!(heard.receive::<u32>(), Ok(number)));
    wait_until("its sign of that", || held.lock().kept.first() == 0 && session.lock().told > 0);
    let (second, again, _more) = streams();
    let (link, _, _) = over(second, LONG, Begins::InPlaceOfAnother);
    held.go_on_over(again);
    out.send(&10u32).expect("room");
    let (theirs, mut anew) = link.split();
    (0..=10u32).for_each(|number| assert_eq!(anew.receive::<u32>(), Ok(number)));
    theirs.send(&78u32).expect("room");
    assert_eq!(orders.receive::<u32>(), Ok(78));
}

#[test]
fn a_session_ends_with_a_farewell_or_when_nobody_comes_back() {
    let (ours, theirs, _ends) = streams();
    let (left, _, _) = over(ours, LONG, Begins::New);
    let (right, _, thread) = over(theirs, LONG, Begins::Held);
    drop(left);
    let (_out, mut inlet) = right.split();
    assert_eq!(inlet.receive::<u32>(), Err(LinkError::Closed));
    thread.join().expect("no panic");
    let (ours, theirs, ends) = streams();
    let (left, _, thread) = over(ours, Duration::ZERO, Begins::New);
    let (_right, _, _) = over(theirs, LONG, Begins::Held);
    cut(&ends);
    let (out, mut inlet) = left.split();
    assert_eq!(inlet.receive::<u32>(), Err(LinkError::Closed));
    thread.join().expect("no panic");
    wait_until("nobody takes it", || out.send(&1u32) == Err(LinkError::Closed));
}

#[test]
fn an_agent_is_found_by_its_name_by_its_user_alone_and_goes_on_over_what_it_was_found_by() {
    let name = format!("test-{}-{:p}", std::process::id(), &LONG);
    assert_eq!(attach(&name).map(drop), Err(AttachError::NotHeld));
    let (ours, theirs, ends) = streams();
    let (left, ours, _) = over(ours, LONG, Begins::New);
    let (right, theirs, _) = over(theirs, LONG, Begins::Held);
    listen(&name, theirs).expect("a name");
    cut(&ends);
    keep_up(ours, move || {
        let stream = attach(&name).map_err(|_| Gone::ForNow)?;
        let reader = Box::new(stream.try_clone().map_err(|_| Gone::ForNow)?);
        Ok(Stream { reader, writer: Box::new(stream), carrier: Box::new(()) })
    });
    let ((out, _inlet), (_out, mut inlet)) = (left.split(), right.split());
    out.send(&7u32).expect("it is kept");
    assert_eq!(inlet.receive::<u32>(), Ok(7));
}

#[test]
fn what_no_partner_says_ends_a_session_and_takes_no_memory() {
    for garbage in [
        [0, 9, 0].map(u64::to_le_bytes).concat(),
        Greeting::TO_ANOTHER.bytes(),
        [&[0; 24][..], &(u32::MAX - 1).to_le_bytes(), &[0; 8]].concat(),
        [&[0; 24][..], &0u32.to_le_bytes(), &7u64.to_le_bytes()].concat(),
    ] {
        let (ours, _theirs, [_, mut raw]) = streams();
        let (link, _, _) = over(ours, LONG, Begins::New);
        let (_out, mut inlet) = link.split();
        raw.write_all(&garbage).expect("room");
        assert_eq!(inlet.receive::<u32>(), Err(LinkError::Closed));
    }
}

#[test]
fn who_was_relieved_is_not_taken_up_again_and_hears_so() {
    let name = format!("relieved-{}-{:p}", std::process::id(), &LONG);
    let (first, agent, ends) = streams();
    let (link, first, _) = over(first, LONG, Begins::New);
    let (_agent, held, _) = over(agent, LONG, Begins::Held);
    wait_until("the first greeting", || held.lock().owner.is_some());
    listen(&name, held).expect("a name");
    let dial = |name: String| {
        move || {
            let stream = attach(&name).map_err(|_| Gone::ForNow)?;
            let reader = Box::new(stream.try_clone().map_err(|_| Gone::ForNow)?);
            Ok(Stream { reader, writer: Box::new(stream), carrier: Box::new(()) })
        }
    };
    let stream = dial(name.clone())().expect("it is held");
    let (other, second, _) = over(stream, LONG, Begins::InPlaceOfAnother);
    wait_until("it is taken over", || second.lock().is_greeted);
    cut(&ends);
    keep_up(first, dial(name));
    let (_out, mut inlet) = link.split();
    assert_eq!(inlet.receive::<u32>(), Err(LinkError::Closed));
    assert!(!second.is_over());
    drop(other);
}
