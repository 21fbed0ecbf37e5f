//! The calls of `virsh`, each with bounds in time and in bytes.

use crate::guest::ImageFormat;
use crate::tool::{Alive, Call};
use crate::{Outcome, Problem};
use model::machines::{BootReads, HostCpu};
use model::{Bytes, Nanos};
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// A question, or a change of state.
const SHORT: Duration = Duration::from_secs(60);
/// A change for which a libvirt may have to start its hypervisor's program first, to learn what it
/// can do: on a busy machine, that was seen to take longer than a minute.
const PATIENT: Duration = Duration::from_secs(300);
/// What copies bytes.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// `virsh` with its connection.
#[derive(Clone, Debug)]
pub(super) struct Virsh {
    connect: String,
}

impl Virsh {
    pub(super) fn new(connect: &str) -> Virsh {
        Virsh { connect: connect.to_owned() }
    }

    pub(super) fn connect(&self) -> &str {
        &self.connect
    }

    /// The host behind ssh in a URI such as `qemu+ssh://user@host/system`.
    pub(super) fn remote(&self) -> Option<&str> {
        let (scheme, rest) = self.connect.split_once("://")?;
        let host = rest.split(['/', '?']).next().filter(|host| !host.is_empty())?;
        scheme.ends_with("+ssh").then_some(host)
    }

    fn run(&self, words: &[&str]) -> Outcome<String> {
        self.run_within(words, SHORT, &mut |_| Ok(()))
    }

    fn run_within(
        &self,
        words: &[&str],
        within: Duration,
        feed: &mut dyn FnMut(&mut dyn Write) -> Outcome,
    ) -> Outcome<String> {
        // What begins with `-` behind the command's name would be an option; our names never do.
        let first = ["-q", "-c", &self.connect];
        let arguments: Vec<&OsStr> = first.iter().chain(words).map(OsStr::new).collect();
        let package = "libvirt-clients";
        // Questions are short; all else would be done by libvirt after its client is gone, too.
        let is_change = within > SHORT;
        // What copies bytes may take hours. A libvirt that says nothing else meanwhile hangs.
        let ask = || self.answers();
        let alive = (within == LONG).then_some(Alive { every: SHORT, ask: &ask });
        let program = "virsh";
        Call { program, package, arguments: &arguments, within, is_change, alive }.fed(feed)
    }

    /// Whether it is there. A busy machine gets the patience that changes get.
    fn answers(&self) -> Outcome {
        let arguments = ["-q", "-c", &self.connect, "hostname"].map(OsStr::new);
        let (program, package) = ("virsh", "libvirt-clients");
        let (within, is_change, alive) = (PATIENT, false, None);
        let call = Call { program, package, arguments: &arguments, within, is_change, alive };
        call.fed(&mut |_| Ok(())).map(|_| ())
    }

    fn number(&self, words: &[&str], key: &str) -> Outcome<u64> {
        let text = self.run(words)?;
        field(&text, key).ok_or_else(|| {
            Problem::tool(format!("virsh {}", words.join(" ")), format!("its answer has no {key}"))
        })
    }

    pub(super) fn hostname(&self) -> Outcome<String> {
        Ok(self.run(&["hostname"])?.trim().to_owned())
    }

    /// Memory that machines could still take: what is free, and what files are cached in.
    pub(super) fn memory_available(&self) -> Outcome<Bytes> {
        let text = self.run(&["nodememstats"])?;
        let kib = ["free", "buffers", "cached"].map(|key| field(&text, key).unwrap_or(0));
        let kib = kib.into_iter().fold(0u64, u64::saturating_add);
        Ok(Bytes(kib.saturating_mul(1024)))
    }

    pub(super) fn free(&self, pool: &str) -> Outcome<Bytes> {
        let known = self.run(&["pool-list", "--name"])?;
        if !known.lines().any(|name| name.trim() == pool) {
            let remedy = "name an active pool of `virsh pool-list` with vms.pool";
            return Err(Problem::NoPool { pool: pool.to_owned(), remedy });
        }
        self.number(&["pool-info", "--bytes", "--pool", pool], "Available").map(Bytes)
    }

    pub(super) fn domain_names(&self) -> Outcome<Vec<String>> {
        Ok(words_of(&self.run(&["list", "--all", "--name"])?))
    }

    pub(super) fn domains(&self) -> Outcome<Vec<String>> {
        Ok(words_of(&self.run(&["list", "--all", "--uuid"])?))
    }

