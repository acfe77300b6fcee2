//! Vectors that embedders outside made, by what they were made of: no text is sent to one twice.

use skein_core::{Digest, Viewer};

use crate::error::StoreError;
use crate::sql::params;
use crate::tx::{Tx, system_only};

impl Tx<'_> {
    /// The vector an embedder made of a text before, as it was kept.
    pub fn vector(&mut self, viewer: &Viewer, embedder: &str, text: &Digest) -> Result<Option<Vec<f32>>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT v.vector FROM vectors v WHERE v.embedder = ?1 AND v.text = ?2";
        self.first(sql, params![embedder, text], |row| Ok(row.optional_bytes(0)?.map(numbers).unwrap_or_default()))
    }

    /// Keeps the vectors an embedder made; what is there already stays.
    pub fn keep_vectors(
        &mut self,
        viewer: &Viewer,
        embedder: &str,
        vectors: &[(Digest, Vec<f32>)],
    ) -> Result<(), StoreError> {
        system_only(viewer)?;
        for (text, vector) in vectors {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            let sql = "INSERT INTO vectors (embedder, text, vector) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            self.execute(sql, params![embedder, text, &bytes])?;
        }
        Ok(())
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let number = |four: &[u8]| four.try_into().map_or(f32::NAN, f32::from_le_bytes);
    bytes.chunks(4).map(number).collect()
}
