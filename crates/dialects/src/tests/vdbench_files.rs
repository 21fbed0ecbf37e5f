//! Parameter files of vdbench with the suites and reports of losses that they become.

use super::common::{losses_and_suites, planned};
use crate::{Class, Dialect, Import, World, detect, import};
use proptest::prelude::*;

fn imported(text: &str) -> Import {
    import("a.parm", text, Some(Dialect::Vdbench), &World::NOTHING).expect("a parameter file")
}

fn whole(name: &str, text: &str) {
    assert_eq!(detect(text), Some(Dialect::Vdbench), "{text}");
    let import = imported(text);
    assert_eq!(import.refused().count(), 0, "{}", losses_and_suites(&import));
    planned(&import.suites[0].text)
        .unwrap_or_else(|why| panic!("{why}\n{}", losses_and_suites(&import)));
    insta::assert_snapshot!(name, losses_and_suites(&import));
}

#[test]
fn parameters_of_storage_become_suites() {
    whole(
        "vdbench_storage",
        "compratio=2\nmessagescan=no\nhd=default,shell=ssh,user=root\nhd=a,system=host1\n\
         sd=default,openflags=o_direct,threads=16,host=a\nsd=sd1,lun=/dev/sdb\n\
         sd=sd2,lun=/dev/sdc\nwd=wd1,sd=sd*,xfersize=(8k,70,64k,30),rdpct=70,seekpct=100\n\
         rd=warm,wd=wd1,iorate=max,elapsed=2m,warmup=10,interval=5\n\
         rd=rates,wd=wd1,iorate=(1000-3000,1000),elapsed=60,interval=5,forthreads=(4,8)\n",
    );
    whole(
        "vdbench_files_of_storage",
        "sd=sd1,lun=/x/one,size=10g\nsd=sd2,lun=/x/two,size=10g\n\
         wd=reads,sd=sd*,xfersize=4k,rdpct=100,skew=75,range=(0,50)\n\
         wd=writes,sd=sd*,xfersize=32k,rdpct=0,seekpct=seq\n\
         rd=both,wd=*,iorate=2000,el=1m,in=1,dist=det\n",
    );
}

#[test]
fn a_workload_loads_the_storage_that_it_names() {
    whole(
        "vdbench_storage_apart",
        "sd=default,openflags=o_direct\nsd=sd1,lun=/dev/sdb\nsd=sd2,lun=/dev/sdc\n\
         sd=sd3,lun=/dev/sdd\nwd=log,sd=sd2,xfersize=64k,rdpct=0,seekpct=0\n\
         wd=data,sd=(sd1,sd3),xfersize=8k,rdpct=70\nrd=both,wd=*,iorate=max,elapsed=60\n\
         rd=rate,wd=*,iorate=300,elapsed=60\n",
    );
    whole(
        "vdbench_files_apart",
        "sd=sd1,lun=/x/one,size=1g\nsd=sd2,lun=/x/two,size=1g\nsd=sd3,lun=d:\\three,size=1g\n\
         wd=a,sd=sd1\nwd=b,sd=sd2,xfersize=8k\nwd=c,sd=sd3,xfersize=16k\n\
         rd=r,wd=*,iorate=max,elapsed=60\n",
    );
}

#[test]
fn a_rate_goes_in_equal_parts_to_workloads_that_are_alike() {
    let text = "sd=s1,lun=/dev/a\nsd=s2,lun=/dev/b\nsd=s3,lun=/dev/c\nwd=a,sd=s1\nwd=b,sd=s2\n\
                wd=c,sd=s3,xfersize=8k\nrd=r,wd=*,iorate=900\n";
    let import = imported(text);
    let rates: Vec<&str> =
        import.suites[0].text.lines().filter(|line| line.starts_with("rate = ")).collect();
    assert_eq!(rates.len(), 3, "{}", import.suites[0].text);
    assert!(rates.iter().all(|line| line.starts_with("rate = 300 ")), "{rates:?}");
    // All of them alike are one workload, with all of the rate.
    let alike = imported(&text.replace(",xfersize=8k", ""));
    let rates: Vec<&str> =
        alike.suites[0].text.lines().filter(|line| line.starts_with("rate = ")).collect();
    assert!(rates.len() == 1 && rates[0].starts_with("rate = 900 "), "{rates:?}");
    // Rates of their own add up.
    let own = imported(
        "sd=s1,lun=/dev/a\nsd=s2,lun=/dev/b\nwd=a,sd=s1,iorate=100\nwd=b,sd=s2,iorate=100\n\
         rd=r,wd=*,iorate=max\n",
    );
    assert_eq!(own.suites[0].text.matches("rate = 100 ").count(), 2, "{}", own.suites[0].text);
}

