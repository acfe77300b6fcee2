//! Stores computed vectors by the text and the embedder they were computed from.
//!
//! They are found by the hash of a text and go with the words of the item they were first made of: while a row is there, so are
//! the words.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::{Digest, EpisodeId, Viewer};

use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::tx::{Tx, system_only};

const VECTORS_PER_STATEMENT: usize = 64;
/// Vectors that are thrown away in one transaction.
pub const DROPPED_VECTORS_MAX: usize = 1_000;

/// A vector of what an episode says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVector {
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
    pub fn store_vectors(&mut self, viewer: &Viewer, embedder: &str, made: &[StoredVector]) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "INSERT INTO embeddings (embedder, content, item, vector, made_at)
            SELECT ?1, ?2, e.item, ?4, ?5 FROM episodes e JOIN items i ON i.id = e.item
            WHERE e.id = ?3 AND i.payload IS NOT NULL ON CONFLICT DO NOTHING";
        let now = self.now();
        for StoredVector { episode, content, vector } in made {
            self.execute(sql, params![embedder, content, episode.as_bytes(), vector, now])?;
        }
        Ok(())
    }

    /// Says that somebody works with an embedder's vectors: so long nobody throws them away as unused.
    pub fn use_vectors(&mut self, viewer: &Viewer, embedder: &str, milliseconds: i64) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "INSERT INTO leases (name, holder, fence, lease_until) VALUES (?1, 'whoever uses them', 1, ?2)
             ON CONFLICT (name) DO UPDATE SET lease_until = excluded.lease_until
             WHERE leases.lease_until < excluded.lease_until";
        let until = self.now().plus(milliseconds);
        self.execute(sql, params![lease(embedder).as_str(), until])?;
        Ok(())
    }

    /// An embedder whose vectors are kept and that nobody uses any more.
    pub fn unused_embedder(&mut self, viewer: &Viewer) -> Result<Option<String>, StoreError> {
        system_only(viewer)?;
        let mut last = String::new();
        loop {
            let sql = "SELECT embedder FROM embeddings WHERE embedder > ?1 ORDER BY embedder LIMIT 1";
            let next = self.first(sql, params![last.as_str()], |row| row.text(0).map(str::to_owned))?;
            let Some(next) = next else { return Ok(None) };
            if !self.is_used(&next)? {
                return Ok(Some(next));
            }
            last = next;
        }
    }

    /// Throws some of an embedder's vectors away, unless it is used again; whether there were any.
    pub fn drop_unused_vectors(&mut self, viewer: &Viewer, embedder: &str) -> Result<bool, StoreError> {
        if self.is_used(embedder)? { Ok(false) } else { self.drop_vectors(viewer, embedder) }
    }

    /// Throws some of an embedder's vectors away, at most [`DROPPED_VECTORS_MAX`]; whether there were any.
    pub fn drop_vectors(&mut self, viewer: &Viewer, embedder: &str) -> Result<bool, StoreError> {
        system_only(viewer)?;
        let sql = "DELETE FROM embeddings WHERE embedder = ?1 AND content IN (
             SELECT d.content FROM embeddings d WHERE d.embedder = ?1 ORDER BY d.embedder, d.content LIMIT ?2)";
        let most = i64::try_from(DROPPED_VECTORS_MAX).unwrap_or(i64::MAX);
        Ok(self.execute(sql, params![embedder, most])? > 0)
    }

    fn is_used(&mut self, embedder: &str) -> Result<bool, StoreError> {
        let now = self.now();
        let sql = "SELECT 1 FROM leases WHERE name = ?1 AND lease_until > ?2";
        Ok(self.first(sql, params![lease(embedder).as_str(), now], |_| Ok(()))?.is_some())
    }
}

fn lease(embedder: &str) -> String {
    format!("vectors of {embedder}")
}
