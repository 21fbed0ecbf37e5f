//! Why machines cannot be made, reached or removed, each with its remedy.

use model::{Bytes, Nanos};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why something of machines was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The hypervisor's program is not here.
    NoProgram {
        /// Its name.
        program: String,
        /// The package of Debian that has it.
        package: &'static str,
    },
    /// No kernel for guests is here.
    NoKernel,
    /// A file that was named as a kernel is none, or its modules are not here.
    NotAKernel {
        /// The file.
        path: PathBuf,
    },
    /// A file that was named as a guest's image is none.
    NoImage {
        /// The file.
        path: PathBuf,
        /// Why not, with a remedy.
        why: &'static str,
    },
    /// This provider starts no guests from images.
    NoImagesHere,
    /// A module that guests need is not here.
    NoModule {
        /// Its name.
        module: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Something packed cannot be unpacked.
    Unpack {
        /// The file.
        path: PathBuf,
        /// What unpacks it.
        program: &'static str,
        /// Why not.
        why: String,
    },
    /// This program's own file is not one for 64-bit Linux.
    StrangeProgram,
    /// The machines need more memory than there is.
    Memory {
        /// What they need.
        needed: Bytes,
        /// What programs could still take.
        available: Bytes,
    },
    /// A guest does not fit into the memory of its machine.
    SmallMemory {
        /// What it needs at least to start.
        needed: Bytes,
        /// What each machine is to have.
        memory: Bytes,
    },
    /// The disks need more space than there is.
    Space {
        /// What they need.
        needed: Bytes,
        /// What is free.
        free: Bytes,
        /// Where.
        folder: PathBuf,
    },
    /// Machines of this name are ours and still there.
    NameInUse {
        /// The name.
        name: String,
    },
    /// A machine of somebody else has the name.
    NameOfOthers {
        /// The name.
        name: String,
        /// What it is: a process, a domain.
        what: String,
    },
    /// A program of the hypervisor failed.
    Tool {
        /// The program with its arguments.
        call: String,
        /// What it said.
        said: String,
    },
    /// A program of the hypervisor does not end.
    Hangs {
        /// The program with its arguments.
        call: String,
        /// How long it had.
        within: Nanos,
    },
    /// The provider has no such pool of disks.
    NoPool {
        /// The pool.
        pool: String,
        /// What to write.
        remedy: &'static str,
    },
    /// The provider cannot make such machines.
    Unfit {
        /// What it cannot.
        what: String,
        /// What to do instead.
        remedy: String,
    },
    /// The hypervisor did not do what was asked while a machine ran.
    NotDone {
        /// The machine.
        machine: String,
        /// What it said.
        said: String,
    },
    /// These machines are none of the deployment's.
    NoMachine {
        /// The name that is not there.
        machine: String,
        /// The deployment.
        name: String,
    },
    /// Something went wrong at a node.
    AtNode {
        /// The node.
        node: String,
        /// What, with its remedy.
        said: String,
    },
    /// Another process makes or uses these machines just now.
    Busy {
        /// Their name.
        name: String,
    },
    /// A program that somebody started for these machines has not ended.
    StillWorking {
        /// Their name.
        name: String,
        /// Its process.
        pid: i32,
    },
    /// There are no machines of this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// Something stands where our files would, and is not ours.
    NotOurs {
        /// The place.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Neither `XDG_STATE_HOME` nor `HOME` names a folder.
    Homeless,
    /// The path of a socket is longer than the kernel allows.
    LongPath {
        /// The path.
        path: PathBuf,
    },
    /// The hypervisor did not start a machine.
    NotStarted {
        /// The machine.
        machine: String,
        /// What it said.
        said: String,
    },
    /// A machine ended before its agent listened.
    Ended {
        /// The machine.
        machine: String,
        /// The last lines of its console.
        console: String,
    },
    /// A machine's agent does not listen in time.
    Silent {
        /// The machine.
        machine: String,
        /// How long it had.
        within: Nanos,
        /// The last lines of its console.
        console: String,
    },
    /// A machine's process does not end.
    Undying {
        /// The machine.
        machine: String,
        /// Its process.
        pid: i32,
    },
    /// Somebody asked for a stop while machines were being made.
    Stopped,
    /// A file or folder cannot be used.
    File {
        /// What was to be done with it: `read`, `make`.
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Making machines failed, and what was made could not be removed.
    Leftover {
        /// What failed first.
        first: Box<Problem>,
        /// What failed then.
        then: Box<Problem>,
    },
}

impl Problem {
    /// A file that cannot be used.
    pub(crate) fn file(what: &'static str, path: &Path, error: &std::io::Error) -> Problem {
        Problem::File { what, path: path.to_owned(), why: error.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoProgram { program, package } => {
                write!(f, "{program} is not installed; install the package {package}")
            }
            Problem::NoKernel => write!(
                f,
                "no kernel for guests is here: /boot has none with its modules; install \
                 linux-image-cloud-amd64, or name a kernel or its package (FILE.deb) with \
                 --guest-kernel"
            ),
            Problem::NotAKernel { path } => write!(
                f,
                "{} is no kernel with its modules; name /boot/vmlinuz-VERSION, or a kernel's \
                 package",
                path.display()
            ),
            Problem::NoImage { path, why } => write!(f, "{} {why}", path.display()),
            Problem::NoImagesHere => write!(
                f,
                "only qemu and libvirt boot machines from an image; write --provider qemu or \
                 libvirt, or leave out --guest"
            ),
            Problem::NoModule { module, folder } => write!(
                f,
                "the kernel lacks the module {module} (looked for in {}); name another kernel \
                 with --guest-kernel",
                folder.display()
            ),
            Problem::Unpack { path, program, why } => write!(
                f,
                "{program} cannot unpack {}: {why}; install {program}, or name another kernel \
                 with --guest-kernel",
                path.display()
            ),
            Problem::StrangeProgram => write!(
                f,
                "this program's own file is none for 64-bit Linux, so no guest can start it; \
                 start one that is"
            ),
            Problem::SmallMemory { needed, memory } => write!(
                f,
                "a guest needs {needed} of memory to start, and each machine would have {memory}; \
                 raise vms.memory"
            ),
            Problem::Memory { needed, available } => write!(
                f,
                "the machines need {needed} of memory, and {available} are available; lower \
                 vms.count or vms.memory"
            ),
            Problem::Space { needed, free, folder } => write!(
                f,
                "the disks need {needed}, and {} has {free} free; lower vms.count, vms.disks or \
                 vms.disk_size, or name another folder with vms.pool",
                folder.display()
            ),
            Problem::NameInUse { name } => write!(
                f,
                "machines called {name} are there already; remove them with `plimsoll vms down \
                 {name}`, or write another vms.name"
            ),
            Problem::NameOfOthers { name, what } => write!(
                f,
                "{what} is a machine called {name} that Plimsoll did not make; write another \
                 vms.name"
            ),
            Problem::Tool { call, said } => {
                write!(f, "`{call}` failed: {said}; try it by hand, and mend what it names")
            }
            Problem::Hangs { call, within } => write!(
                f,
                "`{call}` did not end within {within}; look whether the hypervisor answers by \
                 hand, then try again"
            ),
            Problem::NoPool { pool, remedy } => {
                write!(f, "no disks can be made in `{pool}`; {remedy}")
            }
            Problem::Unfit { what, remedy } => write!(f, "{what}; {remedy}"),
            Problem::NotDone { machine, said } => {
                write!(f, "{machine}: {said}; `plimsoll vms list` shows what it does now")
            }
            Problem::NoMachine { machine, name } => write!(
                f,
                "the machines {name} have none called {machine}; `plimsoll vms list` shows them"
            ),
            Problem::AtNode { node, said } => write!(f, "node {node}: {said}"),
            Problem::StillWorking { name, pid } => write!(
                f,
                "process {pid} still does something for the machines {name}; wait for its end, \
                 then remove them: `plimsoll vms down {name}`"
            ),
            Problem::Busy { name } => write!(
                f,
                "another plimsoll makes or uses the machines {name}; stop it first, or wait"
            ),
            Problem::Unknown { name } => write!(
                f,
                "there are no machines called {name}; `plimsoll vms list` shows all that are \
                 there"
            ),
            Problem::NotOurs { path, why } => {
                write!(f, "{} {why}; nothing in it was touched: look whose it is", path.display())
            }
            Problem::Homeless => {
                write!(f, "HOME and XDG_STATE_HOME name no folder; set one of them")
            }
            Problem::LongPath { path } => write!(
                f,
                "the path {} is too long for a socket; set XDG_STATE_HOME to a shorter one",
                path.display()
            ),
            Problem::NotStarted { machine, said } => write!(
                f,
                "the machine {machine} does not start: {said}; change [vms], or see what the \
                 hypervisor says"
            ),
            Problem::Ended { machine, console } => write!(
                f,
                "the machine {machine} ended before its agent listened; give it more vms.memory, \
                 or another --guest-kernel; {}",
                Ending(console)
            ),
            Problem::Silent { machine, within, console } => write!(
                f,
                "the machine {machine} has no agent within {within}; give it more time (vms.boot), \
                 another --guest-kernel or vms.template, or vms.accelerator = \"tcg\"; {}",
                Ending(console)
            ),
            Problem::Undying { machine, pid } => write!(
                f,
                "the machine {machine} (process {pid}) does not end; look what it waits for, then \
                 `plimsoll vms down` again"
            ),
            Problem::Stopped => write!(f, "stopped; no machine is left"),
            Problem::File { what, path, why } => {
                write!(f, "cannot {what} {}: {why}; check its space and rights", path.display())
            }
            Problem::Leftover { first, then } => write!(
                f,
                "{first}\nerror: and what was made could not be removed: {then}; try `plimsoll \
                 vms down`"
            ),
        }
    }
}

impl std::error::Error for Problem {}

/// The end of a console.
struct Ending<'a>(&'a str);

impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => write!(f, "its console is empty"),
            lines => write!(f, "its console ends with:\n{lines}"),
        }
    }
}