#[test]
fn parameters_of_files_become_suites() {
    whole(
        "vdbench_requests_to_files",
        "fsd=fsd1,anchor=/mnt/a,depth=2,width=4,files=10,size=(1m,70,4m,30)\n\
         fwd=default,xfersize=64k,fileio=random,fileselect=random,threads=8\n\
         fwd=fwd1,fsd=fsd1,operation=read\nfwd=fwd2,fsd=fsd1,operation=write\n\
         rd=rd1,fwd=fwd*,fwdrate=max,format=yes,elapsed=30,interval=1\n",
    );
    whole(
        "vdbench_operations_on_files",
        "fsd=fsd1,anchor=/mnt/a,depth=3,width=4,files=100,size=8k\n\
         fwd=one,fsd=fsd1,operation=create,threads=4\nfwd=two,fsd=fsd1,operation=getattr\n\
         fwd=three,fsd=fsd1,operation=delete\n\
         rd=rd1,fwd=(one,two,three),fwdrate=max,format=no,elapsed=30,interval=1\n",
    );
}

#[test]
fn a_run_may_name_storage_alone() {
    whole(
        "vdbench_storage_alone",
        "sd=sd1,lun=/dev/block0,size=10G,openflags=o_direct\n\
         rd=default,sd=sd*,elapsed=90m,seekpct=100,interval=10,iorate=max,rdpct=100,threads=32\n\
         rd=prealloc,maxdata=1,xfersize=256k,rdpct=0,seekpct=0,threads=1\n\
         rd=reads,xfersize=8k\n",
    );
}

#[test]
fn a_total_size_is_as_many_files_as_make_it() {
    whole(
        "vdbench_total_size",
        "fsd=fsd1,anchor=/mnt/a,depth=2,width=4,files=100,size=1m,totalsize=500m\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=64k,fileio=random,threads=8\n\
         rd=all,fwd=fwd1,fwdrate=max,format=yes,elapsed=30,interval=1\n\
         rd=some,fwd=fwd1,fwdrate=max,format=yes,elapsed=30,interval=1,wss=50m\n",
    );
    let text = "fsd=f,anchor=/a,files=3,size=4k,totalsize=1m\nfwd=w,fsd=f\nrd=r,fwd=w\n";
    let import = imported(text);
    let told = import.refused().next().expect("more than there is");
    assert_eq!((told.name.as_str(), import.refused().count()), ("totalsize", 1));
}

#[test]
fn a_run_that_follows_another_of_the_same_files_finds_none() {
    let run = "rd=q,fwd=p,fwdrate=max,format=yes,elapsed=9\n";
    let text = format!(
        "fsd=f,anchor=/a,depth=2,width=3,files=9,size=64k\nfwd=p,fsd=f,operation=create\n{run}{run}"
    );
    let import = imported(&text);
    assert_eq!(import.refused().count(), 0);
    planned(&import.suites[0].text).expect("files are made, removed and made again");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let told = |text: &str, name: &str| {
        let import = imported(text);
        let told = import.options.into_iter().find(|told| told.name == name);
        told.unwrap_or_else(|| panic!("{name} of {text}"))
    };
    let rd = "rd=r,wd=w,iorate=max,elapsed=5\n";
    let text = format!("sd=s,lun=/dev/a\nwd=w,sd=s,rhpct=50\n{rd}");
    assert!(told(&text, "rhpct").why.contains("hits a cache"));
    let text = format!("sd=s,lun=/dev/a,sise=4g\nwd=w,sd=s\n{rd}");
    assert!(told(&text, "sise").why.contains("`size`"));
    let text = "sd=s,lun=/dev/a\nwd=a,sd=s,skew=20\nwd=b,sd=s,xfersize=8k\nrd=r,wd=*,iorate=max\n";
    assert_eq!(told(text, "skew").class, Class::Same, "a share at full speed");
    let text = "fsd=f,anchor=/a,files=3,size=4k\nfwd=w,fsd=f,operation=copy\nrd=r,fwd=w\n";
    assert!(told(text, "operation").why.contains("copy"));
    assert!(import("a", "sd=s,lun=/x\n", Some(Dialect::Vdbench), &World::NOTHING).is_err());
}

