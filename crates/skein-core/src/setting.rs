//! What can be set while running: every name with its default and its limits.
//!
//! A setting is a record of the installation, so its history is kept like any other. What is not listed here cannot
//! be set; a room that needs a setting adds a line.

/// A setting that is a whole number.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub default: i64,
    pub min: i64,
    pub max: i64,
    pub description: &'static str,
}

/// Every setting there is.
pub const SETTINGS: &[Setting] = &[
    OPERATIONS_KEPT_DAYS,
    EXECUTIONS_KEPT_DAYS,
    EVENTS_REPLAY_DAYS,
    SUMMARY_TREE_NODES,
    WORKERS_HEARTBEAT_SECONDS,
    WORKERS_LEASE_SECONDS,
    WORKERS_LOST_MAX,
];

pub const OPERATIONS_KEPT_DAYS: Setting = Setting {
    name: "operations.keptDays",
    default: 7,
    min: 2,
    max: 365,
    description: "Days after which an ended operation is forgotten.",
};

pub const EXECUTIONS_KEPT_DAYS: Setting = Setting {
    name: "executions.keptDays",
    default: 30,
    min: 1,
    max: 3_650,
    description: "Days after which the rows of an ended run and what was measured of it are forgotten; its facts stay.",
};

pub const EVENTS_REPLAY_DAYS: Setting = Setting {
    name: "events.replayDays",
    default: 7,
    min: 1,
    max: 90,
    description: "Days of events a watcher that comes back is told again; further back it is asked to start over.",
};

pub const SUMMARY_TREE_NODES: Setting = Setting {
    name: "summaries.treeNodes",
    default: 10,
    min: 1,
    max: 10_000,
    description: "After how many new nodes the summary of a conversation is made anew.",
};

pub const WORKERS_HEARTBEAT_SECONDS: Setting = Setting {
    name: "workers.heartbeatSeconds",
    default: 30,
    min: 1,
    max: 600,
    description: "Seconds between two signs of life of a worker.",
};

pub const WORKERS_LEASE_SECONDS: Setting = Setting {
    name: "workers.leaseSeconds",
    default: 90,
    min: 2,
    max: 3_600,
    description: "Seconds without a sign of life after which a worker's jobs are given to others; at least twice \
                  workers.heartbeatSeconds, else that is taken.",
};

pub const WORKERS_LOST_MAX: Setting = Setting {
    name: "workers.lostMax",
    default: 3,
    min: 1,
    max: 100,
    description: "How many workers may vanish over a job before it is put aside for a person to look at.",
};

impl Setting {
    pub fn find(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// The number a value is, if this setting can take it.
    pub fn accept(&self, value: &serde_json::Value) -> Option<i64> {
        value.as_i64().filter(|number| (self.min..=self.max).contains(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_takes_numbers_within_its_limits() {
        let days = Setting::find("operations.keptDays").unwrap();
        assert_eq!(days.accept(&json!(2)), Some(2));
        for value in [json!(1), json!(366), json!("7"), json!(7.5), json!(null)] {
            assert_eq!(days.accept(&value), None, "{value}");
        }
        assert_eq!(Setting::find("no.such"), None);
    }

    #[test]
    fn every_default_is_within_its_limits() {
        assert!(SETTINGS.iter().all(|setting| setting.accept(&json!(setting.default)).is_some()));
    }
}
