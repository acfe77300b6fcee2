//! Views of executions, reviews and workers.

use serde_json::Value;

use super::{List, Sheet, sheet};
use crate::output::text;

pub(crate) static BEGUN: Sheet =
    Sheet { fields: &["executionId", "operationId", "statusUrl"], wanted: "executionId", remark: None };
pub(crate) static REVIEW: Sheet = sheet(&[
    "id",
    "status",
    "processName",
    "stepId",
    "executionId",
    "asked",
    "decision",
    "createdAt",
    "expiresAt",
    "endedAt",
    "askedBy.name",
    "toolName",
    "calledProcessName",
    "delegate.name",
    "decidedBy.name",
]);

pub(crate) static RUNS: List = List {
    name: "runs",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("BEGUN", |row| text(&row["startedAt"])),
        ("STATUS", standing),
        ("TOKENS", |row| text(&row["tokens"])),
        ("PROCESS", |row| text(&row["processName"])),
        ("WHAT", came_of),
    ],
};
pub(crate) static REVIEWS: List = List {
    name: "reviews",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("STATUS", |row| text(&row["status"])),
        ("ASKED", |row| text(&row["createdAt"])),
        ("UNTIL", |row| text(&row["expiresAt"])),
        ("PROCESS", |row| text(&row["processName"])),
        ("STEP", |row| text(&row["stepId"])),
        ("WHOSE", whose),
        ("WHAT", asked),
    ],
};
pub(crate) static APPROVAL: Sheet = sheet(&["id", "toolId", "definitionVersion", "reviewId", "givenAt"]);
pub(crate) static APPROVALS: List = List {
    name: "approvals",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("GIVEN", |row| text(&row["givenAt"])),
        ("COUNTS", |row| if row["counts"] == true { "yes".to_owned() } else { "no: it changed".to_owned() }),
        ("TOOL", |row| text(&row["toolName"])),
    ],
};
pub(crate) static WORKERS: List = List {
    name: "workers",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("STATUS", |row| text(&row["status"])),
        ("AT ONCE", |row| text(&row["concurrency"])),
        ("DONE", |row| text(&row["processedCount"])),
        ("FAILED", |row| text(&row["errorCount"])),
        ("HEARD OF", |row| text(&row["lastHeartbeat"])),
        ("WHERE", |row| format!("{} {}", text(&row["host"]), text(&row["pid"])).trim().to_owned()),
        ("TYPES", types),
    ],
};

pub(crate) static DEAD_JOBS: List = List {
    name: "dead jobs",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("PUT ASIDE", |row| text(&row["diedAt"])),
        ("QUEUE", |row| text(&row["queue"])),
        ("TRIED", |row| text(&row["attempts"])),
        ("LOST", |row| text(&row["lost"])),
        ("OWNER", |row| text(&row["ownerId"])),
        ("EXECUTION", |row| text(&row["executionId"])),
        ("WHY", |row| text(&row["reason"])),
    ],
};

/// How a run stands: one that is paused runs only by its status.
pub(crate) fn standing(run: &Value) -> String {
    if run["pausedAt"].is_null() { text(&run["status"]) } else { "paused".to_owned() }
}

/// What came of a run: its output, or why there is none.
fn came_of(run: &Value) -> String {
    if run["error"].is_object() { text(&run["error"]["message"]) } else { text(&run["output"]) }
}

/// In whose hands a question is or was, where that is not its owner's alone.
fn whose(review: &Value) -> String {
    let name = |field: &str| text(&review[field]["name"]);
    if review["askedBy"].is_object() {
        return format!("{} asks you", name("askedBy"));
    }
    match (review["delegate"].is_object(), review["decidedBy"].is_object()) {
        (false, _) => "you".to_owned(),
        (true, false) => format!("{} was asked", name("delegate")),
        (true, true) => format!("{} decided", name("decidedBy")),
    }
}

/// The process that a step would run.
fn process_called(review: &Value) -> String {
    review["calledProcessName"].as_str().map_or_else(|| text(&review["asked"]["processId"]), str::to_owned)
}

/// What is asked, in a line.
pub(crate) fn asked(review: &Value) -> String {
    let asked = &review["asked"];
    let version = asked["toolVersion"].as_i64().map_or_else(String::new, |version| format!(", version {version},"));
    match asked["kind"].as_str() {
        Some("answer") => text(&asked["prompt"]),
        Some("wish") => format!("a model wants to call {}{version} with {}", text(&asked["name"]), asked["inputs"]),
        Some("process") => format!("run {} with {}", process_called(review), asked["inputs"]),
        Some("unknownProcess") => {
            format!("{} failed, and nobody saw how a call of it ended: {}", process_called(review), asked["inputs"])
        }
        Some("unknown") => format!("a call was begun and nobody saw its end{version}: {}", asked["inputs"]),
        _ => {
            let tool = review["toolName"].as_str().map_or_else(|| text(&asked["toolId"]), str::to_owned);
            format!("call {tool}{version} with {}", asked["inputs"])
        }
    }
}

fn types(worker: &Value) -> String {
    let types = worker["types"].as_array().into_iter().flatten();
    types.map(text).collect::<Vec<_>>().join(" ")
}
