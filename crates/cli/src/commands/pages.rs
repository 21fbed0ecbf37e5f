//! Completions and man pages, from the arguments' own declaration.

use super::print;
use crate::args::Arguments;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completion script of a shell.
pub fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "plimsoll", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the main man page, or writes all of them into a directory.
pub fn man(directory: Option<&Path>) -> Result<ExitCode, Failure> {
    let failed = |error: std::io::Error| {
        Failure::Run(format!("error: the man page cannot be written: {error}; check the directory"))
    };
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(Arguments::command(), directory).map_err(failed)?;
            eprintln!("man pages {}", directory.display());
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page).map_err(failed)?;
            print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