#[test]
fn the_last_value_of_a_parameter_counts() {
    let rd = "fwd=w,fsd=f\nrd=r,fwd=w,fwdrate=max,elapsed=5\n";
    let fsd = "anchor=/a,depth=2,width=2,files=5,size=64k";
    let all = format!("fsd=default,distribution=all\nfsd=f,{fsd}\n{rd}");
    assert!(imported(&all).suites[0].text.contains("files = 30 "));
    let lowest = all.replace(fsd, &format!("{fsd},distribution=bottom"));
    assert!(imported(&lowest).suites[0].text.contains("files = 20 "));
    let verified = imported(&format!("validate=yes\nvalidate=no\nfsd=f,{fsd}\n{rd}"));
    assert!(!verified.suites[0].text.contains("verify"), "{}", verified.suites[0].text);
    let text = "sd=s,lun=/dev/a\nwd=w,sd=s\nrd=default,maxdata=1\nrd=r,wd=w,maxdata=10g\n";
    assert!(imported(text).suites[0].text.contains("amount = \"10GiB\""));
}

/// Files, with a blank for each end of a line; behind ` = ` what the suite holds, and behind ` ! `
/// the options, with values where they matter, of which the report says that they are not met.
const MEANT: &str = r#"
* sd=s1,lun=/dev/a,range=(0,50) sd=s2,lun=/dev/b,range=(50,100) wd=w,sd=s* rd=r,wd=w
  ! range=(0,50); range=(50,100)
* sd=s1,lun=/x/a,size=1g,openflags=(o_direct,o_sync) sd=s2,lun=/y/b,size=1g
  wd=w1,sd=s1 wd=w2,sd=s2,xfersize=8k rd=r,wd=w* = direct = true ! openflags
* sd=s1,lun=/dev/a wd=w1,sd=zz rd=r,wd=(w1,zz) ! sd=zz; wd=(w1,zz)
* sd=sd,lun=/x/a,size=1g,count=(1,4) wd=w1,sd=sd2 rd=r,wd=w1 = /x/plimsoll-data; files = 1
* sd=sd*,lun=/dev/d*p,count=(7,2) wd=w1,sd=sd7 wd=w2,sd=sd8,xfersize=8k rd=r,wd=w*
  = /dev/d7p; /dev/d8p; targets = "1"; targets = "2"
* sd=sd,lun=/x/a,size=1g,count=(1,9999) wd=w,sd=sd* rd=r,wd=w ! count
* sd=s,lun=/dev/a wd=w1,sd=s,iorate=100 wd=w2,sd=s,xfersize=8k rd=r,wd=w*,iorate=1000
  = rate = 100 ; rate = 900
* sd=s,lun=/dev/a wd=w1,sd=s,iorate=150 wd=w2,sd=s,xfersize=8k rd=r,wd=w*,iorate=100 ! iorate=150
* sd=s,lun=/dev/a wd=w1,sd=s,skew=30 wd=w2,sd=s,xfersize=8k,skew=30 rd=r,wd=w*,iorate=9 ! skew
* sd=s,lun=/dev/a wd=w,sd=s rd=r,wd=w,elapsed=5,interval=2,seekpct=eof
  = amount = "all"; interval = "2s" ! elapsed
* sd=s,lun=/dev/a wd=w,sd=s,seekpct=eof rd=r,wd=w,seekpct=50 = measure =
* sd=s,lun=/dev/a wd=w1,sd=s wd=w2,sd=s,seekpct=eof,xfersize=8k rd=r,wd=w*,elapsed=50
  = measure = "50s" ! seekpct
