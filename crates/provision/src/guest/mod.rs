//! The guest of our own: a distribution's kernel, and in memory nothing but this program, its
//! libraries and the modules that its disks need.

mod cpio;
mod elf;
mod image;
mod init;
mod iso;
mod kernel;
mod line;
mod modules;

pub use image::{CloudImage, ImageFormat, Seed, write_program};
pub use init::{Init, Within, serve};
pub use kernel::Kernel;

use crate::inside::{LIBRARIES, MODULES, PROGRAM};
use crate::{Outcome, Problem};
use cpio::Archive;
use elf::Program;
use model::Bytes;
use model::machines::DiskBus;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// What machines boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guest {
    /// The guest of our own, with this kernel.
    Own(Kernel),
    /// A cloud image.
    Image(CloudImage),
    /// Nothing of ours: they are copies of an image that the provider has.
    Copies,
}

impl Guest {
    /// The file that they boot: a kernel, or an image; empty for copies.
    pub fn file(&self) -> &Path {
        match self {
            Guest::Own(kernel) => &kernel.image,
            Guest::Image(image) => &image.path,
            Guest::Copies => Path::new(""),
        }
    }
}

/// Writes the memory image of a guest whose disks are of these kinds, and says how large it is.
///
/// # Errors
/// The program, one of its libraries or a module cannot be read, or the image cannot be written.
pub fn write_image(to: &Path, kernel: &Kernel, buses: &[DiskBus]) -> Outcome<Bytes> {
    let own = Path::new("/proc/self/exe");
    let file = fs::read(own).map_err(|error| Problem::file("read", own, &error))?;
    let program = Program::read(&file).ok_or(Problem::StrangeProgram)?;
    let modules = modules::needed(kernel, buses)?;
    let mut files = BTreeMap::new();
    if let Some(loader) = &program.loader {
        let bytes =
            fs::read(loader).map_err(|error| Problem::file("read", Path::new(loader), &error))?;
        files.insert(loader.clone(), bytes);
        for (name, path) in libraries()? {
            let bytes = fs::read(&path).map_err(|error| Problem::file("read", &path, &error))?;
            files.insert(format!("{LIBRARIES}/{name}"), bytes);
        }
    }
    let program = program.without_names(&file);
    files.insert(PROGRAM.to_owned(), program);
    for (number, module) in modules.into_iter().enumerate() {
        files.insert(format!("{MODULES}/{number:03}-{}", module.name), module.bytes);
    }
    let written = write(to, &files).and_then(|()| fs::metadata(to));
    let written = written.map_err(|error| Problem::file("write", to, &error))?;
    Ok(Bytes(written.len()))
}

fn write(to: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let out = BufWriter::with_capacity(1 << 20, File::create_new(to)?);
    let mut archive = Archive::new(out);
    let mut folders: Vec<String> =
        ["dev", "proc", "sys", "tmp", "root"].map(str::to_owned).to_vec();
    for path in files.keys() {
        let parents = Path::new(path).ancestors().skip(1);
        let names = parents.map(|parent| parent.to_string_lossy().trim_matches('/').to_owned());
        folders.extend(names.filter(|name| !name.is_empty()));
    }
    // Sorted, a folder comes before what is in it.
    folders.sort();
    folders.dedup();
    folders.iter().try_for_each(|folder| archive.folder(folder))?;
    archive.console("dev/console")?;
    for (path, bytes) in files {
        let name = path.trim_start_matches('/');
        match path.starts_with(MODULES) {
            true => archive.file(name, bytes)?,
            false => archive.program(name, bytes)?,
        }
    }
    archive.finish().map(|_| ())
}

/// The libraries that this process has loaded, under every name by which a program may ask for
/// them.
fn libraries() -> Outcome<BTreeMap<String, PathBuf>> {
    let maps = Path::new("/proc/self/maps");
    let text = fs::read_to_string(maps).map_err(|error| Problem::file("read", maps, &error))?;
    let mut named = BTreeMap::new();
    for path in mapped(&text) {
        let Some(folder) = path.parent() else { continue };
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        // A library has the name that others ask for as a link beside it, if not as its own.
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_same = || entry.path().canonicalize().is_ok_and(|found| found == path);
            if name.contains(".so") && is_same() {
                named.insert(name, path.clone());
            }
        }
    }
    Ok(named)
}

/// The files of libraries in a list of what a process has in its memory.
fn mapped(maps: &str) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<PathBuf> = paths
        .map(PathBuf::from)
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.ends_with(".so") || name.contains(".so."))
        })
        .collect();
    libraries.sort();
    libraries.dedup();
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_process_are_found_by_their_names() {
        let maps = "5581-5582 r-xp 00000000 fe:00 12 /usr/bin/x\n\
                    7f00-7f01 r-xp 00000000 fe:00 13                 /usr/lib/libc.so.6\n\
                    7f01-7f02 r-xp 00000000 fe:00 13                 /usr/lib/libc.so.6\n\
                    7ffd-7ffe rw-p 00000000 00:00 0                  [stack]\n";
        assert_eq!(mapped(maps), [PathBuf::from("/usr/lib/libc.so.6")]);
        let own = libraries().expect("readable");
        let file = fs::read("/proc/self/exe").expect("ourselves");
        let is_dynamic = Program::read(&file).expect("a program").loader.is_some();
        assert_eq!(own.contains_key("libc.so.6"), is_dynamic, "{own:?}");
    }
}
