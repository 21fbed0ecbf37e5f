//! Specs as text: what is read, what is refused and how, and that nothing is lost on the way.

use model::{Bytes, Op, Percent};
use proptest::prelude::*;
use twin::{
    Cache, Credits, Device, DeviceSpec, ErrorRate, Flash, PRESETS, Request, Service, Stall,
};

#[test]
fn every_parameter_is_read() {
    let text = "exponential,mean=50us,servers=8,capacity=10GiB,stall=5s+2s,error=read:EIO:100ppm,\
                cache=1GiB@20us,iops=50_000,bandwidth=500MiB/s,write=lognormal:20us:0.4,\
                fsync=empirical:1ms*9:10ms,cache-write=exponential:5us,cache-line=64KiB,\
                destage=100MB/s,stall=9s+1ms,error=write:enospc:1%,credits=5_000@30";
    let expected = DeviceSpec {
        capacity: Bytes::gib(10),
        parallelism: 8,
        read_service: Service::Exponential { mean_ns: 50_000 },
        write_service: Service::Lognormal { median_ns: 20_000, sigma: 0.4 },
        fsync_service: Service::Empirical(vec![(1_000_000, 9), (10_000_000, 1)]),
        bandwidth_bytes_per_s: Some(500 << 20),
        iops_limit: Some(50_000),
        credits: Some(Credits { size: 5_000, per_s: 30 }),
        flash: None,
        cache: Some(Cache {
            size: Bytes::gib(1),
            line: Bytes::kib(64),
            read_service: Service::Constant(20_000),
            write_service: Service::Exponential { mean_ns: 5_000 },
            destage_bytes_per_s: Some(100_000_000),
        }),
        stalls: vec![
            Stall { at_ns: 5_000_000_000, length_ns: 2_000_000_000 },
            Stall { at_ns: 9_000_000_000, length_ns: 1_000_000 },
        ],
        errors: vec![
            ErrorRate { op: Op::Read, errno: 5, ppm: 100 },
            ErrorRate { op: Op::Write, errno: 28, ppm: 10_000 },
        ],
    };
    assert_eq!(DeviceSpec::parse(text), Ok(expected));
    let text = "ssd,capacity=1GiB,flash=28%@400MiB/s,flash-block=4MiB";
    let flash = Flash {
        spare: Percent::of(28),
        program_bytes_per_s: 400 << 20,
        block: Bytes::mib(4),
        used: false,
    };
    assert_eq!(DeviceSpec::parse(text).map(|spec| spec.flash), Ok(Some(flash)));
    let used = DeviceSpec::parse(&format!("{text},flash-state=used")).expect("used flash");
    assert_eq!(used.flash, Some(Flash { used: true, ..flash }));
    assert_eq!(DeviceSpec::parse(&used.to_string()), Ok(used));
}

