//! Ctrl-C once: stop, keep, report the part. Twice: out at once.

use fleet::Interrupter;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Turns the signals of this process into an interrupt of the run, and the second one into an exit.
///
/// Without it a signal just ends the process: nothing that was recorded is lost, but nothing is reported either.
pub fn watch(interrupter: Interrupter) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count > 0 {
                eprintln!("\nstopped at once; what was recorded can be seen with `plimsoll show RUN`");
                std::process::exit(130);
            }
            eprintln!("\nstopping: what was measured is kept (once more to leave at once)");
            interrupter.interrupt();
        }
    });
}
