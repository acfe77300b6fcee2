//! Reads and writes the manifest of a bundle: format, owner, cut, and the digest of each part.

use serde_json::Value;
use skein_core::garden::cursor::Cursor;
use skein_core::{Digest, UserId};

use super::{BadBundle, FORMAT};
use crate::error::StoreError;

/// Largest manifest read: a list of some hundred thousand lost objects, in bytes.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 16 << 20;

/// The first format that can carry secrets.
pub(crate) const WITH_SECRETS: u64 = 2;
pub(crate) const WITHOUT_SECRETS: u64 = 1;

/// The last entry of a bundle; one without it was not finished.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    pub format: u64,
    /// The version of skein that wrote it.
    pub skein: String,
    pub owner: UserId,
    /// Up to where on the timeline of the store it came from.
    pub cursor: Cursor,
    /// The hash of the owner's last seal.
    pub head: Option<Digest>,
    pub items: Part,
    pub seals: Part,
    pub records: Part,
    pub relations: Part,
    /// The values of secrets, sealed; from format 2 on, and only when they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Part>,
    pub blobs: u64,
    /// Objects that are named but were missing or damaged, and so are not in the bundle.
    pub lost_blobs: Vec<Digest>,
}

/// One file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub lines: u64,
    pub bytes: u64,
    pub sha256: Digest,
}

impl Manifest {
    pub(crate) fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a manifest is plain JSON");
        text.push('\n');
        text
    }

    /// The format is judged first: a newer one may look like nothing this program knows.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, StoreError> {
        let unreadable = |error: serde_json::Error| BadBundle::NotABundle(format!("its manifest: {error}"));
        let value: Value = serde_json::from_slice(text).map_err(unreadable)?;
        match value.get("format").and_then(Value::as_u64) {
            Some(found) if found > FORMAT => return Err(BadBundle::NewerFormat { found }.into()),
            Some(1..=FORMAT) => {}
            _ => return Err(BadBundle::NotABundle("its manifest names no format".to_owned()).into()),
        }
        let manifest: Self = serde_json::from_value(value).map_err(unreadable)?;
        if manifest.secrets.is_some() && manifest.format < WITH_SECRETS {
            return Err(BadBundle::NotABundle("its manifest names secrets, which its format has not".to_owned()).into());
        }
        Ok(manifest)
    }
}
