//! Views of conversations, nodes and projects.

use serde_json::Value;
use skein_core::tree::content::Content;

use super::{List, Sheet, sheet};
use crate::output::text;

pub(crate) static CONVERSATION: Sheet = sheet(&[
    "id",
    "title",
    "description",
    "mode",
    "kind",
    "status",
    "folded",
    "nodes",
    "cursorNodeId",
    "activeAt",
    "projectId",
    "parentConversationId",
    "forkOriginTurnId",
    "forkOriginAlternativeId",
    "continues",
    "rootTurnId",
    "rootNodeId",
    "ownerId",
    "version",
    "hash",
    "createdAt",
    "updatedAt",
]);
pub(crate) static NODE: Sheet = sheet(&[
    "id",
    "localId",
    "conversationId",
    "turnId",
    "parentAlternativeId",
    "speaker",
    "turnType",
    "authorId",
    "authorType",
    "status",
    "isActive",
    "onPath",
    "cacheStatus",
    "depth",
    "ordinal",
    "editedFrom",
    "bookmarked",
    "label",
    "pruned",
    "excluded",
    "contentHash",
    "createdAt",
]);
/// A conversation among those of a project.
pub(crate) static BRANCH: Sheet = Sheet {
    fields: &["conversationId", "title", "kind", "archived", "folded", "nodes", "activeAt", "createdAt"],
    wanted: "conversationId",
    remark: None,
};
/// What something says in a sentence or two.
pub(crate) static SUMMARY: Sheet =
    Sheet { fields: &["subjectId", "text", "model", "nodes", "itemId"], wanted: "text", remark: None };
pub(crate) static PROJECT: Sheet =
    sheet(&["id", "name", "description", "isDefault", "ownerId", "version", "hash", "createdAt", "updatedAt"]);

pub(crate) static CONVERSATIONS: List = List {
    name: "conversations",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("LAST SPOKEN IN", |row| text(&row["activeAt"])),
        ("NODES", |row| text(&row["nodes"])),
        ("KIND", kind),
        ("TITLE", |row| text(&row["title"])),
    ],
};
pub(crate) static NODES: List = List {
    name: "nodes",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("NAME", |row| text(&row["localId"])),
        ("SHOWN", |row| if row["isActive"] == true { "yes".to_owned() } else { "-".to_owned() }),
        ("TIME", |row| text(&row["createdAt"])),
        ("AUTHOR", |row| text(&row["authorType"])),
        ("LABEL", |row| text(&row["label"])),
        ("WHAT", said),
    ],
};
pub(crate) static CHAIN: List = List {
    name: "chain",
    columns: &[
        ("ID", |row| text(&row["nodeId"])),
        ("NAME", |row| text(&row["localId"])),
        ("TIME", |row| text(&row["createdAt"])),
        ("FOUND", |row| text(&row["verdict"])),
        ("AUTHOR", |row| text(&row["authorId"])),
        ("HASH", |row| text(&row["contentHash"])),
    ],
};
pub(crate) static PROJECTS: List = List {
    name: "projects",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("DEFAULT", |row| if row["isDefault"] == true { "yes".to_owned() } else { "-".to_owned() }),
        ("NAME", |row| text(&row["name"])),
        ("DESCRIPTION", |row| text(&row["description"])),
    ],
};
pub(crate) static FRAMES: List = List {
    name: "frames",
    columns: &[
        ("PARTICIPANT", |row| text(&row["actorId"])),
        ("CONVERSATION", |row| text(&row["conversationId"])),
        ("SEEN UP TO", |row| text(&row["headNodeId"])),
    ],
};
pub(crate) static STACK: List = List {
    name: "stack",
    columns: &[
        ("ID", |row| text(&row["conversationId"])),
        ("LAST SPOKEN IN", |row| text(&row["activeAt"])),
        ("NODES", |row| text(&row["nodes"])),
        ("KIND", kind),
        ("GREW FROM", |row| text(&row["parentConversationId"])),
        ("TITLE", |row| text(&row["title"])),
    ],
};

pub(crate) static PARTS: List = List {
    name: "parts",
    columns: &[
        ("PART", |row| text(&row["kind"])),
        ("NODE", |row| text(&row["nodeId"])),
        ("TOKENS", |row| text(&row["tokens"])),
        ("SHOWN", |row| if row["included"] == true { "yes".to_owned() } else { text(&row["droppedBecause"]) }),
    ],
};

pub(crate) static BRIEFS: List = List {
    name: "briefs",
    columns: &[
        ("ID", |row| text(&row["nodeId"])),
        ("NAME", |row| text(&row["localId"])),
        ("AUTHOR", |row| text(&row["authorType"])),
        ("WHAT", |row| text(&row["brief"])),
    ],
};

/// What it is, and whether it is closed.
fn kind(row: &Value) -> String {
    let kind = text(&row["kind"]);
    if row["folded"] == true { format!("{kind}, folded") } else { kind }
}

/// What a node says, as far as it can be read.
pub(crate) fn said(row: &Value) -> String {
    if row["isRedacted"] == true {
        return "(destroyed)".to_owned();
    }
    match row["status"].as_str() {
        Some("pending") => return "(being generated)".to_owned(),
        Some("failed") => return "(failed)".to_owned(),
        _ => {}
    }
    let readable = Content::parse(&row["content"]).map(|content| content.plain_text().into_owned()).unwrap_or_default();
    if readable.is_empty() { format!("({})", text(&row["content"]["type"])) } else { readable }
}
