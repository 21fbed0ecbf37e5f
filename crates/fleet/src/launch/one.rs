//! Starts the agent of one host, and brings the program to it where it is not there.

use super::copies::Listed;
use super::outcome::Missing;
use super::process::Started;
use super::script::{self, Answer, Refusal};
use super::wanted::{Hold, by_chance};
use super::{ANSWER, Binary, COPY, Process, Via, Wanted};
use crate::link::{Link, over};
use crate::session::{self, Begins, Gone, Stream};
use model::Bytes;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What is written to it at a time, in bytes: what a pipe takes.
const CHUNK: usize = 64 << 10;

/// What an agent is told in its start command.
pub(super) fn arguments(wanted: &Wanted, host: usize, is_relay: bool) -> Vec<String> {
    let mut arguments = vec!["agent".to_owned()];
    let allow = wanted.allow.get(host).map_or(&[][..], Vec::as_slice);
    for path in allow {
        arguments.extend(["--allow".to_owned(), path.clone()]);
    }
    arguments.extend(is_relay.then(|| "--relay".to_owned()));
    if let (Some(hold), Some(host)) = (holding(wanted), wanted.hosts.get(host)) {
        arguments.extend(["--hold".to_owned(), format!("{}ns", hold.within.0)]);
        arguments.extend(["--held-as".to_owned(), hold.name_of(host)]);
    }
    arguments
}

/// How agents hold out that are started this way.
fn holding(wanted: &Wanted) -> Option<&Hold> {
    wanted.hold.as_ref()
}

/// The link to an agent that was just started. One that holds out is found again where its stream
/// breaks.
fn linked(wanted: &Wanted, binary: &Binary, host: &str, stream: Stream) -> Link {
    let Some(hold) = holding(wanted) else { return over(stream.reader, stream.writer).0 };
    let within = Duration::from_nanos(hold.within.0);
    let (link, session, _) = session::over(stream, within, Begins::New);
    session::keep_up(session, redial(wanted, binary, host, &hold.name_of(host)));
    link
}

/// Takes over the agent of a host that holds out: what it kept is heard again.
pub(super) fn take_over(wanted: &Wanted, binary: &Binary, host: &str) -> Result<Link, Missing> {
    let Some(hold) = holding(wanted) else {
        return Err("its agent was not told to hold out".to_owned().into());
    };
    let dial = redial(wanted, binary, host, &hold.name_of(host));
    let first = dial().map_err(|gone| match gone {
        Gone::ForGood => Missing::from("no agent of the run holds out there any more".to_owned()),
        Gone::ForNow => Missing::from("it cannot be reached".to_owned()),
    })?;
    let within = Duration::from_nanos(hold.within.0);
    let (link, session, _) = session::over(first, within, Begins::InPlaceOfAnother);
    session::keep_up(session, dial);
    Ok(link)
}

/// How another stream to an agent of this name is had, the same way as the first.
fn redial(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    name: &str,
) -> impl Fn() -> Result<Stream, Gone> + Send + use<> {
    let (wanted, binary, host) = (wanted.clone(), binary.clone(), host.to_owned());
    let arguments = ["agent", "--attach", name].map(str::to_owned);
    move || match ask(&wanted, &binary, &host, &arguments, &|| false) {
        Ok((Started { process, input: Some(input), output }, Answer::Agent { .. })) => {
            let (reader, writer) = (Box::new(output), Box::new(input));
            Ok(Stream { reader, writer, carrier: Box::new(process) })
        }
        Ok((_, Answer::Refused(Refusal::NotHeld))) => Err(Gone::ForGood),
        Ok(_) | Err(_) => Err(Gone::ForNow),
    }
}

/// Starts the agent of a host; it is waited for as long as it is not given up.
pub(super) fn launch_one(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
    is_given_up: &dyn Fn() -> bool,
) -> Result<(Link, Process), Missing> {
    let started = reach(wanted, binary, host, arguments, is_given_up)?;
    let Started { process, input, output } = started;
    let Some(input) = input else {
        return Err("its agent does not listen; start again".to_owned().into());
    };
    let stream =
        Stream { reader: Box::new(output), writer: Box::new(input), carrier: Box::new(()) };
    Ok((linked(wanted, binary, host, stream), process))
}

/// Starts the program of a host, which greets as an agent does, and brings it there where it is
/// not.
pub(super) fn reach(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
    is_given_up: &dyn Fn() -> bool,
) -> Result<Started, Missing> {
    for attempt in 0..2 {
        match ask(wanted, binary, host, arguments, is_given_up)? {
            (started, Answer::Agent { protocol, version, hash }) => {
                let is_copied = wanted.agent.is_none() && !wanted.via.has_program();
                if is_copied && hash != binary.hash && attempt == 0 {
                    // Somebody changed the copy; it gets one more chance.
                    drop(started);
                    copy(wanted, binary, host)?;
                    continue;
                }
                check(wanted, binary, protocol, &version, &hash)?;
                return Ok(started);
            }
            (_, Answer::Missing { system }) if !script::runs_here(&system) => {
                return Err(format!(
                    "runs {system}, and this program is for Linux on {}; put a program for it \
                     there and name it with --agent PATH",
                    std::env::consts::ARCH
                )
                .into());
            }
            (started, Answer::Refused(refusal)) => {
                return Err(refused(&refusal, started).into());
            }
            (started, Answer::Missing { .. } | Answer::Stored) => {
                drop(started);
                copy(wanted, binary, host)?;
            }
        }
    }
    Err("lacks the program although it was copied there; put it there yourself and name it with \
         --agent PATH"
        .to_owned()
        .into())
}

