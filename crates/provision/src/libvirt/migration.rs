//! A running domain moves to another libvirt: looked at on its way, and waited for.

use super::virsh::Virsh;
use crate::provider::{Acted, Look, Machine, Migrated};
use crate::{Outcome, Problem};
use model::{Bytes, Nanos};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Between the first looks at how far it is; each next one comes later, so that a migration of
/// hours is told in as many as one of seconds.
const FIRST: Duration = Duration::from_millis(250);
/// The most looks that are kept.
const MOST: usize = 16;

/// Moves a machine, and says how that went.
pub(super) fn migrate(from: &Virsh, machine: &Machine, to: &Virsh) -> Outcome<Acted> {
    let refused = |said: String| Problem::NotDone { machine: machine.name.clone(), said };
    if from.connect() == to.connect() {
        return Err(refused(format!("it is at {} already", to.connect())));
    }
    // A libvirt that does not answer is named before anything moves.
    to.hostname()?;
    let began = Instant::now();
    let since = || Nanos(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let (said, ended) = channel();
    let mut looks = Vec::new();
    let moved = thread::scope(|scope| {
        scope.spawn(move || said.send(from.migrate(&machine.uuid, to)));
        let mut pause = FIRST;
        loop {
            match ended.recv_timeout(pause) {
                Ok(moved) => return moved,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(refused("nobody waited for its end".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if looks.len() < MOST
                && let Some((sent, left)) = from.job(&machine.uuid)
            {
                looks.push(Look { after: since(), sent, left });
                pause = pause.mul_f64(1.5);
            }
        }
    });
    moved?;
    let took = since();
    let (downtime, sent) = to.came(&machine.uuid);
    let migrated = Some(Migrated { took, downtime, looks });
    Ok(Acted { disks: 0, copied: sent.unwrap_or(Bytes(0)), migrated })
}
