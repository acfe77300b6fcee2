//! What people see of what is remembered.

use super::{List, Sheet, sheet};
use crate::output::text;

pub(crate) static EPISODE: Sheet = sheet(&[
    "id",
    "name",
    "source",
    "conversationId",
    "turnId",
    "nodeId",
    "actorId",
    "speaker",
    "content",
    "validAt",
    "createdAt",
    "groupId",
    "itemId",
]);
pub(crate) static INDEX: Sheet = Sheet {
    fields: &[
        "available",
        "cursor",
        "behind",
        "episodes",
        "withVector",
        "embedder",
        "configuredEmbedder",
        "embedderFailure",
        "switching",
        "bytes",
        "unbound",
    ],
    wanted: "cursor",
    remark: None,
};
pub(crate) static BROUGHT: Sheet = sheet(&["id", "itemId", "validAt"]);

pub(crate) static EPISODES: List = List {
    name: "episodes",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("SAID", |row| text(&row["validAt"])),
        ("SOURCE", |row| text(&row["source"])),
        ("WHAT", |row| text(&row["content"])),
    ],
};