fn ask(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
    is_given_up: &dyn Fn() -> bool,
) -> Result<(Started, Answer), Missing> {
    let command = match (&wanted.agent, wanted.via.direct(host, arguments)) {
        (Some(path), _) => wanted.via.command(host, &script::start_at(path, arguments)),
        (None, Some(direct)) => direct,
        (None, None) => wanted.via.command(host, &script::start(&binary.hash, arguments)),
    };
    let started = Started::new(command).map_err(|error| cannot_start(&wanted.via, &error))?;
    let answer = started.expect_unless(ANSWER, is_given_up, Answer::of);
    answer.map_err(|why| {
        let remedy = match &wanted.agent {
            Some(path) => {
                format!(
                    "check that {} is plimsoll there (--agent), and that the host is reached",
                    path.display()
                )
            }
            None => wanted.via.remedy(host),
        };
        Missing::on_the_way(format!("no agent could be started: {why}"), Some(remedy), &why)
    })
}

/// Whether an agent is one of ours.
fn check(
    wanted: &Wanted,
    binary: &Binary,
    protocol: u32,
    version: &str,
    hash: &str,
) -> Result<(), String> {
    if !Answer::speaks(protocol) || version != wanted.version {
        let ours = &wanted.version;
        return Err(format!(
            "its agent is version {version}, and this is {ours}; put the same version there"
        ));
    }
    let is_copied = wanted.agent.is_none() && !wanted.via.has_program();
    if is_copied && hash != binary.hash {
        let what = "its copy of the program is not what was sent there";
        return Err(format!(
            "{what}; remove it with `plimsoll clean --hosts`, and look who else writes there"
        ));
    }
    Ok(())
}

pub(super) fn cannot_start(via: &Via, error: &std::io::Error) -> String {
    format!("{} cannot be started: {error}; install it here", via.name())
}

/// Why a host starts nothing, with what it wrote to its standard error.
pub(super) fn refused(refusal: &Refusal, started: Started) -> String {
    let Started { mut process, input, .. } = started;
    drop(input);
    process.finish(ANSWER);
    refusal.words(&process.words().wait())
}

/// Brings the program to a host. It is there whole or not at all.
pub(super) fn copy(wanted: &Wanted, binary: &Binary, host: &str) -> Result<(), Missing> {
    let script = script::store(&binary.hash, &script::part_name(host, by_chance()));
    let to = Copied { via: &wanted.via, host, within: COPY };
    send(&to, wanted.via.command(host, &script), binary)
}

/// Where the program is copied to, and how long that may take.
pub(super) struct Copied<'a> {
    pub(super) via: &'a Via,
    pub(super) host: &'a str,
    pub(super) within: Duration,
}

/// Has `store` take the program from its standard input. It has so long for all of it: a host that
/// stands still holds nobody.
pub(super) fn send(to: &Copied<'_>, store: Command, binary: &Binary) -> Result<(), Missing> {
    let failed = |why: String| {
        format!(
            "the program cannot be copied there: {why}; check its space and permissions, or name \
             a copy with --agent PATH"
        )
    };
    let mut started = Started::new(store).map_err(|error| cannot_start(to.via, &error))?;
    let mut file = File::open(&binary.path).map_err(|error| failed(error.to_string()))?;
    let taken = Arc::new(AtomicU64::new(0));
    let _listed = Listed::new(to.host, Arc::clone(&taken), Bytes(binary.length));
    if let Some(mut input) = started.input.take() {
        let taken = taken.clone();
        // Writing blocks, so another thread does it; if it is too late, the process is ended, and
        // the thread with it. If it breaks off, the host says why. The end of its input tells it
        // that this is all.
        thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Ok(read @ 1..) = file.read(&mut chunk) {
                if input.write_all(&chunk[..read]).is_err() {
                    return;
                }
                taken.fetch_add(read as u64, Ordering::Relaxed);
            }
        });
    }
    let stored = started.expect(to.within, Answer::of).map_err(|why| {
        let taken = Bytes(taken.load(Ordering::Relaxed));
        let what = failed(format!("{why}; it took {taken} of {}", Bytes(binary.length)));
        Missing::on_the_way(what, None, &why)
    });
    match stored? {
        (started, Answer::Refused(refusal)) => Err(refused(&refusal, started).into()),
        (mut started, _) => {
            started.process.finish(ANSWER);
            Ok(())
        }
    }
}
