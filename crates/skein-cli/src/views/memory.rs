//! Views of episodes and the index.

use super::{List, Sheet, sheet};
use crate::output::text;

pub(crate) static EPISODE: Sheet = sheet(&[
    "id",
    "name",
    "status",
    "statusReason",
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
        "end",
        "behind",
        "caughtUp",
        "failure",
        "episodes",
        "withVector",
        "renaming",
        "embedder",
        "configuredEmbedder",
        "embedderFailure",
        "switching",
        "bytes",
        "unbound",
        "owners",
    ],
    wanted: "cursor",
    remark: None,
};
pub(crate) static BROUGHT: Sheet = sheet(&["id", "itemId", "validAt", "known"]);

pub(crate) static EPISODES: List = List {
    name: "episodes",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("SAID", |row| text(&row["validAt"])),
        ("SOURCE", |row| text(&row["source"])),
        ("STATUS", |row| text(&row["status"])),
        ("WHAT", |row| text(&row["content"])),
    ],
};

pub(crate) static UNBOUND: List = List {
    name: "unbound",
    columns: &[
        ("ID", |row| text(&row["id"])),
        ("OWNER", |row| text(&row["ownerId"])),
        ("SINCE", |row| text(&row["since"])),
        ("REASON", |row| text(&row["reason"])),
    ],
};
