//! Lists the settings that can change while the server runs, with their defaults and limits.
//!
//! A setting is a record of the installation, so its history is kept like any other. What is not listed here cannot
//! be set; a room that needs a setting adds a line.

use serde_json::{Value, json};

use crate::id::RecordId;

/// Something that can be set.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub takes: AllowedValues,
    pub description: &'static str,
}

/// What a setting can be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedValues {
    /// A whole number.
    Number { default: i64, min: i64, max: i64 },
    /// A tool, or none.
    Tool,
}

/// Every setting there is.
pub const SETTINGS: &[Setting] = &[
    OPERATIONS_KEPT_DAYS,
    EXECUTIONS_KEPT_DAYS,
    EVENTS_REPLAY_DAYS,
    SUMMARY_TREE_NODES,
    SUMMARY_TOOL,
    WORKERS_HEARTBEAT_SECONDS,
    WORKERS_LEASE_SECONDS,
    WORKERS_LOST_MAX,
];

pub const OPERATIONS_KEPT_DAYS: Setting = Setting {
    name: "operations.keptDays",
    takes: AllowedValues::Number { default: 7, min: 2, max: 365 },
    description: "Days after which an ended operation is forgotten.",
};

pub const EXECUTIONS_KEPT_DAYS: Setting = Setting {
    name: "executions.keptDays",
    takes: AllowedValues::Number { default: 30, min: 1, max: 3_650 },
    description: "Days after which the rows of an ended run and what was measured of it are forgotten; its facts stay.",
};

pub const EVENTS_REPLAY_DAYS: Setting = Setting {
    name: "events.replayDays",
    takes: AllowedValues::Number { default: 7, min: 1, max: 90 },
    description: "Days of events a watcher that comes back is told again; further back it is asked to start over.",
};

pub const SUMMARY_TREE_NODES: Setting = Setting {
    name: "summaries.treeNodes",
    takes: AllowedValues::Number { default: 10, min: 1, max: 10_000 },
    description: "After how many new nodes the summary of a conversation is made anew.",
};

pub const WORKERS_HEARTBEAT_SECONDS: Setting = Setting {
    name: "workers.heartbeatSeconds",
    takes: AllowedValues::Number { default: 30, min: 1, max: 600 },
    description: "Seconds between two signs of life of a worker.",
};

pub const WORKERS_LEASE_SECONDS: Setting = Setting {
    name: "workers.leaseSeconds",
    takes: AllowedValues::Number { default: 90, min: 2, max: 3_600 },
    description: "Seconds without a sign of life after which a worker's jobs are given to others; at least twice \
                  workers.heartbeatSeconds, else that is taken.",
};

pub const WORKERS_LOST_MAX: Setting = Setting {
    name: "workers.lostMax",
    takes: AllowedValues::Number { default: 3, min: 1, max: 100 },
    description: "How many workers may vanish over a job before it is put aside for a person to look at.",
};

pub const SUMMARY_TOOL: Setting = Setting {
    name: "summaries.tool",
    takes: AllowedValues::Tool,
    description: "The tool whose model writes summaries, for those who may call it; null, and where it fails, the built-in \
        model.",
};

impl Setting {
    pub fn find(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// What it is until somebody sets it.
    pub fn default(&self) -> Value {
        match self.takes {
            AllowedValues::Number { default, .. } => json!(default),
            AllowedValues::Tool => Value::Null,
        }
    }

    /// The least and the most it can be, of a number.
    pub fn limits(&self) -> Option<(i64, i64)> {
        match self.takes {
            AllowedValues::Number { min, max, .. } => Some((min, max)),
            AllowedValues::Tool => None,
        }
    }

    /// A value, if this setting can take it.
    pub fn accept(&self, value: &Value) -> Option<Value> {
        let is_fit = match self.takes {
            AllowedValues::Number { min, max, .. } => {
                value.as_i64().is_some_and(|number| (min..=max).contains(&number))
            }
            AllowedValues::Tool => value.is_null() || value.as_str().is_some_and(|id| id.parse::<RecordId>().is_ok()),
        };
        is_fit.then(|| value.clone())
    }

    /// What it can be set to, in words.
    pub fn wanted(&self) -> String {
        match self.takes {
            AllowedValues::Number { min, max, .. } => format!("a whole number from {min} to {max}"),
            AllowedValues::Tool => "the id of a tool, or null".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_takes_numbers_within_its_limits() {
        let days = Setting::find("operations.keptDays").unwrap();
        assert_eq!(days.accept(&json!(2)), Some(json!(2)));
        for value in [json!(1), json!(366), json!("7"), json!(7.5), json!(null)] {
            assert_eq!(days.accept(&value), None, "{value}");
        }
        assert_eq!(Setting::find("no.such"), None);
        let id = json!("entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z");
        assert_eq!((SUMMARY_TOOL.accept(&id), SUMMARY_TOOL.accept(&json!(null))), (Some(id), Some(json!(null))));
        for value in [json!(7), json!("tool"), json!("item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"), json!([])] {
            assert_eq!(SUMMARY_TOOL.accept(&value), None, "{value}");
        }
    }

    #[test]
    fn every_default_is_within_its_limits() {
        assert!(SETTINGS.iter().all(|setting| setting.accept(&setting.default()).is_some()));
    }
}
