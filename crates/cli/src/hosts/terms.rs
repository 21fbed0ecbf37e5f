//! On which terms hosts are started: how long they are waited for, and what becomes of the others
//! where some are not there.

use model::Nanos;
use model::choices::OnLostHost;
use model::plan::FleetPolicy;
use model::units::Percent;
use suite::FleetSpec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// Nothing is done without all.
    Refused,
    /// The others do without, if so many are there.
    LeftOut(Least),
    /// The same; but the absent keep their numbers, and may come in later.
    Kept(Least),
    /// The same, as long as those that are there show what is to be presumed of them.
    Awaited(Least),
}

/// How many have to be there at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    Share(Percent),
    Count(u32),
}

impl Least {
    pub(crate) const ONE: Least = Least::Count(1);

    pub(super) fn of(self, asked: usize) -> u128 {
        let least = match self {
            Least::Share(share) => (asked as u128 * u128::from(share.ppm)).div_ceil(1_000_000),
            Least::Count(count) => u128::from(count),
        };
        least.max(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) lost_after: Nanos,
    /// Agents hold out for so long without a connection; 0 is not at all.
    pub(crate) hold: Nanos,
    pub(crate) start_within: Nanos,
    pub(crate) absence: Absence,
}

impl Terms {
    pub(crate) fn of(fleet: &FleetSpec) -> Terms {
        let absence = match fleet.on_lost_host.value {
            OnLostHost::Abort => Absence::Refused,
            OnLostHost::Continue => Absence::LeftOut(Least::Share(fleet.quorum.value)),
        };
        let (hold, start_within) = (fleet.hold.value, fleet.start_within.value);
        Terms { lost_after: fleet.lost_after.value.max(hold), hold, start_within, absence }
    }

    pub(crate) fn of_plan(fleet: &FleetPolicy) -> Terms {
        let absence = match fleet.on_lost_host {
            OnLostHost::Abort => Absence::Refused,
            OnLostHost::Continue => Absence::Kept(Least::Count(fleet.quorum)),
        };
        let (lost_after, hold) = (fleet.silence(), fleet.hold);
        Terms { lost_after, hold, start_within: Nanos::seconds(5), absence }
    }

    pub(crate) fn look(lost_after: Nanos, absence: Absence) -> Terms {
        Terms { lost_after, hold: Nanos(0), start_within: Nanos(0), absence }
    }

    pub(super) fn are_enough(self, there: usize, of: usize) -> bool {
        match self.absence {
            Absence::Refused => there == of,
            Absence::LeftOut(least) | Absence::Kept(least) | Absence::Awaited(least) => {
                there as u128 >= least.of(of)
            }
        }
    }

    /// The same where whoever is absent may join between points.
    pub(crate) fn with_late_joiners(self) -> Terms {
        match self.absence {
            Absence::LeftOut(least) => Terms { absence: Absence::Awaited(least), ..self },
            _ => self,
        }
    }
}
