use super::*;
use model::Op;
use model::rng::Rng;
use model::trace::Request;

type All = (Vec<Request>, TraceEnd);

fn read_from(bytes: &[u8], dialect: Option<TraceDialect>) -> Result<All, TraceProblem> {
    let mut requests = Requests::new(bytes, dialect, None)?;
    let mut all = Vec::new();
    while let Some((request, _)) = requests.next_request()? {
        all.push(request);
    }
    Ok((all, requests.end()))
}

fn read(text: &str) -> Vec<Request> {
    read_from(text.as_bytes(), None).unwrap_or_else(|problem| panic!("{problem}")).0
}

fn request(at_ns: u64, op: Op, offset: u64, length: u32) -> Request {
    Request { at_ns, op, offset, length, source: 0 }
}

/// The same four requests, as each dialect tells them.
fn same() -> Vec<Request> {
    vec![
        request(0, Op::Read, 4096, 8192),
        request(1_000_000, Op::Write, 512, 512),
        request(2_500_000, Op::Read, 1 << 30, 4096),
        request(4_000_000, Op::Write, 0, 65_536),
    ]
}

#[test]
fn one_trace_comes_out_the_same_from_each_form() {
    let iolog3 = "fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n\
        100 /dev/sdx read 4096 8192\n\
        1100 /dev/sdx write 512 512\n2600 /dev/sdx read 1073741824 4096\n\
        4100 /dev/sdx write 0 65536\n9999 /dev/sdx close\n";
    let iolog2 = "fio version 2 iolog\n/dev/sdx add\n/dev/sdx open\n/dev/sdx read 4096 8192\n\
        /dev/sdx wait 1000 0\n/dev/sdx write 512 512\n/dev/sdx wait 1500 0\n\
        /dev/sdx read 1073741824 4096\n/dev/sdx wait 1500 0\n/dev/sdx write 0 65536\n\
        /dev/sdx close\n";
    let blkparse = "  8,0    1        1     7.000000000   697  Q   R 8 + 16 [fio]\n\
          8,0    1        2     7.000100000   697  D   R 8 + 16 [fio]\n\
          8,0    0        3     7.001100000   697  D  WS 1 + 1 [a b]\n\
          8,0    1        4     7.001200000     0  C   R 8 + 16 [0]\n\
          8,0    1        5     7.002600000   697  D RAHM 2097152 + 8 [fio]\n\
          8,0    1        6     7.004100000   697  D   W 0 + 128 [fio]\n\
        CPU0 (sda):\n Reads Queued:           1,        8KiB\t Writes Queued: 1, 1KiB\n\
        Total (sda):\n";
    let msr = "128166372003061629,hm,1,Read,4096,8192,1331\n\
        128166372003071629,hm,1,Write,512,512,1\n\
        128166372003086629,hm,1,Read,1073741824,4096,1\n128166372003101629,hm,1,Write,0,65536,7\n";
    let spc =
        "0,8,8192,R,0.0001\n0,1,512,w,0.0011\n0,2097152,4096,r,0.0026\n0,0,65536,W,0.0041,x\n";
    let alibaba = "device_id,opcode,offset,length,timestamp\n7,R,4096,8192,1577808000000100\n\
        7,W,512,512,1577808000001100\n7,R,1073741824,4096,1577808000002600\n\
        7,W,0,65536,1577808000004100\n";
    for (dialect, text) in [
        (TraceDialect::Iolog, iolog3),
        (TraceDialect::Iolog, iolog2),
        (TraceDialect::Blkparse, blkparse),
        (TraceDialect::Msr, msr),
        (TraceDialect::Spc, spc),
        (TraceDialect::Alibaba, alibaba),
    ] {
        assert_eq!(TraceDialect::of_content(text.as_bytes()), Some(dialect));
        assert_eq!(read(text), same(), "{dialect}");
    }
    // Its instants are whole seconds.
    let tencent = "1538323200,8,16,0,1063\n1538323200,1,1,1,1063\n1538323201,0,128,1,1063\n";
    assert_eq!(TraceDialect::of_content(tencent.as_bytes()), Some(TraceDialect::Tencent));
    let wanted =
        [same()[0], request(0, Op::Write, 512, 512), request(1_000_000_000, Op::Write, 0, 65_536)];
    assert_eq!(read(tencent), wanted);
}

