//! Why machines cannot be made, reached or removed, each with its remedy.

use crate::machine::Machine;
use model::{Bytes, Nanos};
use std::fmt;
use std::path::{Path, PathBuf};

/// What comes of what is done to machines.
pub type Outcome<T = ()> = Result<T, Problem>;

/// Every problem with its sentence, in which the fields have their names.
macro_rules! problems {
    ($(
        $(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* })? =
            $text:literal $(, $shown:ident = $as:expr)*;
    )*) => {
        /// Why something of machines was refused or failed.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Problem {
            $($(#[$doc])* $name $({
                $(#[doc = concat!("`", stringify!($field), "` of the sentence.")] $field: $type),*
            })?,)*
        }

        impl fmt::Display for Problem {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Problem::$name $({ $($field),* })? => write!(f, $text $(, $shown = $as)*),)*
                }
            }
        }
    };
}

problems! {
    /// The hypervisor's program is not here.
    NoProgram { program: String, package: &'static str } =
        "{program} is not installed; install the package {package}";
    /// No kernel for guests is here.
    NoKernel =
        "no kernel for guests is here: /boot has none with its modules; install \
         linux-image-cloud-amd64, or name a kernel or its package (FILE.deb) with --guest-kernel";
    /// A file that was named as a kernel is none, or its modules are not here.
    NotAKernel { path: PathBuf } =
        "{path} is no kernel with its modules; name /boot/vmlinuz-VERSION, or a kernel's \
         package", path = path.display();
    /// A file that was named as a guest's image is none.
    NoImage { path: PathBuf, why: &'static str } = "{path} {why}", path = path.display();
    /// This provider starts no guests from images.
    NoImagesHere =
        "only qemu and libvirt boot machines from an image; write --provider qemu or libvirt, or \
         leave out --guest";
    /// A module that guests need is not here.
    NoModule { module: String, folder: PathBuf } =
        "the kernel lacks the module {module} (looked for in {folder}); name another kernel with \
         --guest-kernel", folder = folder.display();
    /// Something packed cannot be unpacked.
    Unpack { path: PathBuf, program: &'static str, why: String } =
        "{program} cannot unpack {path}: {why}; install {program}, or name another kernel with \
         --guest-kernel", path = path.display();
    /// This program's own file is not one for 64-bit Linux.
    StrangeProgram =
        "this program's own file is none for 64-bit Linux, so no guest can start it; start one \
         that is";
    /// The machines need more memory than there is.
    Memory { needed: Bytes, available: Bytes } =
        "the machines need {needed} of memory, and {available} are available; lower vms.count or \
         vms.memory";
    /// A guest does not fit into the memory of its machine.
    SmallMemory { needed: Bytes, memory: Bytes } =
        "a guest needs {needed} of memory to start, and each machine would have {memory}; raise \
         vms.memory";
    /// The disks need more space than there is.
    Space { needed: Bytes, free: Bytes, folder: PathBuf } =
        "the disks need {needed}, and {folder} has {free} free; lower vms.count, vms.disks or \
         vms.disk_size, or name another folder with vms.pool", folder = folder.display();
    /// Machines of this name are ours and still there.
    NameInUse { name: String } =
        "machines called {name} are there already; remove them with `plimsoll vms down {name}`, or \
         write another vms.name";
    /// A machine of somebody else has the name.
    NameOfOthers { name: String, what: String } =
        "{what} is a machine called {name} that Plimsoll did not make; write another vms.name";
    /// A program of the hypervisor failed.
    Tool { call: String, said: String } =
        "`{call}` failed: {said}; try it by hand, and mend what it names";
    /// A program of the hypervisor does not end.
    Hangs { call: String, within: Nanos } =
        "`{call}` did not end within {within}; look whether the hypervisor answers by hand, then \
         try again";
    /// The provider has no such pool of disks.
    NoPool { pool: String, remedy: &'static str } = "no disks can be made in `{pool}`; {remedy}";
    /// The provider cannot make such machines.
    Unfit { what: String, remedy: String } = "{what}; {remedy}";
    /// The hypervisor did not do what was asked while a machine ran.
    NotDone { machine: String, said: String } =
        "{machine}: {said}; `plimsoll vms list` shows what it does now";
    /// These machines are none of the deployment's.
    NoMachine { machine: String, name: String } =
        "the machines {name} have none called {machine}; `plimsoll vms list` shows them";
    /// Something went wrong at a node.
    AtNode { node: String, said: String } = "node {node}: {said}";
    /// Another process makes or uses these machines just now.
    Busy { name: String } =
        "another plimsoll makes or uses the machines {name}; stop it first, or wait";
    /// A program that somebody started for these machines has not ended.
    StillWorking { name: String, pid: i32 } =
        "process {pid} still does something for the machines {name}; wait for its end, then remove \
         them: `plimsoll vms down {name}`";
    /// There are no machines of this name.
    Unknown { name: String } =
        "there are no machines called {name}; `plimsoll vms list` shows all that are there";
    /// Something stands where our files would, and is not ours.
    NotOurs { path: PathBuf, why: &'static str } =
        "{path} {why}; nothing in it was touched: look whose it is", path = path.display();
    /// Neither `XDG_STATE_HOME` nor `HOME` names a folder.
    Homeless = "HOME and XDG_STATE_HOME name no folder; set one of them";
    /// The path of a socket is longer than the kernel allows.
    LongPath { path: PathBuf } =
        "the path {path} is too long for a socket; set XDG_STATE_HOME to a shorter \
         one", path = path.display();
    /// The hypervisor did not start a machine.
    NotStarted { machine: String, said: String } =
        "the machine {machine} does not start: {said}; change [vms], or see what the hypervisor \
         says";
    /// A machine ended before its agent listened.
    Ended { machine: String, console: String } =
        "the machine {machine} ended before its agent listened; give it more vms.memory, or \
         another --guest-kernel; {console}", console = Ending(console);
    /// A machine's agent does not listen in time.
    Silent { machine: String, within: Nanos, console: String } =
        "the machine {machine} has no agent within {within}; give it more time (vms.boot), another \
         --guest-kernel or vms.template, or vms.accelerator = \"tcg\"; \
         {console}", console = Ending(console);
    /// A machine's process does not end.
    Undying { machine: String, pid: i32 } =
        "the machine {machine} (process {pid}) does not end; look what it waits for, then \
         `plimsoll vms down` again";
    /// Somebody asked for a stop while machines were being made.
    Stopped = "stopped; no machine is left";
    /// A file or folder cannot be used.
    File { what: &'static str, path: PathBuf, why: String } =
        "cannot {what} {path}: {why}; check its space and rights", path = path.display();
    /// Making machines failed, and what was made could not be removed.
    Leftover { first: Box<Problem>, then: Box<Problem> } =
        "{first}\nerror: and what was made could not be removed: {then}; try `plimsoll vms down`";
}

impl Problem {
    /// A file that cannot be used.
    pub(crate) fn file(what: &'static str, path: &Path, error: &std::io::Error) -> Problem {
        Problem::File { what, path: path.to_owned(), why: error.to_string() }
    }

    pub(crate) fn unfit(what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem::Unfit { what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn not_done(machine: impl Into<String>, said: impl Into<String>) -> Problem {
        Problem::NotDone { machine: machine.into(), said: said.into() }
    }

    /// What a program said, as the reason why a machine does not start.
    pub(crate) fn of_start(self, machine: &Machine) -> Problem {
        match self {
            Problem::Tool { said, .. } => {
                Problem::NotStarted { machine: machine.name.clone(), said }
            }
            other => other,
        }
    }

    pub(crate) fn tool(call: impl Into<String>, said: impl Into<String>) -> Problem {
        Problem::Tool { call: call.into(), said: said.into() }
    }
}

impl std::error::Error for Problem {}

struct Ending<'a>(&'a str);

impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => write!(f, "its console is empty"),
            lines => write!(f, "its console ends with:\n{lines}"),
        }
    }
}
