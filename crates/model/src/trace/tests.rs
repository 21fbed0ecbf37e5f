use super::*;
use crate::rng::Rng;
use crate::units::Bytes;

fn header() -> Header {
    Header {
        device: "/dev/sdx".into(),
        size_bytes: 1 << 30,
        sector_bytes: 512,
        clock: TraceClock::Monotonic,
        taken_from: "block_rq_issue".into(),
        began_unix_ns: 1_700_000_000_000_000_000,
    }
}

fn requests(count: u64) -> Vec<Request> {
    let mut rng = Rng::new(count);
    let mut at_ns = 0;
    let mut next = |_| {
        at_ns += rng.below(5_000_000);
        let op = [Op::Read, Op::Write, Op::Fsync, Op::Trim][rng.below(4) as usize];
        let length = if op == Op::Fsync { 0 } else { 512 * (1 + rng.below(2_000) as u32) };
        let offset = if op == Op::Fsync { 0 } else { rng.below(1 << 40) };
        Request { at_ns, op, offset, length, source: rng.below(3) as u32 }
    };
    (0..count).map(&mut next).collect()
}

fn written(requests: &[Request], flush_every: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).expect("memory");
    for (number, request) in requests.iter().enumerate() {
        writer.add(request).expect("memory");
        if number % flush_every == 0 {
            writer.flush().expect("memory");
        }
    }
    writer.finish(7, 2).expect("memory").0
}

fn read(bytes: &[u8]) -> Result<(Vec<Request>, Ending), TraceError> {
    let mut reader = Reader::new(bytes)?;
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while reader.next_block(&mut block)? {
        all.extend(block.iter().copied());
    }
    Ok((all, reader.ending().expect("the end")))
}

#[test]
fn what_is_written_is_read_back() {
    let all = requests(50_000);
    let bytes = written(&all, 17_000);
    let (back, ending) = read(&bytes).expect("whole");
    assert!(back == all);
    let bytes_of = all.iter().map(|request| u64::from(request.length)).sum();
    let totals =
        Totals { requests: 50_000, bytes: bytes_of, lost: 7, left_out: 2, in_flight: None };
    assert_eq!(ending, Ending::Whole(totals));
    assert_eq!(
        Reader::new(bytes.as_slice()).map(|reader| reader.header().clone()).ok(),
        Some(header())
    );
    let sequential: Vec<Request> = (0..10_000u64)
        .map(|n| Request { at_ns: n * 50, op: Op::Read, offset: n * 4096, length: 4096, source: 0 })
        .collect();
    assert!(written(&sequential, usize::MAX).len() < 10_000 * 3, "two bytes a request");
}

#[test]
fn wherever_it_is_cut_off_whole_blocks_are_read() {
    let all = requests(300);
    let bytes = written(&all, 10);
    for end in 0..bytes.len() {
        match read(&bytes[..end]) {
            Ok((back, Ending::CutOff { at_byte })) => {
                assert!(back == all[..back.len()] && at_byte <= end as u64);
            }
            Ok(whole) => panic!("{end}: {:?}", whole.1),
            Err(TraceError::NoTrace | TraceError::NoHeader) => assert!(end < 100),
            Err(error) => panic!("{end}: {error}"),
        }
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let all = requests(100);
    let bytes = written(&all, 30);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match read(&damaged) {
            // A length that grew reaches over the end.
            Ok((back, Ending::CutOff { .. })) => assert!(back == all[..back.len()], "{bit}"),
            Ok(_) => panic!("bit {bit} was not noticed"),
            Err(_) => {}
        }
    }
}

#[test]
fn bytes_that_are_no_trace_do_no_harm() {
    let mut rng = Rng::new(3);
    for length in 0..2_000 {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((0..length).map(|_| rng.below(256) as u8));
        assert!(read(&bytes).is_err() || length < 13);
    }
}

#[test]
fn speeds_and_places_are_those_of_the_mapping() {
    let at = |offset, length| Request { at_ns: 3_000, op: Op::Read, offset, length, source: 0 };
    let speed: Speed = "2x".parse().expect("a speed");
    assert_eq!((speed.due_ns(3_000), speed.to_string().as_str()), (1_500, "2x"));
    assert!(["0", "-1", "fast", "1e9", ""].iter().all(|text| text.parse::<Speed>().is_err()));
    assert_eq!(Mapping::SAME.of(&at(4096, 4096), 8191), Err(OutOfSpace));
    let same = Mapped { due_ns: 3_000, offset: 4096, is_exact: true };
    assert_eq!(Mapping::SAME.of(&at(4096, 4096), 8192), Ok(same));
    let fold = Mapping { space: Space::Fold { size: Bytes(8192) }, ..Mapping::SAME };
    let offset = |mapping: &Mapping, offset, length| {
        mapping.of(&at(offset, length), 8192).map(|mapped| (mapped.offset, mapped.is_exact))
    };
    assert_eq!(offset(&fold, 4096, 4096), Ok((4096, true)));
    assert_eq!(offset(&fold, 8192 + 512, 512), Ok((512, false)));
    assert_eq!(offset(&fold, 2 * 8192 - 512, 1024), Ok((7168, false)), "it ends with the target");
    assert_eq!(offset(&fold, 0, 8193), Err(OutOfSpace));
    let space = Space::Stretch { from: Bytes(1 << 20), size: Bytes(8192), align: Bytes(512) };
    let stretch = Mapping { space, ..Mapping::SAME };
    assert_eq!(offset(&stretch, 512 << 10, 512), Ok((4096, false)));
    assert_eq!(offset(&stretch, (1 << 20) - 512, 512), Ok((7680, false)));
    assert_eq!(offset(&stretch, 0, 512), Ok((0, true)));
}

#[test]
fn another_order_is_another_digest() {
    let digest = |order: &[u64]| {
        let mut digest = SequenceDigest::default();
        order.iter().for_each(|offset| digest.add(Op::Read, *offset, 512));
        digest
    };
    assert_eq!(digest(&[1, 2, 3]), digest(&[1, 2, 3]));
    assert_ne!(digest(&[1, 2, 3]), digest(&[2, 1, 3]));
    assert_ne!(digest(&[1, 2]), digest(&[1, 2, 2]));
}