#[test]
fn half_a_word_at_the_end_is_a_cut() {
    let log = "fio version 3 iolog\n0 /dev/sdx add\n0 /dev/sdx open\n100 /dev/sdx read 0 512\n";
    for (rest, is_cut_off) in [("", false), ("200 /dev/sdx rea", true), ("200 /dev", true)] {
        let (all, end) = read_from(format!("{log}{rest}").as_bytes(), None)
            .unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((all.len(), end.is_cut_off, end.left_out), (1, is_cut_off, 0), "{rest}");
    }
}

fn blktrace_of(requests: &[Request], is_big: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |value: u64, width: usize| match is_big {
        true => bytes.extend(&value.to_be_bytes()[8 - width..]),
        false => bytes.extend(&value.to_le_bytes()[..width]),
    };
    for (number, request) in requests.iter().enumerate() {
        // A completion and a message, with bytes behind it, are no requests.
        for (action, behind) in [(7, 0), (8, 0), (1 << 26 | 2, 5)] {
            let direction = if request.op == Op::Read { 1 << 16 } else { 1 << 17 };
            put(0x6561_7407, 4);
            put(number as u64, 4);
            put(request.at_ns + 77, 8);
            put(request.offset / 512, 8);
            put(request.length.into(), 4);
            put(action | direction, 4);
            put(1, 4);
            put(8 << 20, 4);
            put(0, 4);
            put(0, 2);
            put(behind, 2);
            (0..behind).for_each(|_| put(0xff, 1));
        }
    }
    bytes
}

#[test]
fn the_binary_form_says_the_same() {
    for is_big in [false, true] {
        let bytes = blktrace_of(&same(), is_big);
        assert_eq!(TraceDialect::of_content(&bytes), Some(TraceDialect::Blktrace));
        let (all, end) = read_from(&bytes, None).expect("whole");
        assert_eq!((all, end), (same(), TraceEnd::default()));
        let (all, end) = read_from(&bytes[..bytes.len() - 9], None).expect("cut off");
        assert_eq!((all.len(), end.is_cut_off), (4, true));
    }
}

#[test]
fn flushes_trims_and_what_is_neither_are_told_apart() {
    let text =
        "fio version 3 iolog\n0 f read 0 512\n5 f sync 0 0\n6 f trim 512 512\n7 f frob 0 1\n";
    let (all, end) = read_from(text.as_bytes(), None).expect("whole");
    let ops: Vec<Op> = all.iter().map(|request| request.op).collect();
    assert_eq!((ops, end.left_out), (vec![Op::Read, Op::Fsync, Op::Trim], 1));
    let text = "8,0 1 1 0.0 1 D FN [x]\n8,0 1 2 0.1 1 D DS 8 + 8 [x]\n\
        8,0 1 3 0.2 1 D N 36 (12 00 00) [x]\n";
    let (all, end) = read_from(text.as_bytes(), None).expect("whole");
    let ops: Vec<Op> = all.iter().map(|request| request.op).collect();
    assert_eq!((ops, end.left_out), (vec![Op::Fsync, Op::Trim], 1));
}

#[test]
fn lines_out_of_order_are_sorted_within_the_window_and_refused_beyond() {
    let line = |time: usize| format!("0,{time},512,R,{time}.5\n");
    let swapped: String = [3, 1, 2, 0].into_iter().map(line).collect();
    let (all, end) = read_from(swapped.as_bytes(), None).expect("sorted");
    let offsets: Vec<u64> = all.iter().map(|request| request.offset / 512).collect();
    assert_eq!((offsets, end.sorted), (vec![0, 1, 2, 3], 3));
    let far: String = (1..=WINDOW + 2).chain([0]).map(line).collect();
    let problem = read_from(far.as_bytes(), None).expect_err("too far");
    assert_eq!(problem.place, Some(Place::Line(WINDOW as u64 + 3)), "{problem}");
    assert!(problem.to_string().contains("sort"), "{problem}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (text, what) in [
        ("", "is empty"),
        ("hello\nworld\n", "tells no form"),
        ("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a 1 x R 8 512 0.1\n", "--from: "),
        ("version,time,op,size,lbn\n1,5633898,28,512,42932745\n", "tells no form"),
        ("42932745\n40409911\n", "tells no form"),
        ("BZh91AY&SY", "compressed (bzip2); unpack it"),
        ("PK\u{3}\u{4}rest", "an archive (zip)"),
        ("fio version 3 iolog\n1 f read 0 512\n2 f read x 512\n3 f read 0 512\n", "line 3: `x`"),
        ("0,1,512,R,0.5\n0,1,512,Q,0.5\n\n", "line 2: `Q` is neither"),
        ("0,1,9999999999,R,0.5\n", "line 1: a request of 9999999999"),
        ("0,99999999999999999,512,R,0.5\n", "line 1: block address"),
    ] {
        let problem = read_from(text.as_bytes(), None).expect_err(text).to_string();
        assert!(problem.contains(what), "{problem}");
    }
    let long = format!("0,1,512,R,0.5\n{}\n", "9".repeat(1 << 20));
    let problem = read_from(long.as_bytes(), None).expect_err("too long").to_string();
    assert!(problem.contains("line 2: the line is longer"), "{problem}");
}

