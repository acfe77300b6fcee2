//! Vectors that were made once, by what they were made of and by whom.
//!
//! They are found by the hash of a text and go with the words of the item they were first made of: while a row is there, so are
//! the words.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::{Digest, EpisodeId, Viewer};

use crate::error::StoreError;
use crate::sql::{Value, params};
use crate::tx::{Tx, system_only};

const VECTORS_PER_STATEMENT: usize = 64;

/// A vector of what an episode says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeVector {
    pub episode: EpisodeId,
    /// Of the text that was embedded.
    pub content: Digest,
    pub vector: Vec<u8>,
}

static BY_CONTENT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (2..VECTORS_PER_STATEMENT + 2).map(|place| format!("?{place}")).collect();
    format!("SELECT content, vector FROM embeddings WHERE embedder = ?1 AND content IN ({})", places.join(", "))
});

impl Tx<'_> {
    /// Those of an embedder's vectors that were made of these texts already.
    pub fn vectors(
        &mut self,
        viewer: &Viewer,
        embedder: &str,
        contents: &[Digest],
    ) -> Result<HashMap<Digest, Vec<u8>>, StoreError> {
        system_only(viewer)?;
        let mut found = HashMap::with_capacity(contents.len());
        for some in contents.chunks(VECTORS_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), VECTORS_PER_STATEMENT - some.len()).flatten();
            let contents = some.iter().chain(missing).map(Value::from);
            let bound: Vec<Value<'_>> = std::iter::once(Value::from(embedder)).chain(contents).collect();
            let rows = self.all(&BY_CONTENT, &bound, |row| {
                Ok((Digest(row.array(0)?), row.optional_bytes(1)?.unwrap_or_default().to_vec()))
            })?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// How long the vectors of an embedder are, if it made any.
    pub fn vector_bytes(&mut self, viewer: &Viewer, embedder: &str) -> Result<Option<usize>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT CAST(length(vector) AS BIGINT) FROM embeddings WHERE embedder = ?1 ORDER BY embedder, content LIMIT 1";
        let found = self.first(sql, params![embedder], |row| row.int(0))?;
        Ok(found.and_then(|length| usize::try_from(length).ok()))
    }

    /// Keeps vectors, as far as the words they were made of were not destroyed meanwhile.
    pub fn keep_vectors(&mut self, viewer: &Viewer, embedder: &str, made: &[MadeVector]) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "INSERT INTO embeddings (embedder, content, item, vector, made_at)
            SELECT ?1, ?2, e.item, ?4, ?5 FROM episodes e JOIN items i ON i.id = e.item
            WHERE e.id = ?3 AND i.payload IS NOT NULL ON CONFLICT DO NOTHING";
        let now = self.now();
        for MadeVector { episode, content, vector } in made {
            self.execute(sql, params![embedder, content, episode.as_bytes(), vector, now])?;
        }
        Ok(())
    }
}
