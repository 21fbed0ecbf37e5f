//! The words of PowerShell. Each script is a constant: what it is about comes to it as JSON on its
//! standard input, so that no name is ever read as a command.

use crate::Problem;
use crate::remote::{Runs, Takes, base64, read, ssh_host};
use serde_json::Value;

/// What to write where a host is missing.
const EXAMPLE: &str = "ssh://administrator@hv1";

/// What stands before each script: it ends at the first error, and reads what it is about.
const BEFORE: &str = "\
$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'
$p = [Console]::In.ReadToEnd() | ConvertFrom-Json
function Ours($p) { @(Get-VM | Where-Object { $_.Name -ceq $p.name -and $_.Notes -ceq $p.mark }) }
";

/// The host, its name, memory and own identity.
pub(super) const HOST: &str = "\
$o = Get-CimInstance Win32_OperatingSystem
$id = (Get-ItemProperty 'HKLM:\\SOFTWARE\\Microsoft\\Cryptography').MachineGuid
@{ name = $env:COMPUTERNAME; id = $id; free = [uint64]$o.FreePhysicalMemory * 1024;
   pool = (Get-VMHost).VirtualHardDiskPath } | ConvertTo-Json -Compress
";
/// What a folder's volume has free.
pub(super) const ROOM: &str = "\
if (-not (Test-Path -LiteralPath $p.pool -PathType Container)) { throw 'there is no such folder' }
@{ free = [uint64](Get-Volume -FilePath $p.pool).SizeRemaining } | ConvertTo-Json -Compress
";
/// How many machines have a name.
pub(super) const TAKEN: &str = "\
@{ count = @(Get-VM | Where-Object { $_.Name -eq $p.name }).Count } | ConvertTo-Json -Compress
";
/// The size of the template, and the switches that machines could have.
pub(super) const TEMPLATE: &str = "\
@{ size = [uint64](Get-Item -LiteralPath $p.template).Length;
   switches = @(Get-VMSwitch | Where-Object { $_.SwitchType -eq 'External' }).Count
} | ConvertTo-Json -Compress
";
/// Makes the folder of the disks; it fails if it is there.
pub(super) const FOLDER: &str = "\
New-Item -ItemType Directory -Path $p.folder | Out-Null
";
/// Makes a disk.
pub(super) const DISK: &str = "\
if ($p.thick) { New-VHD -Path $p.path -SizeBytes $p.size -Fixed | Out-Null }
else { New-VHD -Path $p.path -SizeBytes $p.size -Dynamic | Out-Null }
";
/// Makes and starts a machine. Its first name is in our folder alone: it gets its own with its
/// mark, by one call.
pub(super) const START: &str = "\
$switch = @(Get-VMSwitch | Where-Object { $_.SwitchType -eq 'External' })[0].Name
Copy-Item -LiteralPath $p.template -Destination $p.system
$vm = New-VM -Name $p.first -Path $p.folder -Generation 2 -MemoryStartupBytes $p.memory `
  -VHDPath $p.system -SwitchName $switch
Set-VM -VM $vm -NewVMName $p.name -Notes $p.mark -ProcessorCount $p.cpus -StaticMemory `
  -AutomaticCheckpointsEnabled $false
