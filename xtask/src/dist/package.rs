//! What others' programs pack: their tables stand in `crates/cli/Cargo.toml`.

use super::VERSION;
use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::Command;

/// A form of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// Of Debian and Ubuntu.
    Deb,
    /// Of Fedora, RHEL and SUSE.
    Rpm,
    /// An archive to unpack at `/`; the `Containerfile` takes it, too.
    Tar,
}

impl Package {
    /// Its file's name, as its own world writes it.
    pub fn name(self, target: &Target) -> String {
        match self {
            Package::Deb => format!("plimsoll_{VERSION}_{}.deb", target.of_debian()),
            Package::Rpm => format!("plimsoll-{VERSION}-1.{}.rpm", target.processor),
            Package::Tar => format!("plimsoll-{VERSION}-{}.tar.gz", target.triple),
        }
    }

    /// Whether what packs it is installed, asked before minutes of compiling.
    ///
    /// # Errors
    /// It is not.
    pub fn can_be_made(&self) -> Outcome<()> {
        let (program, version) = match self {
            Package::Deb => ("cargo-deb", "3.8.0"),
            Package::Rpm => ("cargo-generate-rpm", "0.21.1"),
            Package::Tar => return Ok(()),
        };
        let remedy = format!("cargo install {program} --version {version} --locked");
        let missing = format!("{program} is missing, which writes the package; `{remedy}`");
        shell::which(program).map(drop).ok_or(missing)
    }

    /// Packs what is `staged` into `file`.
    ///
    /// # Errors
    /// The program that packs says no.
    pub fn write(self, staged: &Path, file: &Path, target: &Target, epoch: &str) -> Outcome<()> {
        let mut command = match self {
            Package::Deb => {
                let mut cargo = shell::cargo();
                cargo.args(["deb", "--package", "cli", "--locked", "--no-build", "--no-strip"]);
                cargo.args(["--target", &target.triple, "--output"]).arg(file);
                cargo
            }
            Package::Rpm => {
                let mut cargo = shell::cargo();
                cargo.args(["generate-rpm", "--package", "crates/cli", "--auto-req", "disabled"]);
                cargo.args(["--target", &target.triple, "--source-date", epoch, "--target-dir"]);
                cargo.arg(shell::target_dir()?).arg("--output").arg(file);
                cargo
            }
            Package::Tar => {
                let mut tar = Command::new("tar");
                tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
                tar.args([
                    "--format=ustar",
                    "--mode=u=rwX,go=rX",
                    "--use-compress-program=gzip -n9",
                ]);
                tar.arg(format!("--mtime=@{epoch}")).arg("--directory").arg(staged);
                tar.arg("--create").arg("--file").arg(file).arg("usr");
                tar
            }
        };
        shell::capture(command.env("SOURCE_DATE_EPOCH", epoch)).map(drop)
    }

    /// Packs it again beside the first, and holds the two together.
    ///
    /// # Errors
    /// They differ, or it cannot be packed.
    pub fn same_again(
        self,
        staged: &Path,
        first: &Path,
        target: &Target,
        epoch: &str,
    ) -> Outcome<()> {
        let again = shell::target_dir()?.join("dist-again").join(self.name(target));
        self.write(staged, &again, target, epoch)?;
        shell::same(first, &again)?;
        println!("again    {} is the same to the last bit", again.display());
        Ok(())
    }
}