* sd=s,lun=/dev/a wd=w,sd=s rd=r,wd=w,elapsed=0,interval=9 = measure = "1s" ! elapsed; interval
* sd=s,lun=/dev/a wd=w,sd=s rd=r1,wd=w,interval=1 rd=r2,wd=w,interval=10 ! interval=10
* fsd=f1,anchor=/a,files=9,size=64k fsd=f2,anchor=/b,files=9,size=64k
  fwd=w1,fsd=f1,operation=read fwd=w2,fsd=f2,operation=write rd=r,fwd=w*
  = targets = "1"; targets = "2"
* fsd=f1,anchor=/a,files=9,size=4k fsd=f2,anchor=/b,files=9,size=4k
  fwd=w1,fsd=(f1),operation=create fwd=w2,fsd=(f2),operation=delete rd=r,fwd=w*
  ! fsd=(f1); fsd=(f2)
* fsd=f1,anchor=/a,files=9,size=4k fwd=w,fsd=zz rd=r,fwd=w ! fsd=zz
* fsd=f1,anchor=/a,files=99,size=4k fsd=f2,anchor=/b,files=99,size=4k,totalsize=40k,count=(1,4)
  fwd=w,fsd=f* rd=r,fwd=w = /b1/plimsoll-data; /b4/plimsoll-data ! totalsize
* fsd=f1,anchor=/a,files=9,size=4k,distribution=bottom
  fsd=f2,anchor=/b,files=9,size=4k,distribution=all fwd=w,fsd=f* rd=r,fwd=w ! distribution
* fsd=f,anchor=/a,depth=1,width=2,files=100,size=4k fwd=w,fsd=f,operation=getattr
  rd=r,fwd=w,files=10,width=3 = per_directory = 10 ; fan_out = 3 ; a.parm:3 files=10
* fsd=f,anchor=/a,files=9,size=64k,openflags=o_direct
  fwd=w,fsd=f,operation=create,xfersize=4k,fileio=random,openflags=o_sync rd=r,fwd=w
  ! openflags; xfersize; fileio
* fsd=f,anchor=/a,files=9,size=4k fwd=w,fsd=f,operation=getattr rd=r,fwd=w,warmup=9,interval=2
  = interval = "2s" ! warmup
* fsd=f,anchor=/a,files=9,size=4k fwd=w1,fsd=f,operation=getattr,threads=2
  fwd=w2,fsd=f,operation=delete,threads=9 rd=r,fwd=w* = workers = 2 ! threads
* fsd=f,anchor=/a,files=9,size=64k fwd=w,fsd=f,operation=read
  rd=r,fwd=w,fwdrate=100,distribution=exponential,seekpct=100 = arrivals = "poisson" ! seekpct
* fsd=f,anchor=/a,files=9,size=64k fwd=w,fsd=f,skew=30 rd=r,fwd=w ! skew
"#;

#[test]
fn what_a_suite_does_not_mean_is_told() {
    for case in MEANT.split("\n* ").skip(1) {
        let case = case.split_whitespace().collect::<Vec<_>>().join(" ");
        let (rest, unmet) = case.split_once(" ! ").unwrap_or((&case, ""));
        let (lines, held) = rest.split_once(" = ").unwrap_or((rest, ""));
        let import = imported(&lines.replace(' ', "\n"));
        let shown = format!("{case}\n{}", losses_and_suites(&import));
        for part in held.split("; ") {
            assert!(import.suites[0].text.contains(part), "{part}: {shown}");
        }
        for one in unmet.split("; ").filter(|one| !one.is_empty()) {
            let (name, value) = one.split_once('=').unwrap_or((one, ""));
            let all = import.options.iter().filter(|told| told.name == name);
            let all = all.filter(|told| value.is_empty() || told.value == value);
            let least = all.map(|told| told.class).min().expect("the option");
            assert!(least > Class::Harmless, "{one}: {shown}");
        }
        if unmet.is_empty() {
            assert_eq!(import.refused().count(), 0, "{shown}");
            planned(&import.suites[0].text).unwrap_or_else(|why| panic!("{why}\n{shown}"));
        }
    }
}

#[test]
fn every_beginning_of_a_word_is_that_word() {
    let long = imported("sd=s,lun=/dev/a\nwd=w,sd=s\nrd=r,wd=w,iorate=100,elapsed=10,interval=2\n");
    let short = imported("sd=s,lu=/dev/a\nwd=w,sd=s\nrd=r,wd=w,io=100,el=10,in=2\n");
    let plain = |import: &Import| {
        let lines = import.suites[0].text.lines();
        let lines: Vec<String> =
            lines.map(|line| line.split('#').next().unwrap_or("").trim().to_owned()).collect();
        lines.join("\n")
    };
    assert_eq!(plain(&long), plain(&short));
}