#[test]
fn a_last_line_that_is_cut_off_is_left_out_and_told() {
    let (all, end) = read_from(b"0,1,512,R,0.5\n0,2,512,R,0.6\n0,3,51", None).expect("cut off");
    assert_eq!((all.len(), end.is_cut_off), (2, true));
}

#[test]
fn one_source_can_be_picked() {
    let text = "0,1,512,R,0.5\n1,2,512,R,0.6\n0,3,512,R,0.7\n1,4,512,R,0.9\n";
    let mut requests = Requests::new(text.as_bytes(), None, Some("1".to_owned())).expect("a trace");
    let mut all = Vec::new();
    while let Some((request, _)) = requests.next_request().expect("good") {
        all.push((request.at_ns, request.offset));
    }
    assert_eq!(
        (all, requests.sources()),
        (vec![(0, 1024), (300_000_000, 2048)], vec!["0".to_owned(), "1".to_owned()])
    );
}

/// Whatever the bytes are: an answer, and no panic.
#[test]
fn bytes_of_any_kind_do_no_harm() {
    let mut rng = Rng::new(11);
    let good: Vec<Vec<u8>> = vec![
        b"fio version 3 iolog\n0 f read 0 512\n9 f write 1 2\n".to_vec(),
        b"fio version 2 iolog\nf read 0 512\nf wait 9 0\nf write 1 2\n".to_vec(),
        b"8,0 1 1 0.000000001 1 D R 8 + 8 [x]\nCPU0 (x):\n".to_vec(),
        b"128166372003061629,hm,1,Read,4096,8192,1331\n".to_vec(),
        b"0,8,8192,R,0.0001\n".to_vec(),
        b"7,R,4096,8192,1577808000000100\n".to_vec(),
        b"1538323200,8,16,0,1063\n".to_vec(),
        blktrace_of(&same(), false),
    ];
    for round in 0..20_000u64 {
        let mut bytes = good[rng.below(good.len() as u64) as usize].clone();
        for _ in 0..=rng.below(6) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => bytes.truncate(at + 1),
                2 => bytes.insert(at, b"0123456789,. -\n+RW"[rng.below(18) as usize]),
                _ => bytes[at] ^= 1 << rng.below(8),
            }
        }
        let dialect = (round % 2 == 0)
            .then(|| TraceDialect::ALL[rng.below(TraceDialect::ALL.len() as u64) as usize]);
        if let Ok((all, _)) = read_from(&bytes, dialect) {
            assert!(all.is_sorted_by_key(|request| request.at_ns));
            assert!(all.iter().all(Request::is_sound));
        }
    }
}

#[test]
fn a_mark_before_the_text_is_no_part_of_it_and_an_empty_file_says_so() {
    for (text, from) in [
        ("\u{feff}fio version 3 iolog\n0 f read 8192 4096\n", None),
        ("\u{feff}128166372003061629,hm,0,Read,8192,4096,5\n", Some(TraceDialect::Msr)),
    ] {
        let mut requests = Requests::new(text.as_bytes(), from, None).expect("a trace");
        let (request, _) = requests.next_request().expect("well-formed").expect("one");
        assert_eq!((request.offset, request.length), (8192, 4096));
        assert_eq!(requests.next_request().expect("the end"), None);
    }
    for empty in ["", "\u{feff}"] {
        for from in [None, Some(TraceDialect::Iolog)] {
            let problem = Requests::new(empty.as_bytes(), from, None).err().expect("nothing");
            assert!(problem.to_string().contains("is empty; copy it again"), "{problem}");
        }
    }
}
