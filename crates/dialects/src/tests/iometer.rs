//! Configurations of Iometer: made up, in the form that its source writes.

use super::common::planned;
use crate::{Class, Dialect, Import, World, detect, import};

const HEAD: &str = "Version 1.1.0 
'TEST SETUP ====================================================================
'Test Description
\tAn old test
'Run Time
'\thours      minutes    seconds
\t0          2          30
'Ramp Up Time (s)
\t15
'Default Disk Workers to Spawn
\tNUMBER_OF_CPUS
'Default Network Workers to Spawn
\t0
'Record Results
\tALL
'Worker Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Disk Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Queue Depth Cycling
'\tstart      end        step       step type
\t1          64         4          EXPONENTIAL
'Test Type
\tNORMAL
'END test setup
'RESULTS DISPLAY ===============================================================
'Record Last Update Results,Update Frequency,Update Type
\tDISABLED,1,WHOLE_TEST
'Bar chart 1 statistic
\tTotal I/Os per Second
'END results display
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tdatabase, mixed,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t4096,75,100,100,0,1,4096,0
\t65536,25,0,100,0,1,4096,0
'Access specification name,default assignment
\tscan,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t262144,100,100,0,0,1,0,0
'END access specifications
";

fn worker(name: &str, target: &str, depth: u32) -> String {
    format!(
        "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Default target settings for worker\n\
         'Number of outstanding IOs,test connection rate,transactions per connection,use fixed \
         seed,fixed seed value\n\t{depth},DISABLED,1,DISABLED,0\n\
         'Disk maximum size,starting sector,Data pattern\n\t2097152,0,1\n\
         'End default target settings for worker\n'Assigned access specs\n\tdatabase, mixed\n\
         \tscan\n'End assigned access specs\n'Target assignments\n'Target\n\t{target}\n\
         'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n"
    )
}

fn text(workers: &[String]) -> String {
    format!(
        "{HEAD}'MANAGER LIST ==================================================================\n\
         'Manager ID, manager name\n\t1,node-a\n'Manager network address\n\t10.0.0.1\n{}\
         'End manager\n'END manager list\nVersion 1.1.0 \n",
        workers.concat()
    )
}

fn read(text: &str) -> Import {
    assert_eq!(detect(text), Some(Dialect::Iometer));
    import("old/oltp.icf", text, None, &World::NOTHING).expect("a configuration")
}

#[test]
fn a_configuration_becomes_points_that_run_one_after_the_other() {
    let text = text(&[worker("Worker 1", "sdb", 8), worker("Worker 2", "sdc", 8)]);
    let import = read(&text);
    let refused: Vec<_> = import.refused().collect();
    assert!(refused.is_empty(), "{refused:?}");
    insta::assert_snapshot!(super::common::losses_and_suites(&import));
    planned(&import.suites[0].text).expect("a plan");
}

#[test]
fn workers_that_do_different_things_at_the_same_time_are_a_group() {
    let text = text(&[worker("Worker 1", "sdb", 8), worker("Worker 2", "sdb", 1)]);
    let import = read(&text);
    assert_eq!(import.refused().count(), 0);
    let suite = &import.suites[0].text;
    assert_eq!(suite.matches("group = \"scan\"").count(), 2, "{suite}");
    planned(suite).expect("a plan");
}

#[test]
fn outstanding_requests_are_swept_where_the_test_type_asks_for_it() {
    let text = text(&[worker("Worker 1", "sdb", 8)]).replace("NORMAL", "CYCLE_OUTSTANDING_IOS");
    let import = read(&text);
    assert_eq!(import.refused().count(), 0);
    let suite = &import.suites[0].text;
    assert!(suite.contains("depth = [1, 4, 16, 64]"), "{suite}");
    planned(suite).expect("a plan");
}

#[test]
fn networks_and_sweeps_over_targets_are_refused_by_name() {
    let text = text(&[worker("Worker 1", "sdb", 8)])
        .replace("NORMAL", "CYCLE_TARGETS")
        .replacen("\tDISK", "\tNETWORK,TCP", 1);
    let refused: Vec<String> = read(&text).refused().map(|told| told.name.clone()).collect();
    assert_eq!(refused, ["Test Type", "Worker type"]);
}

#[test]
fn what_all_workers_share_is_not_the_same_where_one_differs() {
    let first = worker("Worker 1", "sdb", 8).replace("DISABLED,0\n", "ENABLED,5\n");
    let second = worker("Worker 2", "sdc", 8);
    for (from, to, name, class) in [
        ("DISABLED,0\n", "ENABLED,6\n", "fixed seed value", Class::Approximated),
        ("2097152,0,1", "2097152,0,0", "Data pattern", Class::Refused),
        ("2097152,0,1", "200,0,1", "Disk maximum size", Class::Refused),
        ("\t8,DIS", "\t9000,DIS", "Number of outstanding IOs", Class::Approximated),
    ] {
        let import = read(&text(&[first.clone(), second.replace(from, to)]));
        let told = import.options.iter().rfind(|told| told.name == name);
        assert_eq!(told.expect(name).class, class, "{told:?}");
        assert!(!import.suites[0].text.contains("compressible"), "the first has other bytes");
    }
    let cycle = text(&[worker("Worker 1", "sdb", 8)]).replace("NORMAL", "CYCLE_OUTSTANDING_IOS");
    let import = read(&cycle.replace("64         4          EXP", "999        1          LIN"));
    let told = import.options.iter().find(|told| told.name == "Queue Depth Cycling");
    assert_eq!(told.expect("one").class, Class::Approximated, "64 of 999 depths: {told:?}");
}

#[test]
fn what_is_saved_without_managers_is_a_suite_for_any_target() {
    let import = read(HEAD);
    assert!(import.options.iter().all(|told| told.class != Class::Refused));
    let suite = &import.suites[0].text;
    assert!(suite.contains("workers = \"cpus\""), "{suite}");
    planned(suite).expect("a plan");
}