Set-VMFirmware -VM $vm -SecureBootTemplate 'MicrosoftUEFICertificateAuthority'
foreach ($d in @($p.disks)) {
  Add-VMHardDiskDrive -VM $vm -ControllerType SCSI -ControllerNumber 0 `
    -ControllerLocation $d.lun -Path $d.path
}
Start-VM -VM $vm
";
/// What a machine does, and where it is reached.
pub(super) const STATE: &str = "\
$vms = Ours $p
@{ count = $vms.Count; state = if ($vms) { [string]$vms[0].State } else { '' };
   addresses = @($vms | ForEach-Object { $_.NetworkAdapters } |
     ForEach-Object { $_.IPAddresses } | Where-Object { $_ -notlike 'fe80*' })
} | ConvertTo-Json -Compress
";
/// Something that is done to a machine, and to none but ours.
pub(super) const ACT: &str = "\
$vms = Ours $p
if ($vms.Count -ne 1) { throw 'no machine of this name has our notes' }
switch ($p.act) {
  'pause' { Suspend-VM -VM $vms[0] }
  'resume' { Resume-VM -VM $vms[0] }
  'off' { Stop-VM -VM $vms[0] -TurnOff -Force }
  'snapshot' { Checkpoint-VM -VM $vms[0] -SnapshotName 'plimsoll' }
  'move' {
    if (-not (Test-Path -LiteralPath $p.to)) {
      New-Item -ItemType Directory -Path $p.to | Out-Null
    }
    $moves = @($p.disks | ForEach-Object {
      @{ SourceFilePath = $_.from; DestinationFilePath = $_.to } })
    Move-VMStorage -VM $vms[0] -VHDs $moves
  }
}
";
/// Removes a machine of ours, which has no disks but ours. One that has only its first name is ours
/// by its folder.
pub(super) const REMOVE: &str = "\
$first = @(Get-VM | Where-Object { $_.Name -ceq $p.first })
foreach ($vm in @(Ours $p) + $first) {
  foreach ($d in @(Get-VMHardDiskDrive -VM $vm)) {
    $in = Split-Path -Parent $d.Path
    if (@($p.folders) -notcontains $in.Replace('\\', '/')) {
      throw ('it has a disk of somebody else, ' + $d.Path + '; detach that first') }
  }
  if ($vm.State -ne 'Off') { Stop-VM -VM $vm -TurnOff -Force }
  Get-VMSnapshot -VM $vm | Remove-VMSnapshot -IncludeAllChildSnapshots
  Remove-VM -VM $vm -Force
}
";
/// Removes a folder of ours, in which nothing but ours is.
pub(super) const CLEAR: &str = "\
if (Test-Path -LiteralPath $p.folder) {
  foreach ($f in @(Get-ChildItem -LiteralPath $p.folder -Recurse -File)) {
    $ours = @($p.stems | Where-Object { $f.Name.StartsWith($_) }).Count
    $own = $f.Extension -in '.vmcx', '.vmrs', '.vmgs', '.avhdx'
    if (-not $ours -and -not $own) { throw ('a file of somebody else is there: ' + $f.FullName) }
  }
  Remove-Item -LiteralPath $p.folder -Recurse -Force
}
";

/// A host behind ssh whose PowerShell knows Hyper-V.
pub(super) struct Shell {
    pub(super) program: Box<dyn Runs>,
    /// As `vms.connect` names it.
    pub(super) connect: String,
}

impl Shell {
    /// What a script writes.
    pub(super) fn run(&self, script: &str, about: &Value, takes: Takes) -> Result<String, Problem> {
        let host = ssh_host(&self.connect, EXAMPLE)?;
        let encoded = encoded(script);
        let ssh = ["-T", "-oBatchMode=yes", "-oConnectTimeout=15", "-oServerAliveInterval=5", "--"];
        let shell = ["powershell", "-NoProfile", "-NonInteractive", "-EncodedCommand", &encoded];
        let words = [&ssh[..], &[host], &shell].concat();
        self.program.run(&words, takes, &mut crate::remote::fed_text(&about.to_string()))
    }

    /// What a script answers.
    pub(super) fn ask(&self, script: &str, about: &Value) -> Result<Value, Problem> {
        let answer = self.run(script, about, Takes::Short)?;
        // Some versions begin with the mark of an encoding.
        read("powershell", answer.trim_start_matches('\u{feff}'))
    }
}

/// A script as `-EncodedCommand` takes it: UTF-16, little end first, in base64.
pub(super) fn encoded(script: &str) -> String {
    let text = format!("{BEFORE}{script}");
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    base64(&bytes)
}
