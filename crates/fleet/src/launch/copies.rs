//! Copies of the program that are under way, for whoever waits until they are there.

use model::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A copy that is under way.
#[derive(Clone, Debug)]
pub struct Copying {
    /// The host that takes it.
    pub host: String,
    /// What it took until now.
    pub taken: Bytes,
    /// How much it has to take.
    pub of: Bytes,
    /// For how long it is taking it.
    pub lasts: Duration,
}

/// The copies that this process has under way.
pub fn copying() -> Vec<Copying> {
    let copying = |copy: &Arc<Copy>| Copying {
        host: copy.host.clone(),
        taken: Bytes(copy.taken.load(Ordering::Relaxed)),
        of: copy.of,
        lasts: copy.since.elapsed(),
    };
    under_way().iter().map(copying).collect()
}

struct Copy {
    host: String,
    taken: Arc<AtomicU64>,
    of: Bytes,
    since: Instant,
}

static UNDER_WAY: Mutex<Vec<Arc<Copy>>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<Arc<Copy>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On the list as long as it is held.
pub(super) struct Listed(Arc<Copy>);

impl Listed {
    pub(super) fn new(host: &str, taken: Arc<AtomicU64>, of: Bytes) -> Listed {
        let copy = Arc::new(Copy { host: host.to_owned(), taken, of, since: Instant::now() });
        under_way().push(Arc::clone(&copy));
        Listed(copy)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        under_way().retain(|copy| !Arc::ptr_eq(copy, &self.0));
    }
}
