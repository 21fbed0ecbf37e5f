use super::*;
use std::io::{Read, Write};
use std::thread;

fn spec(forward: bool, backward: bool, most_bytes: u64) -> FlowSpec {
    FlowSpec {
        token: 7,
        streams: 2,
        forward,
        backward,
        setup_ns: 5_000_000_000,
        settle_ns: 20_000_000,
        window_ns: 200_000_000,
        most_bytes,
    }
}

fn on() -> GoesOn {
    Arc::new(|| true)
}

fn here() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

type Side = Result<FlowCounts, FlowFailure>;

/// What the side that connects counted, and the one that listens.
fn flow(ours: &FlowSpec, theirs: FlowSpec) -> (Side, Side) {
    let (listener, port) = listen(here()).expect("a port");
    let answers = thread::spawn(move || answer(listener, &theirs, "lo", &on()));
    let to = SocketAddr::new(here().ip(), port);
    let called = call(here().ip(), to, ours, "lo", &on());
    (called, answers.join().expect("no panic"))
}

#[test]
fn what_one_side_sends_the_other_receives() {
    let one_way = spec(true, false, 1_000_000);
    let (first, second) = flow(&one_way.clone(), one_way);
    let (first, second) = (first.expect("a flow"), second.expect("a flow"));
    assert_eq!((first.sent_bytes, first.received_bytes), (1_000_000, 0));
    assert_eq!(second.sent_bytes, 0);
    assert!(second.received_bytes <= 1_000_000 && second.window_ns > 0, "{second:?}");
    let both = spec(true, true, 1_000_000);
    let (first, second) = flow(&both.clone(), both);
    for side in [first, second] {
        let side = side.expect("a flow");
        assert!(side.sent_bytes == 1_000_000 && side.window_ns > 0, "{side:?}");
    }
}

#[test]
fn time_bounds_a_flow_where_bytes_do_not() {
    let endless = spec(true, false, u64::MAX);
    let (_, second) = flow(&endless.clone(), endless);
    let second = second.expect("a flow");
    assert_eq!(second.window_ns, 200_000_000);
    assert!(second.received_bytes > 0 && second.interface_received.is_some(), "{second:?}");
}

#[test]
fn a_stranger_gets_no_load_and_does_not_hold_up_the_partner() {
    let (listener, port) = listen(here()).expect("a port");
    let to = SocketAddr::new(here().ip(), port);
    let silent = TcpStream::connect(to).expect("it listens");
    let mut liar = TcpStream::connect(to).expect("it listens");
    liar.write_all(&[1; 64]).expect("open");
    let wanted = spec(true, true, 100_000);
    let theirs = wanted.clone();
    let answers = thread::spawn(move || answer(listener, &theirs, "lo", &on()));
    call(here().ip(), to, &wanted, "lo", &on()).expect("a flow");
    answers.join().expect("no panic").expect("a flow");
    drop(silent);
    let mut heard = Vec::new();
    // Cut off, with or without a reset; but no byte came.
    let _ = liar.read_to_end(&mut heard);
    assert!(heard.is_empty());
    let (first, second) = flow(
        &FlowSpec { setup_ns: 300_000_000, ..spec(true, false, 1_000) },
        FlowSpec { token: 8, setup_ns: 300_000_000, ..spec(true, false, 1_000) },
    );
    assert_eq!((first, second), (Err(FlowFailure::Stranger), Err(FlowFailure::TooFew(0))));
}

#[test]
fn one_that_listens_and_knows_no_token_gets_no_load() {
    let stranger = TcpListener::bind(here()).expect("a port");
    let to = stranger.local_addr().expect("bound");
    let echo = thread::spawn(move || {
        let (mut stream, _) = stranger.accept().expect("somebody");
        let mut greeting = [0; 33];
        stream.read_exact(&mut greeting).expect("a greeting");
        // The best that it can do without the token.
        stream.write_all(&greeting[..32]).expect("open");
        let mut more = Vec::new();
        stream.read_to_end(&mut more).map(|_| more.len())
    });
    let called = call(here().ip(), to, &spec(true, false, 1_000), "lo", &on());
    assert_eq!(called, Err(FlowFailure::Stranger));
    assert_eq!(echo.join().expect("no panic").unwrap_or(0), 0);
}

#[test]
fn nobody_there_is_refused_and_a_stop_ends_it() {
    let (listener, port) = listen(here()).expect("a port");
    drop(listener);
    let to = SocketAddr::new(here().ip(), port);
    let wanted = spec(true, false, 1_000);
    assert_eq!(call(here().ip(), to, &wanted, "lo", &on()), Err(FlowFailure::Refused));
    let off: GoesOn = Arc::new(|| false);
    assert_eq!(call(here().ip(), to, &wanted, "lo", &off), Err(FlowFailure::Stopped));
    let (listener, _) = listen(here()).expect("a port");
    assert_eq!(answer(listener, &wanted, "lo", &off), Err(FlowFailure::Stopped));
    let taken = listen("198.51.100.7:0".parse().expect("an address"));
    assert!(matches!(taken, Err(FlowFailure::NoListener(_))), "{taken:?}");
}
