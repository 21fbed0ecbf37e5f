//! How a [`HostPlan`] is written: in the run file with the settings of its engine among its own
//! fields, on the wire with its fields one behind the other.
//!
//! The run file names its fields, and had these names before the settings were a type of their own;
//! what was recorded stays readable, and queries stay true. The wire names none, so that a field
//! within a field costs nothing there, and cannot put up with fields whose number is not known
//! beforehand.

use super::{EngineSettings, HostPlan, HostStage, Part, Target};
use crate::metadata::Tree;
use crate::units::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// As fields with names.
#[derive(Serialize, Deserialize)]
#[serde(remote = "HostPlan")]
struct Named {
    run_id: String,
    host: u32,
    hostname: String,
    interval: Nanos,
    #[serde(flatten)]
    engine: EngineSettings,
    targets: Vec<Target>,
    #[serde(default)]
    trees: Vec<Tree>,
    stages: Vec<HostStage>,
    #[serde(default)]
    parts: Vec<Part>,
}

/// As fields without names, in this order.
#[derive(Serialize, Deserialize)]
#[serde(remote = "HostPlan")]
struct InOrder {
    run_id: String,
    host: u32,
    hostname: String,
    interval: Nanos,
    engine: EngineSettings,
    targets: Vec<Target>,
    trees: Vec<Tree>,
    stages: Vec<HostStage>,
    parts: Vec<Part>,
}

impl Serialize for HostPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            Named::serialize(self, serializer)
        } else {
            InOrder::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for HostPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostPlan, D::Error> {
        if deserializer.is_human_readable() {
            Named::deserialize(deserializer)
        } else {
            InOrder::deserialize(deserializer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::{Backend, Poll};
    use crate::plan::{Contents, PlannedTarget, TargetFile};
    use crate::units::Bytes;

    /// As a program recorded it whose plans had no type for the settings of an engine.
    const OLD: &str = concat!(
        r#"{"run_id":"t-1","host":1,"hostname":"vm","interval":300000000,"#,
        r#""backend":"IoUring","poll":"Completions","direct":false,"evict":true,"#,
        r#""drop_caches":false,"patience":30000000000,"#,
        r#""raw_latencies":false,"cpus":[2,3],"own_cpu":true,"virtual_time":false,"#,
        r#""contents":{"seed":14771108105917584635,"compressible":0,"duplicate":0,"#,
        r#""duplicate_scope":"Worker","#,
        r#""verify":false,"filled":true,"grain":65536},"#,
        r#""targets":[{"path":"/d","kind":"ReadOnly","files":[{"path":"/d","size":1048576}]}],"#,
        r#""trees":[],"stages":[],"parts":[{"stages":[0,1],"targets":{"start":0,"end":1},"#,
        r#""trees":{"start":0,"end":0},"#,
        r#""engine":{"backend":"IoUring","poll":"Completions","direct":true,"evict":true,"#,
        r#""drop_caches":false,"#,
        r#""patience":30000000000,"raw_latencies":false,"cpus":[2,3],"own_cpu":true,"#,
        r#""virtual_time":false,"#,
        r#""contents":{"seed":14771108105917584635,"compressible":0,"duplicate":0,"#,
        r#""duplicate_scope":"Worker","#,
        r#""verify":false,"filled":true,"grain":65536}}}]}"#
    );

    fn plan() -> HostPlan {
        let engine = EngineSettings {
            poll: Poll::Completions,
            direct: false,
            evict: true,
            cpus: vec![2, 3],
            own_cpu: true,
            contents: Contents {
                seed: 14_771_108_105_917_584_635,
                filled: true,
                grain: Bytes::kib(64),
                ..Contents::RANDOM
            },
            ..EngineSettings::simple(Backend::IoUring)
        };
        let part = EngineSettings { direct: true, ..engine.clone() };
        let files = vec![TargetFile { path: "/d".into(), size: Bytes(1 << 20) }];
        HostPlan {
            host: 1,
            hostname: "vm".into(),
            targets: vec![Target { path: "/d".into(), kind: PlannedTarget::ReadOnly, files }],
            parts: vec![Part { stages: vec![0, 1], targets: 0..1, trees: 0..0, engine: part }],
            ..HostPlan::empty("t-1", Nanos::millis(300), engine)
        }
    }

    #[test]
    fn what_was_recorded_before_the_settings_had_a_type_is_read_and_written_as_it_was() {
        assert_eq!(serde_json::from_str::<HostPlan>(OLD).expect("a plan"), plan());
        // How many hosts write a file was not recorded then: it was one.
        // Nor whether targets are flushed behind a load: they were not.
        let now = OLD.replace(r#""grain":65536}"#, r#""grain":65536,"hosts":1},"flush":false"#);
        assert_eq!(serde_json::to_string(&plan()).expect("a text"), now);
    }

    #[test]
    fn what_was_recorded_before_there_were_trees_and_parts_is_read() {
        let (before, behind) = OLD.split_once(r#""trees":"#).expect("trees");
        assert!(behind.contains("parts"));
        let text = format!(r#"{before}"stages":[]}}"#);
        let wanted = HostPlan { parts: Vec::new(), ..plan() };
        assert_eq!(serde_json::from_str::<HostPlan>(&text).expect("a plan"), wanted);
    }

    #[test]
    fn a_plan_without_one_of_the_settings_is_none() {
        let text = OLD.replacen(r#""direct":false,"#, "", 1);
        let error = serde_json::from_str::<HostPlan>(&text).expect_err("no plan").to_string();
        assert!(error.contains("direct"), "{error}");
    }

    #[test]
    fn on_the_wire_its_fields_stand_one_behind_the_other() {
        let plan = plan();
        let bytes = postcard::to_stdvec(&plan).expect("bytes");
        let engine = &plan.engine;
        let settings = (
            (
                engine.backend,
                engine.poll,
                engine.direct,
                engine.evict,
                engine.drop_caches,
                engine.patience,
            ),
            (
                engine.raw_latencies,
                &engine.cpus,
                engine.own_cpu,
                engine.virtual_time,
                engine.contents,
                engine.flush,
            ),
        );
        let before = (&plan.run_id, plan.host, &plan.hostname, plan.interval);
        let fields = (before, settings, (&plan.targets, &plan.trees, &plan.stages, &plan.parts));
        assert_eq!(bytes, postcard::to_stdvec(&fields).expect("bytes"));
        assert_eq!(postcard::from_bytes::<HostPlan>(&bytes), Ok(plan));
    }
}