#[test]
fn what_makes_no_device_is_refused_with_its_place_and_a_remedy() {
    for (text, place, remedy) in [
        ("", "``", "ssd"),
        ("floppy", "`floppy`", "begin with one of constant, md1"),
        ("ssd,fast", "`fast`", "key=value"),
        ("ssd,speed=9", "speed=9", "servers"),
        ("ssd,iops=5,iops=6", "`iops`", "once"),
        ("ssd,service=100", "service=100", "100us"),
        ("ssd,service=fast", "service=fast", "exponential:50us"),
        ("ssd,service=gauss:5us", "`gauss`", "lognormal:80us:0.5"),
        ("ssd,read=0ns", "read", "1ns to 1h"),
        ("ssd,read=lognormal:80us", "read=", "lognormal:80us:0.5"),
        ("ssd,read=lognormal:80us:x", "`x`", "0.5"),
        ("ssd,read=lognormal:80us:NaN", "NaN", "0 to 4"),
        ("ssd,read=empirical:1ms*0", "weight 0", "leave it out"),
        ("ssd,servers=0", "servers=0", "1 to 65536"),
        ("ssd,servers=-1", "`-1`", "for example 8"),
        ("ssd,servers=99999999999", "servers", "in range"),
        ("ssd,capacity=100", "capacity", "512"),
        ("ssd,capacity=2PiB", "capacity", "up to 1 PiB"),
        ("ssd,bandwidth=0", "bandwidth", "1B/s"),
        ("ssd,iops=0", "iops=0", "leave it out"),
        ("ssd,cache=1GiB", "cache=1GiB", "cache=1GiB@20us"),
        ("ssd,cache=1KiB@20us", "cache=1 KiB", "larger"),
        ("ssd,cache=1TiB@20us", "cache=1 TiB", "larger cache-line"),
        ("ssd,cache=1GiB@20us,cache-line=5KiB", "cache-line=5 KiB", "power of two"),
        ("ssd,destage=1MiB/s", "destage", "cache=SIZE@SERVICE"),
        ("ssd,credits=5", "credits=5", "credits=100000@3000"),
        ("ssd,credits=0@5", "credits=0@5", "1 to"),
        ("ssd,flash=28%", "flash=28%", "flash=28%@400MiB/s"),
        ("ssd,flash=x@1MiB/s", "`x`", "flash=28%@400MiB/s"),
        ("ssd,flash-block=1MiB", "flash-block", "flash=SPARE@SPEED"),
        ("ssd,flash=9%@1MiB/s,flash-state=old", "`old`", "new or used"),
        ("ssd,flash=28%@400MiB/s", "flash of 1 TiB", "capacity=64GiB"),
        ("constant,flash=0%@400MiB/s", "spare of 0%", "larger spare"),
        ("constant,flash=9%@0B/s", "flash=0B/s", "1B/s"),
        ("constant,flash=9%@1MiB/s,flash-block=3MiB", "flash-block=3 MiB", "power of two"),
        ("constant,flash=9%@1MiB/s,cache=1MiB@1us,destage=1MiB/s", "write-back", "leave out"),
        ("ssd,stall=5s", "stall=5s", "stall=5s+2s"),
        ("ssd,stall=5s+0s", "0 s", "leave it out"),
        ("ssd,stall=8d+1s", "week", "5s+2s"),
        ("ssd,error=read:EIO", "error=read:EIO", "error=read:EIO:100ppm"),
        ("ssd,error=shred:EIO:1%", "`shred`", "error=read:EIO:100ppm"),
        ("ssd,error=read:EFROB:1%", "`EFROB`", "error=read:EIO:100ppm"),
        ("ssd,error=read:0:1%", "errno", "1 to 4095"),
        ("ssd,error=read:EIO:5", "`5`", "100ppm"),
        ("ssd,error=read:EIO:101%", "`101%`", "0% to 100%"),
        ("ssd,error=read:EIO:60%,error=read:6:60%", "1200000 ppm", "at most 1000000ppm"),
    ] {
        let message = DeviceSpec::parse(text).expect_err(text);
        assert!(message.contains(place), "{text}: no place in: {message}");
        assert!(message.contains(remedy), "{text}: no remedy in: {message}");
    }
}

#[test]
fn none_takes_away_what_a_preset_has() {
    let spec = DeviceSpec::parse("ssd,bandwidth=none,iops=none,cache=none").expect("a spec");
    assert_eq!((spec.bandwidth_bytes_per_s, spec.iops_limit, spec.cache), (None, None, None));
}

#[test]
fn a_message_does_not_repeat_a_long_text() {
    let long = "x".repeat(60_000);
    for text in [
        long.clone(),
        format!("ssd,{long}"),
        format!("ssd,{long}=1"),
        format!("ssd,iops={long}"),
        format!("ssd,read={long}"),
        format!("ssd,read={}", "9".repeat(60_000)),
        format!("ssd,capacity={long}"),
        format!("ssd,error=read:{long}:1%"),
        format!("ssd,error=read:EIO:{long}%"),
        "y".repeat(70_000),
    ] {
        let message = DeviceSpec::parse(&text).expect_err("no device");
        assert!(message.len() < 500, "{} characters", message.len());
    }
}

fn any_service() -> impl Strategy<Value = Service> {
    let ns = || 1..=3_600_000_000_000u64;
    prop_oneof![
        ns().prop_map(Service::Constant),
        ns().prop_map(|mean_ns| Service::Exponential { mean_ns }),
        (ns(), 0.0..=4.0f64).prop_map(|(median_ns, sigma)| Service::Lognormal { median_ns, sigma }),
        prop::collection::vec((ns(), 1..=u32::MAX), 1..5).prop_map(Service::Empirical),
    ]
}

fn any_cache() -> impl Strategy<Value = Cache> {
    let rate = prop::option::of(1..=1u64 << 50);
    (1..1u64 << 34, 12..=20u32, any_service(), any_service(), rate).prop_map(
        |(size, bits, read, write, rate)| Cache {
            size: Bytes(size.max(1 << bits)),
            line: Bytes(1 << bits),
            read_service: read,
            write_service: write,
            destage_bytes_per_s: rate,
        },
    )
}

