use super::*;
use model::counters::{Layer, Metric};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
/// 2026-11-28 12:00:00 UTC.
const NOON: u64 = 1_795_867_200 * SECOND;

fn wanted() -> Wanted<'static> {
    Wanted { file: "f", host: None, offset_ns: None, within: NOON..NOON + 60 * SECOND }
}

fn told(text: &str) -> ToldCounters {
    read(&wanted(), text).unwrap_or_else(|refused| panic!("{refused:?}"))
}

fn refused(wanted: &Wanted<'_>, text: &str) -> String {
    match read(wanted, text) {
        Err(Refused::Unread(error)) => error.to_string(),
        Err(other) => format!("{other:?}"),
        Ok(told) => panic!("{told:?}"),
    }
}

/// What the first host counted of a thing in its first interval.
fn counted(told: &ToldCounters, layer: Layer, name: &str, metric: Metric) -> Option<u64> {
    let entries = &told.hosts[0].intervals.first()?.entries;
    entries.iter().find(|one| one.layer == layer && one.name == name)?.get(metric)
}

/// A file of perfmon with these columns behind the time, and rows from 13:00 in Central Europe.
fn perfmon(columns: &[&str], rows: &[&[&str]]) -> String {
    let cell = |text: &str| format!("\"{text}\"");
    let line = |first: String, rest: &[&str]| {
        let cells = rest.iter().map(|one| cell(one)).fold(cell(&first), |a, b| format!("{a},{b}"));
        format!("{cells}\r\n")
    };
    let mut text = line("(PDH-CSV 4.0) (W. Europe Standard Time)(-60)".to_owned(), columns);
    for (number, row) in rows.iter().enumerate() {
        text.push_str(&line(format!("11/28/2026 13:00:{:02}.500", number * 10), row));
    }
    text
}

#[test]
fn perfmon_in_two_languages_says_the_same() {
    let english = [
        r"\\WIN1\Processor(0)\% Processor Time",
        r"\\WIN1\Processor(_Total)\% Processor Time",
        r"\\WIN1\PhysicalDisk(0 C:)\% Idle Time",
        r"\\WIN1\PhysicalDisk(0 C:)\% Disk Time",
        r"\\WIN1\PhysicalDisk(0 C:)\Avg. Disk Queue Length",
        r"\\WIN1\PhysicalDisk(0 C:)\Disk Read Bytes/sec",
        r"\\WIN1\Network Interface(Intel[R] X)\Bytes Sent/sec",
        r"\\WIN1\Network Interface(Intel[R] X)\Current Bandwidth",
        r"\\WIN1\Memory\Available MBytes",
        r"\\WIN1\Process(a)\% Processor Time",
    ];
    let german = [
        r"\\WIN1\Prozessor(0)\Prozessorzeit (%)",
        r"\\WIN1\Prozessor(_Total)\Prozessorzeit (%)",
        r"\\WIN1\Physikalischer Datenträger(0 C:)\Leerlaufzeit (%)",
        "\\\\WIN1\\Physikalischer Datentr\u{fffd}ger(0 C:)\\Zeit (%)",
        "\\\\WIN1\\Physikalischer Datenträger(0 C:)\\Durchschnittl. Warteschlangenlänge des \
         Datenträgers",
        r"\\WIN1\Physikalischer Datenträger(0 C:)\Bytes gelesen/s",
        r"\\WIN1\Netzwerkschnittstelle(Intel[R] X)\Bytes gesendet/s",
        r"\\WIN1\Netzwerkschnittstelle(Intel[R] X)\Aktuelle Bandbreite",
        r"\\WIN1\Arbeitsspeicher\Verfügbare MB",
        r"\\WIN1\Prozess(a)\Prozessorzeit (%)",
    ];
    let first = [" "; 10];
    let row = ["25.5", "25.5", "10", "900", "9.5", "1000", "5", "1E+009", "4096", "7"];
    let comma = ["25,5", "25,5", "10", "900", "9,5", "1000", "5", "1E+009", "4096", "7"];
    let one = told(&perfmon(&english, &[&first, &row, &row]));
    assert_eq!(one, told(&perfmon(&german, &[&first, &comma, &comma])));
    let of = |layer, name: &str, metric| counted(&one, layer, name, metric);
    assert_eq!(one.hosts[0].intervals.len(), 2);
    assert_eq!(one.hosts[0].intervals[0].start_unix_ns, NOON + SECOND / 2);
    assert_eq!(of(Layer::Cpu, "0", Metric::RunNs), Some(2_550_000_000));
    assert_eq!(of(Layer::Cpu, "0", Metric::IdleNs), Some(7_450_000_000));
    assert_eq!(of(Layer::Cpu, "", Metric::RunNs), None, "its cores are there");
    assert_eq!(of(Layer::Block, "0 C:", Metric::BusyNs), Some(9 * SECOND), "by the idle time");
    assert_eq!(of(Layer::Block, "0 C:", Metric::QueueNs), Some(95 * SECOND));
    assert_eq!(of(Layer::Block, "0 C:", Metric::ReadBytes), Some(10_000));
    assert_eq!(of(Layer::Memory, "", Metric::AvailableBytes), Some(4 << 30));
    assert_eq!(one.hosts[0].speeds, [("Intel[R] X".to_owned(), 1_000)]);
    assert_eq!((one.left_out, one.hosts[0].cpus, one.hosts[0].taken), (1, 1, 7));
    assert_eq!(one.hosts[0].interval_ns, 10 * SECOND);
}

