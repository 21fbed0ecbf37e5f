//! Starts the agent of one host, and brings the program to it where it is not there.

use super::outcome::Missing;
use super::process::Started;
use super::script::{self, Answer, Refusal};
use super::{ANSWER, Binary, COPY, Process, Via, Wanted};
use crate::link::{Link, over};
use model::Bytes;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What is written to it at a time, in bytes: what a pipe takes.
const CHUNK: usize = 64 << 10;

/// What an agent is told in its start command.
pub(super) fn arguments(allow: &[String], is_relay: bool) -> Vec<String> {
    let mut arguments = vec!["agent".to_owned()];
    for path in allow {
        arguments.extend(["--allow".to_owned(), path.clone()]);
    }
    arguments.extend(is_relay.then(|| "--relay".to_owned()));
    arguments
}

pub(super) fn launch_one(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
) -> Result<(Link, Process), Missing> {
    let Started { process, input, output } = reach(wanted, binary, host, arguments)?;
    let Some(input) = input else {
        return Err("its agent does not listen; start again".to_owned().into());
    };
    let (link, _) = over(output, input);
    Ok((link, process))
}

/// Starts the program of a host, which greets as an agent does, and brings it there where it is
/// not.
pub(super) fn reach(
    wanted: &Wanted,
    binary: &Binary,
    host: &str,
    arguments: &[String],
) -> Result<Started, Missing> {
    for attempt in 0..2 {
        match ask(wanted, binary, host, arguments)? {
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
) -> Result<(Started, Answer), Missing> {
    let command = match (&wanted.agent, wanted.via.direct(arguments)) {
        (Some(path), _) => wanted.via.command(host, &script::start_at(path, arguments)),
        (None, Some(direct)) => direct,
        (None, None) => wanted.via.command(host, &script::start(&binary.hash, arguments)),
    };
    let started = Started::new(command).map_err(|error| cannot_start(&wanted.via, &error))?;
    let answer = started.expect(ANSWER, Answer::of);
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
    send(&wanted.via, wanted.via.command(host, &script), binary, COPY)
}

/// Bits that no other copy of a program has, here or elsewhere.
fn by_chance() -> u128 {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    half() << 64 | half()
}

/// Has `store` take the program from its standard input. It has so long for all of it: a host that
/// stands still holds nobody.
pub(super) fn send(
    via: &Via,
    store: Command,
    binary: &Binary,
    within: Duration,
) -> Result<(), Missing> {
    let failed = |why: String| {
        format!(
            "the program cannot be copied there: {why}; check its space and permissions, or name \
             a copy with --agent PATH"
        )
    };
    let mut started = Started::new(store).map_err(|error| cannot_start(via, &error))?;
    let mut file = File::open(&binary.path).map_err(|error| failed(error.to_string()))?;
    let taken = Arc::new(AtomicU64::new(0));
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
    let stored = started.expect(within, Answer::of).map_err(|why| {
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