fn any_credits() -> impl Strategy<Value = Credits> {
    (1..=1u64 << 50, 1..=1_000_000_000u64).prop_map(|(size, per_s)| Credits { size, per_s })
}

fn any_spec() -> impl Strategy<Value = DeviceSpec> {
    let week_ns = 7 * 86_400_000_000_000u64;
    let stall =
        (0..=week_ns, 1..=week_ns).prop_map(|(at_ns, length_ns)| Stall { at_ns, length_ns });
    let error = (0..Op::COUNT, 1..4096i32, 0..=250_000u32);
    let error = error.prop_map(|(op, errno, ppm)| ErrorRate { op: Op::EACH[op], errno, ppm });
    (
        (1..=1u64 << 41, 1..=65_536u32, any_service(), any_service(), any_service()),
        (
            prop::option::of(1..=1u64 << 50),
            prop::option::of(1..=1_000_000_000u64),
            prop::option::of(any_cache()),
            prop::option::of(any_credits()),
        ),
        (prop::collection::vec(stall, 0..4), prop::collection::vec(error, 0..5)),
    )
        .prop_map(
            |(
                (sectors, parallelism, read, write, fsync),
                (bandwidth, iops, cache, credits),
                (stalls, errors),
            )| {
                DeviceSpec {
                    capacity: Bytes(sectors * 512),
                    parallelism,
                    read_service: read,
                    write_service: write,
                    fsync_service: fsync,
                    bandwidth_bytes_per_s: bandwidth,
                    iops_limit: iops,
                    credits,
                    // Its memory is that of its pages: tested beside its own code.
                    flash: None,
                    cache,
                    stalls,
                    errors,
                }
            },
        )
}

/// Texts that come close to the grammar, where faults hide that noise does not find.
fn nearly_a_spec() -> impl Strategy<Value = String> {
    const KEYS: &str = "service mean read write fsync servers capacity bandwidth iops credits \
                        flash flash-block flash-state cache cache-write cache-line destage stall \
                        error ";
    let keys: Vec<&str> = KEYS.split(' ').collect();
    let value = "[0-9a-zEIO.:*@+%/µ_ \
                 -]{0,24}|(exponential|lognormal|empirical):[0-9]{1,25}(us|s|d):[0-9.e]{0,\
                 6}|[0-9]{1,20}(GiB|KiB|s|)[@+](exponential:)?[0-9]{1,20}(s|us|d)";
    let parameter =
        (0..keys.len(), value).prop_map(move |(key, value)| format!("{}={value}", keys[key]));
    (0..PRESETS.len(), prop::collection::vec(parameter, 0..5)).prop_map(|(preset, parameters)| {
        format!("{},{}", PRESETS[preset].name, parameters.join(","))
    })
}

proptest! {
    #[test]
    fn a_spec_survives_text_and_encoding(spec in any_spec()) {
        prop_assert_eq!(spec.check(), Ok(()));
        prop_assert_eq!(DeviceSpec::parse(&spec.to_string()), Ok(spec.clone()));
        let bytes = postcard::to_stdvec(&spec).expect("encodes");
        prop_assert_eq!(postcard::from_bytes::<DeviceSpec>(&bytes).expect("decodes"), spec);
    }

    #[test]
    fn any_text_is_a_device_that_reads_back_or_a_message(text in prop_oneof![".{0,60}",
        nearly_a_spec()]) {
        match DeviceSpec::parse(&text) {
            Ok(spec) => prop_assert_eq!(DeviceSpec::parse(&spec.to_string()), Ok(spec)),
            Err(message) => prop_assert!(!message.is_empty() && !message.contains('\n')),
        }
    }

    #[test]
    fn any_device_answers_any_requests_later_than_they_came(
        spec in any_spec(),
        requests in prop::collection::vec((0..Op::COUNT, any::<u64>(), 0..=1u32 << 24,
            0..=1u64 << 60), 1..20),
    ) {
        let mut device = Device::new(&spec, 1);
        let mut now_ns = 0u64;
        for (op, offset, length, gap_ns) in requests {
            now_ns = now_ns.saturating_add(gap_ns);
            let answer = device.submit(now_ns, Request { op: Op::EACH[op], offset, length });
            prop_assert!(answer.completed_ns > now_ns || answer.completed_ns == u64::MAX);
            prop_assert!(answer.result <= length as i32);
        }
    }
}
