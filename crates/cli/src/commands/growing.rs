//! Runs whose plan grows: each further point follows from those that were measured.

use super::events_of_run::{is_worth_a_record, show_live};
use super::views::Views;
use crate::failure::Failure;
use crate::terminal::view::View;
use crate::told;
use analysis::loadline::axis::next_value;
use analysis::loadline::map::next_cell;
use analysis::loadline::next_rate_milli;
use analysis::rate_shares::carried_milli;
use analysis::rounds;
use analysis::warm::Warmth;
use fleet::Director;
use live::terminal::Live;
use model::search::{Addition, SearchAxis};
use model::{Event, Record};

/// Keeps the run, shows it, and decides each point by those before it.
pub(super) struct Growing<'a> {
    pub(super) writer: store::Writer,
    pub(super) view: Option<View>,
    pub(super) views: &'a mut Views,
    pub(super) live: Live,
    pub(super) record: Record,
    pub(super) warmth: Warmth,
    pub(super) began: bool,
}

impl Growing<'_> {
    /// Closes the run file. What is shown now is for the terminal as it was. The flag says whether
    /// any stage began.
    pub(super) fn finish(self) -> Result<bool, Failure> {
        drop(self.view);
        self.writer.finish().map_err(Failure::run)?;
        Ok(self.began)
    }
}

impl Director for Growing<'_> {
    fn record(&mut self, events: &[Event]) -> Result<(), String> {
        let told = told::with_figures(&self.record.plan, events);
        let events = told.as_deref().unwrap_or(events);
        self.began |= events.iter().any(is_worth_a_record);
        events.iter().for_each(|event| show_live(&mut self.view, &mut self.live, event));
        self.writer.append_all(events).map_err(|error| error.to_string())?;
        for event in events {
            self.warmth.take(&self.record.plan, event);
            self.record.apply(event.clone());
            self.views.event(&self.record.plan, event);
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Addition> {
        let plan = &self.record.plan;
        if plan.rounds.most > 0 {
            return rounds::goes_on(&self.record).then(|| plan.next_in_rounds())?;
        }
        let Some(search) = &plan.search else {
            return plan.at_share(&carried_milli(&self.record, plan.next_share()?.of)?);
        };
        match search.along {
            SearchAxis::Rate => plan.at_rate(next_rate_milli(&self.record)?),
            SearchAxis::Depth | SearchAxis::Size | SearchAxis::Workers => {
                plan.at(next_value(&self.record)?)
            }
            SearchAxis::Map => plan.at_cell(next_cell(&self.record)?),
        }
    }

    fn is_steady(&mut self, rounds: &[f64]) -> bool {
        self.warmth.is_settled(rounds)
    }
}