#[test]
fn a_file_with_sums_alone_has_all_cpus_in_one_and_gaps_are_no_intervals() {
    let columns = [r"\\a\Processor(_Total)\% Processor Time", r"\\b\PhysicalDisk(0)\% Disk Time"];
    let one = told(&perfmon(&columns, &[&["1", "1"], &["50", "150"], &["", "20"], &["50", ""]]));
    let of = |host: usize| &one.hosts[host].intervals;
    assert_eq!(of(0)[0].entries[0].name, "");
    assert_eq!((of(0).len(), of(1).len()), (2, 2));
    let (second, from) = (&of(0)[1], NOON + 20 * SECOND + SECOND / 2);
    assert_eq!((second.start_unix_ns, second.length_ns), (from, 10 * SECOND), "not over a gap");
    assert_eq!(of(1)[0].entries[0].get(Metric::BusyNs), Some(10 * SECOND), "no more than all");
    // A share that cannot be is no share, and above all none of a disk that is never idle.
    let columns = [columns[0], r"\\b\PhysicalDisk(0)\% Idle Time"];
    let wrong = told(&perfmon(&columns, &[&["1", "1"], &["-50", "-50"], &["104", "104"]]));
    let busy = |host: usize, metric| {
        let all = wrong.hosts[host].intervals.iter();
        all.map(|one| one.entries.first().and_then(|entry| entry.get(metric))).collect::<Vec<_>>()
    };
    assert_eq!(busy(0, Metric::RunNs), [Some(10 * SECOND)], "the second alone");
    assert_eq!(busy(1, Metric::BusyNs), [Some(0)]);
    let columns = [columns[0], r"\\b\PhysicalDisk(0)\% Disk Time"];
    let only = Wanted { host: Some("B"), ..wanted() };
    let text = perfmon(&columns, &[&["1", "1"], &["50", "150"]]);
    let only = read(&only, &text).unwrap_or_else(|refused| panic!("{refused:?}"));
    assert_eq!(only.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn esxtop_tells_cards_and_devices_and_not_its_guests() {
    let columns = [
        r"\\esx1\Physical Cpu(0)\% Util Time",
        r"\\esx1\Physical Disk SCSI Device(naa.6001)\MBytes Read/sec",
        r"\\esx1\Network Port(vSwitch0:2:vmnic0)\MBits Received/sec",
        r"\\esx1\Network Port(vSwitch0:3:9:web)\MBits Received/sec",
        r"\\esx1\Group Cpu(1:idle)\% Used",
    ];
    let text = perfmon(&columns, &[&["1"; 5], &["80", "2", "8", "8", "3"]])
        .replace("(W. Europe Standard Time)(-60)", "(UTC)(0)")
        .replace(" 13:00:10.500", " 12:00:05")
        .replace(" 13:00:00.500", " 12:00:00");
    let one = told(&text);
    assert_eq!((one.form, one.left_out), (CounterForm::Esxtop, 2));
    assert_eq!(counted(&one, Layer::Cpu, "0", Metric::RunNs), Some(4 * SECOND));
    assert_eq!(counted(&one, Layer::Block, "naa.6001", Metric::ReadBytes), Some(10 << 20));
    assert_eq!(counted(&one, Layer::Nic, "vmnic0", Metric::ReceivedBytes), Some(5_000_000));
    assert_eq!(one.hosts[0].intervals[0].entries.len(), 3);
}

#[test]
fn prometheus_counts_from_the_start_and_what_went_back_began_anew() {
    let series = |labels: &str, values: &str| {
        format!(r#"{{"metric":{{"instance":"n1:9100",{labels}}},"values":[{values}]}}"#)
    };
    let at = |seconds: u64, value: &str| format!(r#"[{},"{value}"]"#, NOON / SECOND + seconds);
    let two = |a: &str, b: &str| format!("{},{}", at(0, a), at(15, b));
    let all = [
        series(r#""__name__":"node_cpu_seconds_total","cpu":"0","mode":"idle""#, &two("5", "8")),
        series(r#""__name__":"node_cpu_seconds_total","cpu":"0","mode":"user""#, &two("1", "13")),
        series(r#""__name__":"node_disk_io_time_seconds_total","device":"sda""#, &two("9", "23.5")),
        series(r#""__name__":"node_disk_reads_completed_total","device":"sda""#, &two("9", "2")),
        series(
            r#""__name__":"windows_physical_disk_idle_seconds_total","disk":"1""#,
            &two("0", "3"),
        ),
        series(
            r#""__name__":"node_network_speed_bytes","device":"eth0""#,
            &two("1.25e9", "1.25e9"),
        ),
        series(r#""__name__":"node_memory_MemTotal_bytes""#, &two("64", "64")),
        series(r#""__name__":"node_load1""#, &two("1", "1")),
    ];
    let text = format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#,
        all.join(",")
    );
    let one = told(&text);
    assert_eq!((one.hosts[0].name.as_str(), one.hosts[0].memory), ("n1", 64));
    assert_eq!(counted(&one, Layer::Cpu, "0", Metric::UserNs), Some(12 * SECOND));
    assert_eq!(counted(&one, Layer::Block, "sda", Metric::BusyNs), Some(14_500_000_000));
    assert_eq!(counted(&one, Layer::Block, "sda", Metric::Reads), None);
    assert_eq!(counted(&one, Layer::Block, "1", Metric::BusyNs), Some(12 * SECOND));
    assert_eq!(one.hosts[0].speeds, [("eth0".to_owned(), 10_000)]);
    assert_eq!(one.left_out, 1);
    let nameless = format!(r#"{{"data":{{"result":[{}]}}}}"#, series(r#""device":"sda""#, ""));
    assert!(refused(&wanted(), &nameless).contains("rate()"));
    assert!(refused(&wanted(), r#"{"status":"error","error":"no \u001b"}"#).contains("error"));
}

#[test]
fn sar_has_a_head_for_each_activity() {
    let text = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
                h;5;2026-11-28 12:00:05 UTC;-1;1;0;1;0;0;98\n\
                h;5;2026-11-28 12:00:10 UTC;-1;20;0;20;10;0;50\n\
                # hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;\
                %util\n\
                h;5;2026-11-28 12:00:05 UTC;sda;1;1;1;0;1;1;1;1\n\
                h;5;2026-11-28 12:00:10 UTC;sda;9;8;16;0;1;2,5;1;100\n\
                h;-1;2026-11-28 12:00:11 UTC;LINUX-RESTART\t(4 CPU)\n";
    let one = told(text);
    assert_eq!(counted(&one, Layer::Cpu, "", Metric::SystemNs), Some(SECOND));
    assert_eq!(counted(&one, Layer::Block, "sda", Metric::BusyNs), Some(5 * SECOND));
    assert_eq!(counted(&one, Layer::Block, "sda", Metric::QueueNs), Some(12_500_000_000));
    assert_eq!(counted(&one, Layer::Block, "sda", Metric::WriteBytes), Some(5 * 16 * 1024));
    assert!(refused(&wanted(), &text.replace(" UTC", "")).contains("--offset"));
}

#[test]
fn what_is_of_another_day_or_of_no_known_zone_is_refused_with_the_remedy() {
    let text = perfmon(&[r"\\a\Processor(0)\% Processor Time"], &[&["1"], &["2"]]);
    let yesterday = text.replace("11/28", "11/27");
    let day = 86_400 * SECOND;
    let (from, to) = (NOON - day + SECOND / 2, NOON - day + 10 * SECOND + SECOND / 2);
    assert_eq!(read(&wanted(), &yesterday), Err(Refused::OtherTime { from, to }));
    let moved = Wanted { offset_ns: Some(day as i64), ..wanted() };
    assert_eq!(read(&moved, &yesterday).as_ref(), Ok(&told(&text)));
    let typeperf = text.replace(" (W. Europe Standard Time)(-60)", "");
    assert!(refused(&wanted(), &typeperf).contains("names no time zone"));
    let said = Wanted { offset_ns: Some(-3_600 * SECOND as i64), ..wanted() };
    assert_eq!(read(&said, &typeperf).as_ref(), Ok(&told(&text)));
    assert!(refused(&wanted(), "IOPS,1\n").contains("no file of counters"));
    assert!(refused(&wanted(), &text.replace("Processor(0)", "X")).contains("noun"));
    assert!(refused(&wanted(), &text.replace(r"\\a", "")).contains("--host"));
    let wide = format!("\"(PDH-CSV 4.0) (UTC)(0)\"{}", ",\"x\"".repeat(MOST_COLUMNS + 1));
    assert!(refused(&wanted(), &wide).contains("more than 65536 columns"));
    let backwards = perfmon(&[r"\\a\Processor(0)\% Processor Time"], &[&["1"], &["2"], &["3"]])
        .replace("13:00:20", "13:00:05");
    assert_eq!(told(&backwards).hosts[0].intervals.len(), 1, "an hour that comes twice");
}

/// Pieces that the readers look for, so that random texts reach into them.
const PIECES: [&str; 20] = [
    "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\h\\Processor(0)\\% Processor Time\"\n",
    "\"(PDH-CSV 4.0) (UTC)(99999999999)\"",
    "\"11/28/2026 12:00:05.5\",\"50\"\n",
    "\"11/28/2026 12:00:10\",\"1e308\",\"\"\"\n",
    "\"02/31/9999 23:59:60\",\"-1\"\n",
    "\\\\h\\Physical Cpu(((\\",
    "{\"data\":{\"result\":[{\"metric\":{\"__name__\":\"node_disk_reads_completed_total\",",
    "\"device\":\"\\u001b\",\"instance\":\"a:1\"},\"values\":[[1795867200,\"1\"],",
    "[1795867205.5,\"18446744073709551616\"]]}]}}",
    "[1e300,\"NaN\"]",
    "# hostname;interval;timestamp;DEV;tps;%util\n",
    "h;5;2026-11-28 12:00:05 UTC;sda;1;100\n",
    "h;5;1795867210;sda;1;inf\n",
    ";",
    ",",
    "\"",
    "\n",
    "ä",
    "\u{0}",
    "\u{1b}[2J",
];

proptest! {
    #[test]
    fn no_text_brings_a_reader_down(
        pieces in prop::collection::vec((0..PIECES.len(), "[ -~\n]{0,6}"), 0..60),
        offset in any::<Option<i64>>(),
    ) {
        let text: String =
            pieces.iter().map(|(piece, noise)| format!("{}{noise}", PIECES[*piece])).collect();
        let wanted = Wanted { host: Some("h"), offset_ns: offset, ..wanted() };
        if let Ok(told) = read(&wanted, &text) {
            for host in told.hosts {
                assert!(!host.name.chars().any(model::printable::acts), "{:?}", host.name);
            }
        }
    }
}
