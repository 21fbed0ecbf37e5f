//! XML profiles of DiskSpd with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned};
use crate::{Class, Dialect, Import, World, detect, import};
use proptest::prelude::*;

pub fn profile(span: &str, targets: &[&str]) -> String {
    let targets: String =
        targets.iter().map(|inner| format!("<Target>\n{inner}\n</Target>\n")).collect();
    format!(
        "<Profile>\n<Progress>0</Progress>\n<TimeSpans>\n<TimeSpan>\n{span}\n<Targets>\n{targets}\
         </Targets>\n</TimeSpan>\n</TimeSpans>\n</Profile>\n"
    )
}

fn imported(text: &str) -> Import {
    import("a.xml", text, None, &World::NOTHING).expect("a profile")
}

#[test]
fn profiles_become_suites() {
    let text = profile(
        "<Duration>60</Duration><Warmup></Warmup><RandSeed>7</RandSeed>\n\
         <DisableAffinity>true</DisableAffinity>",
        &[
            "<Path>*1</Path><BlockSize>32768</BlockSize><MaxFileSize>10737418240</MaxFileSize>\n\
             <DisableOSCache>true</DisableOSCache><WriteThrough>true</WriteThrough>\n\
             <WriteBufferContent><Pattern>random</Pattern><RandomDataSource>\
             <SizeInBytes>1048576</SizeInBytes></RandomDataSource></WriteBufferContent>\n\
             <Random>32768</Random><RandomRatio>20</RandomRatio><Distribution><Percent>\
             <Range IO=\"95\">5</Range><Range IO=\"4\">10</Range></Percent></Distribution>\n\
             <ThreadStride>0</ThreadStride><RequestCount>8</RequestCount>\
             <WriteRatio>100</WriteRatio>\n<Throughput unit=\"IOPS\">60</Throughput>\
             <ThreadsPerFile>1</ThreadsPerFile><IOPriority>3</IOPriority>",
            "<Path>*1</Path><BlockSize>8192</BlockSize><MaxFileSize>5368709120</MaxFileSize>\n\
             <RequestCount>4</RequestCount><ThreadsPerFile>2</ThreadsPerFile>\
             <BurstSize>4</BurstSize><ThinkTime>10</ThinkTime>",
        ],
    );
    assert_eq!(detect(&text), Some(Dialect::DiskSpd));
    let import = imported(&text);
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    planned(&import.suites[0].text).expect("a plan");
    insta::assert_snapshot!("diskspd_profile", losses_and_suites(&import));
}

#[test]
fn each_target_of_a_span_has_its_own_workload() {
    let text = profile(
        "<Duration>10</Duration>",
        &[
            "<Path>c:\\a.dat</Path><BlockSize>8192</BlockSize>\
             <MaxFileSize>1073741824</MaxFileSize>",
            "<Path>/x/b.dat</Path><BlockSize>65536</BlockSize>\
             <MaxFileSize>1073741824</MaxFileSize>",
            "<Path>/x/c.dat</Path><BlockSize>4096</BlockSize>\
             <MaxFileSize>1073741824</MaxFileSize>",
        ],
    );
    let import = imported(&text);
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    planned(&import.suites[0].text).expect("a plan");
    insta::assert_snapshot!("diskspd_targets_apart", losses_and_suites(&import));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let told = |inner: &str, name: &str| {
        let import = imported(&profile("", &[inner]));
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {inner}"))
    };
    let place = "<Path>/x/a</Path>";
    assert_eq!(told(&format!("{place}<Weight>3</Weight>"), "Weight").class, Class::Refused);
    let absolute = "<Distribution><Absolute><Range IO=\"9\">5</Range></Absolute></Distribution>";
    assert!(told(&format!("{place}{absolute}"), "Distribution").why.contains("bytes"));
    assert!(told(&format!("{place}<Blocksize>1</Blocksize>"), "Blocksize").why.contains("Size"));
    let empty = "<TimeSpans></TimeSpans>";
    assert!(import("a.xml", empty, Some(Dialect::DiskSpd), &World::NOTHING).is_err());
}

const INNER: [&str; 22] = [
    "<Path>/x/a</Path>",
    "<Path>/x/b</Path>",
    "<Path>*1</Path>",
    "<Path>C:\\a.dat</Path>",
    "<BlockSize>4096</BlockSize>",
    "<BlockSize>0</BlockSize>",
    "<FileSize>1073741824</FileSize>",
    "<MaxFileSize>99999999999999</MaxFileSize>",
    "<BaseFileOffset>4096</BaseFileOffset>",
    "<Random>4096</Random>",
    "<RandomRatio>50</RandomRatio>",
    "<StrideSize>1</StrideSize>",
    "<Throughput>5</Throughput>",
    "<WriteRatio>101</WriteRatio>",
    "<WriteRatio>30</WriteRatio>",
    "<ThreadsPerFile>999999</ThreadsPerFile>",
    "<ThreadStride>4096</ThreadStride>",
    "<DisableAllCache>true</DisableAllCache>",
    "<Distribution><Percent><Range IO=\"10\">10</Range></Percent></Distribution>",
    "<ThinkTime>5</ThinkTime>",
    "<InterlockedSequential>true</InterlockedSequential>",
    "<Surprise/>",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 800,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn profiles_of_any_elements_are_planned_or_refused(
        targets in prop::collection::vec(prop::collection::vec(0..INNER.len(), 0..8), 1..3),
    ) {
        let inner: Vec<String> = targets
            .iter()
            .map(|numbers| numbers.iter().map(|number| INNER[*number]).collect())
            .collect();
        let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
        let text = profile("<Duration>5</Duration>", &inner);
        let import = imported(&text);
        if import.refused().next().is_none()
            && let Err(why) = planned(&import.suites[0].text)
        {
            let is_its_own = ["one block", "direct I/O needs", "smaller than", "free"];
            prop_assert!(
                is_its_own.iter().any(|word| why.contains(word)),
                "{text}: {why}\n{}",
                import.suites[0].text
            );
        }
    }

    #[test]
    fn any_markup_does_no_harm(text in "[<>/a-c \"'=!?&;-]{0,80}") {
        let _ = crate::words::xml::parse(&text);
        let text = format!("<Profile><TimeSpans>{text}</TimeSpans></Profile>");
        let _ = import("a.xml", &text, Some(Dialect::DiskSpd), &World::NOTHING);
    }
}