    pub(super) fn has_kvm(&self) -> Outcome<bool> {
        let text = self.run_within(&["capabilities"], PATIENT, &mut |_| Ok(()))?;
        let guests = text.split("<guest>").skip(1);
        let is_ours = |guest: &&str| guest.contains("<arch name='x86_64'>");
        Ok(guests.filter(is_ours).any(|guest| guest.contains("<domain type='kvm'")))
    }

    pub(super) fn is_amd(&self) -> Outcome<bool> {
        let text = self.run_within(&["capabilities"], PATIENT, &mut |_| Ok(()))?;
        let host = text.split("<guest>").next().unwrap_or_default();
        Ok(host.contains("<vendor>AMD</vendor>"))
    }

    /// Moves a running domain to another libvirt, and waits for its end.
    pub(super) fn migrate(&self, uuid: &str, to: &Virsh) -> Outcome {
        // libvirt refuses disks whose file systems it does not know to be shared. Ours have names
        // by chance, 128 bits long: a file of this name at the other node is this disk.
        let words = ["migrate", "--live", "--persistent", "--undefinesource", "--unsafe"];
        let words: Vec<&str> = words.into_iter().chain([uuid, to.connect()]).collect();
        self.run_within(&words, LONG, &mut |_| Ok(())).map(|_| ())
    }

    /// How far a job of a domain is: bytes of memory that were sent, and that are left.
    pub(super) fn job(&self, uuid: &str) -> Option<(Bytes, Bytes)> {
        let text = self.run(&["domjobinfo", uuid]).ok()?;
        sized(&text, "Memory processed").zip(sized(&text, "Memory remaining"))
    }

    /// How long a domain that came here stood still, and how many bytes of its memory were sent.
    pub(super) fn came(&self, uuid: &str) -> (Option<Nanos>, Option<Bytes>) {
        let text = self.run(&["domjobinfo", uuid, "--completed"]).unwrap_or_default();
        let downtime = field(&text, "Total downtime");
        let downtime = downtime.and_then(|ms| ms.checked_mul(1_000_000)).map(Nanos);
        (downtime, sized(&text, "Memory processed"))
    }

    pub(super) fn described(&self, uuid: &str) -> Outcome<String> {
        self.run(&["dumpxml", uuid])
    }

    pub(super) fn state(&self, uuid: &str) -> Outcome<String> {
        Ok(self.run(&["domstate", uuid])?.trim().to_owned())
    }

    pub(super) fn cpu(&self, uuid: &str) -> Option<HostCpu> {
        cpu_in(&self.run(&["domstats", uuid, "--cpu-total", "--vcpu"]).ok()?)
    }

    /// What a domain read until now.
    pub(super) fn reads(&self, uuid: &str) -> Option<BootReads> {
        reads_in(&self.run(&["domstats", uuid, "--block"]).ok()?)
    }

    pub(super) fn define(&self, text: &str) -> Outcome {
        let feed = &mut |input: &mut dyn Write| {
            let cannot = |error| Problem::file("write", Path::new("virsh"), &error);
            input.write_all(text.as_bytes()).map_err(cannot)
        };
        self.run_within(&["define", "--file", "/dev/stdin"], PATIENT, feed).map(|_| ())
    }

    pub(super) fn on_domain(&self, word: &str, uuid: &str, more: &[&str]) -> Outcome {
        let words: Vec<&str> = [word, uuid].iter().chain(more).copied().collect();
        self.run_within(&words, PATIENT, &mut |_| Ok(())).map(|_| ())
    }

    pub(super) fn capacity(&self, uuid: &str, device: &str) -> Outcome<Bytes> {
        self.number(&["domblkinfo", uuid, device], "Capacity").map(Bytes)
    }

    /// Copies a disk of a running domain to a volume that is there, and has the domain go on with
    /// the copy alone.
    pub(super) fn copy_disk(
        &self,
        uuid: &str,
        device: &str,
        to: &str,
        format: ImageFormat,
    ) -> Outcome {
        let format = format!("--format={}", format.word());
        let words = ["blockcopy", uuid, device, to, &format, "--wait", "--pivot"];
        let words: Vec<&str> =
            words.into_iter().chain(["--reuse-external", "--transient-job"]).collect();
        self.run_within(&words, LONG, &mut |_| Ok(())).map(|_| ())
    }

