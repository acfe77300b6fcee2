//! Defines the columns of each list and the first fields of each sheet.

pub(crate) mod catalog;
pub(crate) mod flow;
pub(crate) mod memory;
pub(crate) mod tree;

use serde_json::Value;

use crate::output::{Column, text};

/// One thing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// Shown first, in this order; whatever else the answer holds follows. `a.b` is what stands in `a` as `b`.
    pub(crate) fields: &'static [&'static str],
    /// All that is shown with `--quiet`.
    pub(crate) wanted: &'static str,
    /// What people should know about it.
    pub(crate) remark: Option<&'static str>,
}

/// Many things.
pub(crate) struct List {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
}

impl std::fmt::Debug for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// There is one list of each name.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn sheet(fields: &'static [&'static str]) -> Sheet {
    Sheet { fields, wanted: "id", remark: None }
}

const USER_FIELDS: [&str; 6] = ["id", "name", "role", "signInLink.url", "signInLink.expiresAt", "createdAt"];
const KEY_FIELDS: [&str; 8] = ["id", "key", "name", "scope", "createdAt", "lastUsedAt", "expiresAt", "revokedAt"];

pub(crate) static USER: Sheet = sheet(&USER_FIELDS);
pub(crate) static NEW_USER: Sheet = Sheet {
    remark: Some("The link signs in once, while the server runs. Another: skein user link USER"),
    ..sheet(&USER_FIELDS)
};
pub(crate) static LINK: Sheet = Sheet {
    fields: &["url", "expiresAt"],
    wanted: "url",
    remark: Some("The link signs in once, while the server runs; it is not shown again."),
};
pub(crate) static KEY: Sheet = sheet(&KEY_FIELDS);
pub(crate) static NEW_KEY: Sheet =
    Sheet { fields: &KEY_FIELDS, wanted: "key", remark: Some("The key is kept only as a hash and not shown again.") };
pub(crate) static ENDED: Sheet = Sheet { fields: &["ended"], wanted: "ended", remark: None };
pub(crate) static GRANT: Sheet =
    sheet(&["id", "name", "ownerId", "adminId", "reason", "createdAt", "until", "endedAt"]);
pub(crate) static ITEM: Sheet =
    sheet(&["id", "_type", "canonicalAt", "realizedAt", "ownerId", "hash", "payloadHash", "supersededBy", "redacted"]);
pub(crate) static RELATION: Sheet = sheet(&["id", "kind", "source", "target", "confidence", "createdAt"]);
pub(crate) static RECORD: Sheet =
    sheet(&["id", "_type", "ownerId", "version", "hash", "previousHash", "createdAt", "updatedAt", "shared"]);
pub(crate) static STORAGE: Sheet = Sheet {
    fields: &["database.kind", "database.bytes", "blobs.objects", "blobs.bytes", "blobs.countedAt"],
    wanted: "database.bytes",
    remark: None,
};
pub(crate) static IMPORTED: Sheet = Sheet {
    fields: &["ownerId", "added", "skipped", "blobs", "secretValues", "secretsWithoutValue"],
    wanted: "added",
    remark: Some("All of it belongs to its owner, with their role and keys. A link for them: skein user link OWNER"),
};

pub(crate) static USERS: List = List {
    name: "users",
    columns: &[("ID", |row| text(&row["id"])), ("ROLE", |row| text(&row["role"])), ("NAME", |row| text(&row["name"]))],
};
pub(crate) static KEYS: List = List {
    name: "keys",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("SCOPE", |row| text(&row["scope"])),
        ("CREATED", |row| text(&row["createdAt"])),
        ("LAST USED", |row| text(&row["lastUsedAt"])),
        ("EXPIRES", |row| {
            let mark = if row["isExpired"] == true { " (expired)" } else { "" };
            format!("{}{mark}", text(&row["expiresAt"]))
        }),
        ("REVOKED", |row| text(&row["revokedAt"])),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static SESSIONS: List = List {
    name: "sessions",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("SINCE", |row| text(&row["startedAt"])),
        ("UNTIL", |row| text(&row["expiresAt"])),
    ],
};
pub(crate) static GRANTS: List = List {
    name: "grants",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("OWNER", |row| text(&row["ownerId"])),
        ("UNTIL", |row| text(&row["until"])),
        ("ENDED", |row| text(&row["endedAt"])),
        ("NAME", |row| text(&row["name"])),
    ],
};
pub(crate) static ITEMS: List = List {
    name: "items",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("TIME", |row| text(&row["canonicalAt"])),
        ("RECORDED", |row| text(&row["realizedAt"])),
        ("TYPE", |row| text(&row["_type"])),
        ("WHAT", summary),
    ],
};
pub(crate) static RELATIONS: List = List {
    name: "relations",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("KIND", |row| text(&row["kind"])),
        ("SOURCE", |row| text(&row["source"])),
        ("TARGET", |row| text(&row["target"])),
        ("CONFIDENCE", |row| text(&row["confidence"])),
    ],
};
pub(crate) static STEPS: List = List {
    name: "steps",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("TYPE", |row| text(&row["type"])),
        ("DISTANCE", |row| text(&row["distance"])),
    ],
};
pub(crate) static RECORDS: List = List {
    name: "records",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("VERSION", |row| text(&row["version"])),
        ("UPDATED", |row| text(&row["updatedAt"])),
        ("NAME", |row| text(&row["data"]["name"])),
    ],
};

pub(crate) static VERSIONS: List = List {
    name: "versions",
    columns: &[
        ("VERSION", |row| text(&row["version"])),
        ("TIME", |row| text(&row["at"])),
        ("AUTHOR", |row| text(&row["author"])),
        ("ITEM", |row| text(&row["itemId"])),
        ("HASH", |row| text(&row["newHash"])),
    ],
};
pub(crate) static CHANGES: List = List {
    name: "changes",
    columns: &[
        ("FIELD", |row| text(&row["field"])),
        ("BEFORE", |row| text(&row["before"])),
        ("AFTER", |row| text(&row["after"])),
    ],
};

/// An item in a few words: its description, or whatever it holds.
fn summary(row: &Value) -> String {
    let description = row["data"]["description"].as_str();
    let what = if row["redacted"] == true { "(redacted)".to_owned() } else { text(&row["data"]) };
    description.map_or(what, str::to_owned)
}
