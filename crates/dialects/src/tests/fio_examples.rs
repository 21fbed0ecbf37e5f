//! fio's own examples, where they are installed: every option is classified, and what is imported
//! whole is planned.

use crate::{Class, Dialect, World, import};
use std::path::PathBuf;

/// Where distributions put them; `FIO_EXAMPLES` names another folder.
const INSTALLED: &str = "/usr/share/doc/fio/examples";

fn variable(name: &str) -> Option<String> {
    let value = match name {
        "FIO_RW" => "randread",
        "FIO_BS" => "4k",
        "FIO_IODEPTH" => "1",
        "FIO_DIR" => "/mnt/x",
        _ => return None,
    };
    Some(value.to_owned())
}

#[test]
fn the_examples_of_fio_are_imported_or_say_why_not() {
    let folder = PathBuf::from(std::env::var("FIO_EXAMPLES").unwrap_or(INSTALLED.to_owned()));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there; FIO_EXAMPLES names another one", folder.display());
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "fio"));
    paths.sort();
    let (mut whole, mut options, mut unplanned) = (0, 0, Vec::new());
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("a text");
        let file = |name: &str| {
            std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())
        };
        let world = World { file: &file, variable: &variable };
        let import = import(&name, &text, Some(Dialect::Fio), &world).expect("a job file");
        options += import.options.len();
        for told in &import.options {
            assert!(!told.why.is_empty(), "{name}: {} has no reason", told.name);
            let is_unknown = told.why.contains("no such option");
            assert!(!is_unknown, "{name}: {} is in no table", told.name);
        }
        let refused: Vec<String> = import
            .refused()
            .map(|told| format!("{}={} ({})", told.name, told.value, told.why))
            .collect();
        let plans: Vec<_> =
            import.suites.iter().map(|suite| super::common::planned(&suite.text)).collect();
        match refused.is_empty() {
            true => whole += 1,
            false => eprintln!("refused {name}: {}", refused.join("; ")),
        }
        for (plan, suite) in plans.into_iter().zip(&import.suites) {
            if let Err(why) = plan {
                eprintln!("  not planned: {why}");
                if refused.is_empty() {
                    unplanned.push(format!("{name}: {why}\n{}", suite.text));
                }
            }
        }
        let near = import.options.iter().filter(|told| told.class == Class::Approximated).count();
        if refused.is_empty() {
            eprintln!("whole   {name} ({near} of {} approximated)", import.options.len());
        }
    }
    eprintln!("{whole} of {} examples whole, {options} options classified", paths.len());
    assert!(unplanned.is_empty(), "{}", unplanned.join("\n"));
}