    pub(super) fn make_volume(
        &self,
        pool: &str,
        name: &str,
        size: Bytes,
        allocation: Bytes,
        format: ImageFormat,
    ) -> Outcome {
        let (size, taken) = (format!("{}b", size.0), format!("{}b", allocation.0));
        let format = format!("--format={}", format.word());
        let words = ["vol-create-as", pool, name, &size, &format, "--allocation", &taken];
        self.run_within(&words, LONG, &mut |_| Ok(())).map(|_| ())
    }

    /// Makes a clone of a volume of the same pool.
    pub(super) fn make_clone(
        &self,
        pool: &str,
        name: &str,
        size: Bytes,
        base: &str,
        format: ImageFormat,
    ) -> Outcome {
        let size = format!("{}b", size.0);
        let words = ["vol-create-as", pool, name, &size, "--format=qcow2", "--backing-vol", base];
        let format = format!("--backing-vol-format={}", format.word());
        let words: Vec<&str> = words.into_iter().chain([format.as_str()]).collect();
        self.run_within(&words, LONG, &mut |_| Ok(())).map(|_| ())
    }

    pub(super) fn upload(&self, pool: &str, name: &str, file: &Path) -> Outcome {
        let file = file.to_string_lossy();
        let words = ["vol-upload", "--pool", pool, name, &file];
        self.run_within(&words, LONG, &mut |_| Ok(())).map(|_| ())
    }

    /// Fills a volume with what `feed` writes.
    pub(super) fn fed(
        &self,
        pool: &str,
        name: &str,
        feed: &mut dyn FnMut(&mut dyn Write) -> Outcome,
    ) -> Outcome {
        let words = ["vol-upload", "--pool", pool, name, "/dev/stdin"];
        self.run_within(&words, LONG, feed).map(|_| ())
    }

    pub(super) fn download(&self, pool: &str, name: &str) -> Outcome<String> {
        self.refresh(pool)?;
        self.run(&["vol-download", "--pool", pool, name, "/dev/stdout"])
    }

    pub(super) fn path(&self, pool: &str, name: &str) -> Outcome<String> {
        Ok(self.run(&["vol-path", "--pool", pool, name])?.trim().to_owned())
    }

    pub(super) fn refresh(&self, pool: &str) -> Outcome {
        self.run(&["pool-refresh", pool]).map(|_| ())
    }

    pub(super) fn volumes(&self, pool: &str) -> Outcome<Vec<String>> {
        let text = self.run(&["vol-list", "--pool", pool])?;
        let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
        Ok(text.lines().filter_map(name).collect())
    }

    pub(super) fn remove_volume(&self, pool: &str, name: &str) -> Outcome {
        self.run(&["vol-delete", "--pool", pool, name]).map(|_| ())
    }
}

/// The size behind a key, as in `Memory processed: 1.021 MiB`; to three digits behind the point.
fn sized(text: &str, key: &str) -> Option<Bytes> {
    let of_key = |line: &&str| line.split_once(':').is_some_and(|(found, _)| found.trim() == key);
    let mut words = text.lines().find(of_key)?.split_once(':')?.1.split_whitespace();
    let (number, unit) = (words.next()?, words.next()?);
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|known| *known == unit)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = part.get(..part.len().min(3))?;
    let thousandths: u64 = format!("{digits:0<3}").parse().ok()?;
    let all = whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(thousandths)?;
    let bytes = u128::from(all).checked_mul(1 << (10 * unit))? / 1000;
    u64::try_from(bytes).ok().map(Bytes)
}

/// The number behind a key, as in `free  : 12 KiB`.
fn field(text: &str, key: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.split_once(':').is_some_and(|(found, _)| found.trim() == key))?;
    line.split_once(':')?.1.split_whitespace().next()?.parse().ok()
}

/// The CPU time in what `virsh domstats` writes: `cpu.time=12`, `vcpu.0.time=3`, in nanoseconds.
/// `vcpu.0.delay` is how long a virtual CPU with work waited for one of the node; older versions
/// do not have it.
fn cpu_in(text: &str) -> Option<HostCpu> {
    let all = numbered(text).find(|(key, _)| *key == "cpu.time").map(|(_, ns)| ns);
    let (vcpu, _) = sum_of(text, "vcpu.", ".time");
    let (waited, known) = sum_of(text, "vcpu.", ".delay");
    let other = Nanos(all?.saturating_sub(vcpu));
    let waited = (known > 0).then_some(Nanos(waited));
    Some(HostCpu { vcpu: Nanos(vcpu), io: None, other, waited })
}