const LINES: [&str; 42] = [
    "sd=s1,lun=/dev/sda",
    "sd=s2,lun=/dev/sdb,threads=4",
    "sd=s3,lun=/x/f,size=1g",
    "sd=default,openflags=o_direct",
    "sd=s4,lun=/x/g,count=(1,4),size=2g",
    "wd=w1,sd=s*",
    "wd=w2,sd=s1,xfersize=(4k,50,1m,50)",
    "wd=w3,sd=(s1-s3),seekpct=0,rdpct=20",
    "wd=w4,sd=*,xfersize=(512,64k,512),seekpct=eof",
    "wd=w5,sd=s1,stride=64k,seekpct=seq",
    "wd=w6,sd=s*,skew=30,range=(10,20)",
    "wd=w7,sd=s2,iorate=50,seekpct=40",
    "rd=r1,wd=w1,iorate=max,elapsed=5",
    "rd=r2,wd=*,iorate=(100,200),elapsed=5,interval=9",
    "rd=r3,wd=w*,iorate=curve,forthreads=(1-64,d)",
    "rd=r4,wd=w1,forxfersize=(4k,8k),rdpct=(0,50)",
    "rd=r5,wd=w3,forseekpct=(0,100),maxdata=10g",
    "rd=default,elapsed=0,interval=1h",
    "rd=r6,wd=w2,io=12.5,warmup=1h",
    "fsd=f1,anchor=/a,depth=2,width=3,files=9,size=64k",
    "fsd=f2,anchor=/b,depth=1,width=1,files=100000,size=(4k,50,8k,50)",
    "fsd=f3,anchor=/c,depth=9,width=99,files=99999,size=1g",
    "fsd=f4,anchor=/d,depth=1,width=2,files=50,size=64k,totalsize=1m",
    "fsd=f5,anchor=/d,files=50,size=(4k,50,8k,50),wss=(100k,2)",
    "fsd=default,distribution=all",
    "fwd=p1,fsd=f1,operation=read,xfersize=4k",
    "fwd=p2,fsd=f*,rdpct=50,fileio=random,threads=3",
    "fwd=p3,fsd=f1,operation=create",
    "fwd=p4,fsd=(f1,f2),operation=delete,skew=10",
    "fwd=p5,fsd=f3,xfersize=(1m,50,2m,50)",
    "fwd=p6,fsd=f2,operation=mkdir",
    "rd=q1,fwd=p*,fwdrate=max,format=yes,elapsed=9",
    "rd=q2,fwd=p1,fwdrate=(10,20)",
    "rd=q3,fwd=p2,forthreads=(1,2),forxfersize=(512,4k)",
    "rd=q4,fwd=*,operations=(write,read)",
    "rd=q5,fwd=p3,format=only",
    "compratio=3",
    "validate=yes",
    "dedupratio=2",
    "hd=h1,system=x",
    "loop=3",
    "sd=((",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn files_of_any_lines_are_planned_or_refused(
        mut numbers in prop::collection::vec(0..LINES.len(), 1..12),
        sorted in prop::bool::weighted(0.9),
    ) {
        if sorted {
            numbers.sort_unstable();
        }
        let lines: Vec<&str> = numbers.iter().map(|number| LINES[*number]).collect();
        let text = lines.join("\n");
        let Ok(import) = import("a", &text, Some(Dialect::Vdbench), &World::NOTHING) else {
            return Ok(());
        };
        for told in &import.options {
            prop_assert!(!told.why.is_empty() && !told.place.is_empty(), "{told:?}");
        }
        if import.refused().next().is_none()
            && let Err(why) = planned(&import.suites[0].text)
        {
            // Files that are smaller than their requests, or more of them than there is room for.
            let is_its_own = ["one block", "smaller than", "direct I/O needs", "room", "free"];
            prop_assert!(
                is_its_own.iter().any(|word| why.contains(word)),
                "{text}: {why}\n{}",
                import.suites[0].text
            );
        }
    }
}
