//! Targets, each made by steps from the disk upwards: `disk > hole=96 > loop=direct > ext4`. What
//! was made is taken away by a shell of its own, also when this program was killed.

use crate::shell::{self, Outcome};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A step: its word; how it is made on the place `$P`, with its value `$V` and an empty folder `$N`
/// of its own, printing the place that it makes of it; and how it is undone. `$D` is the folder of
/// the stage, `$E` the last file system on a device, `$T` the name of its control groups.
type Step = (&'static str, &'static str, &'static str);

const STEPS: &[Step] = &[
    ("disk", "echo $N", ""),
    ("tmpfs", "mount -t tmpfs -o size=512M liar $N && echo $N", "umount -l $N"),
    ("ramfs", "mount -t ramfs liar $N && echo $N", "umount -l $N"),
    ("hole", "truncate -s ${V}M $P/file && sync $P/file && echo $P/file", ""),
    (
        "file",
        "head -c ${V}M /dev/urandom > $P/file && sync $P/file && echo $P/file",
        "rm -f $P/file",
    ),
    ("cut", "truncate -s ${V}M $(losetup --noheadings --output BACK-FILE $P) && echo $P", ""),
    ("full", "fallocate -l $(( $(stat -f -c '%a*%S*92/100' $P) )) $P/filler && echo $P", ""),
    (
        "loop",
        "losetup --find --show --direct-io=$([ \"$V\" = direct ] && echo on || echo off) $P",
        "losetup --noheadings --output NAME --associated $P | xargs -r losetup --detach",
    ),
    // The kernel keeps both with the number of the device, for whoever comes next.
    (
        "queue",
        "echo $V > /sys/block/${P#/dev/}/queue/nr_requests && echo $P",
        "echo 128 > /sys/block/${P#/dev/}/queue/nr_requests",
    ),
    (
        "cache",
        "echo $V > /sys/block/${P#/dev/}/queue/write_cache && echo $P",
        "echo write back > /sys/block/${P#/dev/}/queue/write_cache",
    ),
    (
        "zram",
        "n=$(cat /sys/class/zram-control/hot_add) && echo $n > $N/zram && \
         echo ${V}M > /sys/block/zram$n/disksize && echo /dev/zram$n",
        "n=$(cat $N/zram) && for i in 1 2 3 4 5; do \
         echo $n > /sys/class/zram-control/hot_remove && break; sleep 0.2; done",
    ),
    (
        "map",
        "dmsetup create $T --table \"0 $(blockdev --getsz $P) linear $P 0\" >&2 && \
         echo /dev/mapper/$T",
        "dmsetup remove $T",
    ),
    (
        "ext4",
        "mkfs.ext4 -q -F -m 0 $P && mount -o ${V:-defaults} $P $N && echo $N",
        "fsfreeze --unfreeze $N; umount $N",
    ),
    ("bind", "mount --bind $P $N && echo $N", "umount -l $N"),
    (
        "overlay",
        "mkdir $P/lower $P/upper $P/work && mount -t overlay liar \
         -o ${V:+$V,}lowerdir=$P/lower,upperdir=$P/upper,workdir=$P/work $N && echo $N",
        "umount -l $N",
    ),
    (
        "fuse",
        "\"$LYING\" $P $N $V > /dev/null 2>&1 & \
         for i in $(seq 100); do mountpoint -q $N && echo $N && exit; sleep 0.05; done; exit 1",
        "umount -l $N",
    ),
    (
        "qemu",
        "touch $N/disk && { qemu-storage-daemon --daemonize --pidfile $N/pid \
         --blockdev file,node-name=a,filename=$P,$V \
         --export fuse,id=a,node-name=a,mountpoint=$N/disk,writable=on >&2 && echo $N/disk; }",
        "kill $(cat $N/pid); umount -l $N/disk",
    ),
    (
        "nfs",
        "grep -qw nfs4 /proc/filesystems || { echo 'the kernel has no NFS' >&2; exit 1; }; \
         mount -t nfs4 localhost:$P $N && echo $N",
        "umount -l $N",
    ),
    ("guest", "echo 'guests are staged by the tests of machines alone' >&2; exit 1", ""),
    (
        "cpu",
        "g=$(group cpu) && if [ -e $g/cpu.max ]; then echo \"${V}000 100000\" > $g/cpu.max; \
         else echo ${V}000 > $g/cpu.cfs_quota_us; fi && echo $P",
        "",
    ),
    (
        "memory",
        "g=$(group memory) && if [ -e $g/memory.max ]; then echo ${V}M > $g/memory.max; \
         else echo ${V}M > $g/memory.limit_in_bytes; fi && echo $P",
        "",
    ),
    // Requests a second; behind a `@`, how many seconds later.
    (
        "iops",
        "g=$(group blkio) && d=$(stat -c %Hd:%Ld $D) && if [ -e $g/io.max ]; \
         then f=$g/io.max; l=\"$d riops=${V%@*}\"; \
         else f=$g/blkio.throttle.read_iops_device; l=\"$d ${V%@*}\"; fi && \
         case $V in *@*) { sleep ${V#*@}; echo \"$l\" > $f; } > /dev/null 2>&1 & ;; \
         *) echo \"$l\" > $f;; esac; echo $P",
        "",
    ),
    (
        "beside",
        "setsid sh -c \"$V\" > /dev/null 2>&1 & echo $! > $N/pid; echo $P",
        "kill -s KILL -- -$(cat $N/pid); sleep 0.1; fsfreeze --unfreeze $E",
    ),
];

/// The group of a stage for a controller, of either version: it is made where it is not there.
const GROUP: &str = "group() { if [ -e /sys/fs/cgroup/cgroup.controllers ]; then c=$1; \
                     [ $c = blkio ] && c=io; echo +$c > /sys/fs/cgroup/cgroup.subtree_control; \
                     g=/sys/fs/cgroup/$T; else g=/sys/fs/cgroup/$1/$T; fi; \
                     mkdir -p $g && echo $g; }";
/// Where the groups of a stage are, for whoever enters or removes them.
pub const GROUPS: &str = "/sys/fs/cgroup/$T /sys/fs/cgroup/*/$T";

/// The device of simulations: times of service are random, as those of devices are.
const SIMULATED: &str = "constant,read=exponential:310us,write=exponential:270us,fsync=120us,\
                         servers=4,capacity=8GiB";

/// A target that stands until this is dropped.
pub struct Stage {
    /// What the program is to load.
    pub target: String,
    /// The name of its control groups.
    pub tag: String,
    /// Its own folder, on the disk.
    pub folder: PathBuf,
    undo: Option<Child>,
}

impl Stage {
    /// Makes a target below `folder` with the help of two programs; or says why this machine
    /// cannot.
    ///
    /// # Errors
    /// A step fails.
    pub fn build(folder: &Path, program: &Path, lying: &Path, text: &str) -> Outcome<Stage> {
        let process = std::process::id();
        let made = (0..).map(|number| folder.join(number.to_string()));
        let own = made.into_iter().find(|path| !path.exists()).unwrap_or_default();
        let own = shell::folder(own)?;
        let tag = format!("plimsoll-liar-{process}");
        let mut stage = Stage { target: String::new(), tag, folder: own, undo: None };
        if text.starts_with("sim:") {
            stage.target = text.to_owned();
        } else if let Some(more) = text.strip_prefix("sim") {
            stage.target = format!("sim:{SIMULATED}{more}");
        } else if !shell::is_root() {
            return Err("it needs root".to_owned());
        }
        stage.begin()?;
        let steps = text.split(" > ").filter(|_| stage.target.is_empty()).collect::<Vec<_>>();
        let mut last_mount = String::new();
        for (number, step) in steps.into_iter().enumerate() {
            let (word, value) = step.split_once('=').unwrap_or((step, ""));
            let own = shell::folder(stage.folder.join(number.to_string()))?;
            let known = STEPS.iter().find(|(known, ..)| *known == word);
            let (_, script, undo) = known.ok_or_else(|| format!("`{word}` is no step"))?;
            let variables = [
                ("P", stage.target.clone()),
                ("V", value.to_owned()),
                ("N", own.display().to_string()),
                ("D", stage.folder.display().to_string()),
                ("E", last_mount.clone()),
                ("T", stage.tag.clone()),
            ];
            stage.undo_by(&variables, undo)?;
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{GROUP}; {script}")]).envs(variables);
            command.env("LYING", lying).env("PLIMSOLL", program);
            stage.target = shell::capture(&mut command)
                .map_err(|why| why.rsplit(": ").next().unwrap_or("it failed").to_owned())?
                .trim()
                .to_owned();
            if word == "ext4" {
                last_mount = stage.target.clone();
            }
        }
        Ok(stage)
    }

    /// Starts the shell that hears what is to be undone, and does it, the last first, as soon as
    /// nobody can tell it more. It is in a group of its own: an interrupt does not reach it.
    fn begin(&mut self) -> Outcome<()> {
        let script = "while IFS= read -r line; do todo=\"$line\n$todo\"; done; eval \"$todo\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.undo = Some(command.spawn().map_err(|error| format!("sh: {error}"))?);
        let variables = [("D", self.folder.display().to_string()), ("T", self.tag.clone())];
        let remove = "rm -rf --one-file-system $D; rmdir $(dirname $D)";
        self.undo_by(&variables, &format!("{remove}; for g in {GROUPS}; do rmdir $g; done"))
    }

    fn undo_by(&mut self, variables: &[(&str, String)], script: &str) -> Outcome<()> {
        let set = variables.iter().map(|(name, value)| {
            let quoted = value.replace('\'', "'\\''").replace('\n', " ");
            format!("{name}='{quoted}'; ")
        });
        let line = set.collect::<String>() + if script.is_empty() { ":" } else { script } + "\n";
        let pipe = self.undo.as_mut().and_then(|child| child.stdin.as_mut());
        pipe.map_or(Ok(()), |pipe| pipe.write_all(line.as_bytes())).map_err(shell::at("sh"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut undo) = self.undo.take() {
            drop(undo.stdin.take());
            // What it could not undo is not there.
            let _ = undo.wait();
        }
    }
}