/// What a domain read of all its disks: `block.0.rd.reqs=4`, `block.0.rd.bytes=4096`.
fn reads_in(text: &str) -> Option<BootReads> {
    let (requests, known) = sum_of(text, "block.", ".rd.reqs");
    let (bytes, _) = sum_of(text, "block.", ".rd.bytes");
    (known > 0).then_some(BootReads { requests, bytes: Bytes(bytes) })
}

/// The lines `key=number` of what `virsh domstats` writes.
fn numbered(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (key, value) = line.trim().split_once('=')?;
        Some((key, value.parse().ok()?))
    })
}

/// The sum of all numbers behind keys such as `vcpu.0.time`, and how many there are.
fn sum_of(text: &str, first: &str, last: &str) -> (u64, usize) {
    let is_of = |key: &str| {
        let number = key.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
        number.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    };
    let of_key = numbered(text).filter(|(key, _)| is_of(key));
    of_key.fold((0, 0), |(sum, count), (_, number)| (number.saturating_add(sum), count + 1))
}

fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_virsh_writes_them() {
        let text = "total  :             24682416 KiB\nfree   :             11436504 KiB\n";
        assert_eq!(field(text, "free"), Some(11_436_504));
        assert_eq!((field(text, "cached"), field("free : x", "free")), (None, None));
        assert_eq!(field("Available:      234308034560\n", "Available"), Some(234_308_034_560));
    }

    #[test]
    fn a_migration_is_read_as_virsh_writes_it() {
        let text = "Job type:         Completed   \nMemory processed: 1.021 MiB\n\
                    Memory remaining: 0.000 B\nMemory total:     256.508 MiB\n\
                    Total downtime:   176          ms\n";
        assert_eq!(sized(text, "Memory processed"), Some(Bytes(1_070_596)));
        assert_eq!(sized(text, "Memory remaining"), Some(Bytes(0)));
        assert_eq!(field(text, "Total downtime"), Some(176));
        for wrong in ["Memory total: x MiB", "Memory total: 1 XiB", "Memory total: 1", "", ":"] {
            assert_eq!(sized(wrong, "Memory total"), None, "{wrong}");
        }
    }

    #[test]
    fn cpu_time_is_that_of_the_guest_and_the_rest() {
        let text = "Domain: 'a-1'\n  cpu.time=1000\n  cpu.user=300\n  vcpu.current=2\n  \
                    vcpu.0.state=1\n  vcpu.0.time=400\n  vcpu.1.time=100\n  vcpu.1.wait=7\n";
        let told = HostCpu { vcpu: Nanos(500), io: None, other: Nanos(500), waited: None };
        assert_eq!(cpu_in(text), Some(told));
        let newer = format!("{text}  vcpu.0.delay=40\n  vcpu.1.delay=2\n  vcpu.x.delay=9\n");
        let waited = Some(Nanos(42));
        assert_eq!(cpu_in(&newer), Some(HostCpu { waited, ..told }));
        assert_eq!(cpu_in("Domain: 'a-1'\n"), None);
    }

    #[test]
    fn reads_are_those_of_all_disks() {
        let text = "Domain: 'a-1'\n  block.count=2\n  block.0.name=vda\n  block.0.rd.reqs=3\n  \
                    block.0.rd.bytes=12288\n  block.0.wr.bytes=5\n  block.1.rd.reqs=1\n  \
                    block.1.rd.bytes=512\n  block.1.rd.times=x\n";
        let told = BootReads { requests: 4, bytes: Bytes(12_800) };
        assert_eq!(reads_in(text), Some(told));
        assert_eq!((reads_in("block.count=0"), reads_in("=\n==1\n")), (None, None));
    }

    #[test]
    fn a_host_behind_ssh_is_known_by_its_uri() {
        let of = |uri: &str| Virsh::new(uri).remote().map(str::to_owned);
        assert_eq!(of("qemu+ssh://root@n1/system").as_deref(), Some("root@n1"));
        assert_eq!(of("qemu+ssh://n1/system?socket=/x").as_deref(), Some("n1"));
        assert_eq!((of("qemu:///system"), of("qemu+tls://n1/system"), of("x")), (None, None, None));
    }
}
