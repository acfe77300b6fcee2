//! Views of services, tools, templates, secrets and endpoints.

use serde_json::Value;

use super::{List, Sheet, sheet};
use crate::output::text;

pub(crate) static SERVICE: Sheet = sheet(&[
    "id",
    "name",
    "description",
    "type",
    "protocol",
    "enabled",
    "shared",
    "warning.message",
    "requiresSecret",
    "status",
    "lastHealthCheck",
    "errorMessage",
    "ownerId",
    "version",
    "hash",
    "createdAt",
    "updatedAt",
]);
pub(crate) static TOOL: Sheet = sheet(&[
    "id",
    "name",
    "description",
    "serviceId",
    "secretId",
    "enabled",
    "shared",
    "warning.message",
    "status",
    "lastHealthCheck",
    "errorMessage",
    "ownerId",
    "version",
    "hash",
    "createdAt",
    "updatedAt",
]);
pub(crate) static PROCESS: Sheet = sheet(&[
    "id",
    "name",
    "description",
    "enabled",
    "archived",
    "initialContext",
    "outputTemplate",
    "tokenBudget",
    "maxRecursionDepth",
    "definitionVersion",
    "version",
    "hash",
    "createdAt",
    "updatedAt",
]);
pub(crate) static TEMPLATE: Sheet = sheet(&[
    "id",
    "name",
    "description",
    "type",
    "protocol",
    "requiresSecret",
    "shared",
    "archived",
    "ownerId",
    "version",
    "hash",
    "createdAt",
    "updatedAt",
]);
pub(crate) static SECRET: Sheet =
    sheet(&["id", "name", "description", "type", "valueVersion", "version", "hash", "createdAt", "updatedAt"]);
pub(crate) static BINDING: Sheet = sheet(&["id", "toolId", "secretId"]);
pub(crate) static ENDPOINT: Sheet = sheet(&["id", "host", "port", "ownerId", "createdAt"]);
pub(crate) static HEALTH: Sheet =
    Sheet { fields: &["status", "checkedAt", "latencyMs", "errorMessage"], wanted: "status", remark: None };
pub(crate) static VAULT: Sheet =
    Sheet { fields: &["keyId", "secrets", "underOtherKeys", "unreadable", "rotation"], wanted: "keyId", remark: None };
pub(crate) static ROTATION: Sheet =
    Sheet { fields: &["keyId", "rewrapped", "keyPlace"], wanted: "keyId", remark: None };
pub(crate) static CALL: Sheet =
    Sheet { fields: &["output", "latencyMs", "usage", "request", "response"], wanted: "output", remark: None };

pub(crate) static SERVICES: List = List {
    name: "services",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("TYPE", |row| text(&row["type"])),
        ("STATUS", status),
        ("SHARED", shared),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static TOOLS: List = List {
    name: "tools",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("OPERATION", |row| text(&row["operation"]["type"])),
        ("STATUS", status),
        ("SHARED", shared),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static TOOL_METRICS: List = List {
    name: "tool metrics",
    columns: &[
        ("ID", |row| text(&row["toolId"])),
        ("CALLS", |row| text(&row["calls"])),
        ("SUCCESS", |row| measured(&row["successPercent"], " %")),
        ("P50", |row| measured(&row["p50Ms"], " ms")),
        ("P95", |row| measured(&row["p95Ms"], " ms")),
        ("LAST CALL", |row| text(&row["lastCallAt"])),
        ("LAST FAILURE", |row| text(&row["lastFailure"]["message"])),
    ],
};
pub(crate) static PROCESSES: List = List {
    name: "processes",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("ENABLED", |row| yes(&row["enabled"])),
        ("ARCHIVED", |row| yes(&row["archived"])),
        ("STEPS", |row| row["steps"].as_array().map_or(0, Vec::len).to_string()),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static DEPENDENCIES: List = List {
    name: "dependencies",
    columns: &[
        ("STATUS", |row| text(&row["status"])),
        ("KIND", |row| text(&row["kind"])),
        ("NAME", |row| text(&row["name"])),
        ("STEPS", |row| joined(&row["steps"])),
        ("WHY", |row| joined(&row["reasons"])),
    ],
};
pub(crate) static TEMPLATES: List = List {
    name: "templates",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("SHARED", shared),
        ("ARCHIVED", |row| yes(&row["archived"])),
        ("NAME", |row| text(&row["name"])),
        ("DESCRIPTION", |row| text(&row["description"])),
    ],
};
pub(crate) static INSTANCES: List = List {
    name: "instances",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("OWNER", |row| text(&row["ownerId"])),
        ("SHARED", shared),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static SECRETS: List = List {
    name: "secrets",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("TYPE", |row| text(&row["type"])),
        ("VALUE", |row| format!("version {}", text(&row["valueVersion"]))),
        ("UPDATED", |row| text(&row["updatedAt"])),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static ENDPOINTS: List = List {
    name: "endpoints",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("HOST", |row| text(&row["host"])),
        ("PORT", |row| text(&row["port"])),
        ("SINCE", |row| text(&row["createdAt"])),
    ],
};

/// What is disabled is not used, however well it is.
fn status(row: &Value) -> String {
    if row["enabled"] == false { "disabled".to_owned() } else { text(&row["status"]) }
}

/// A number with its unit, or that nobody knows it.
fn measured(value: &Value, unit: &str) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |number| format!("{number}{unit}"))
}

fn shared(row: &Value) -> String {
    yes(&row["shared"])
}

fn joined(values: &Value) -> String {
    let words: Vec<&str> = values.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if words.is_empty() { "-".to_owned() } else { words.join("; ") }
}

fn yes(value: &Value) -> String {
    if *value == true { "yes".to_owned() } else { "-".to_owned() }
}
