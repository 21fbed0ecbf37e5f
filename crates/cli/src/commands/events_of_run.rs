//! What is done with each event of a run: shown, and worth a run file or not.

use crate::terminal::view::{News, View};
use live::terminal::Live;
use model::{Event, NoteKind};

/// Whether the run file is kept for it: a stage began. A target that hangs before the load begins
/// is worth a record, too.
pub(crate) fn is_worth_a_record(event: &Event) -> bool {
    match event {
        Event::StageStarted { .. } => true,
        Event::Note(note) => note.kind() == NoteKind::Stuck,
        _ => false,
    }
}

pub(crate) fn show_live(view: &mut Option<View>, live: &mut Live, event: &Event) {
    if view.as_ref().is_some_and(|view| !view.show(News::Event(Box::new(event.clone())))) {
        // It was left; the run goes on and says so in lines.
        *view = None;
        live.go_on_in_lines();
    }
    live.event(event);
}
