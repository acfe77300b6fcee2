//! A place on the timeline: the writing transaction, then the position inside the store.
//!
//! Position alone would lose items: two transactions may take positions in one order and commit in the other.

use std::fmt;
use std::str::FromStr;

/// Everything at or before a cursor has been seen by its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cursor {
    pub tx: i64,
    pub position: i64,
}

impl Cursor {
    /// Before the first item.
    pub const START: Self = Self { tx: 0, position: 0 };
}

/// A text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this server; start again without one")]
pub struct BadCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.tx, self.position)
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let number = |part: &str| part.parse::<i64>().ok().filter(|number| *number >= 0).ok_or(BadCursor);
        let (tx, position) = text.split_once('.').ok_or(BadCursor)?;
        Ok(Self { tx: number(tx)?, position: number(position)? })
    }
}

impl serde::Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Cursor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
