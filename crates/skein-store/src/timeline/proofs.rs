//! Inclusion proofs, made from the seal that covers an item and the seals after it.

use skein_core::garden::cursor::Cursor;
use skein_core::garden::proof::Proof;
use skein_core::garden::seal::{Seal, SealHead};
use skein_core::{Digest, ItemId, UserId, Viewer};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::tx::Tx;

const SEAL_COLUMNS: &str = "item, last_tx, last_position, first_tx, first_position, leaves, root, previous";

impl Tx<'_> {
    /// Proves that an item is part of its owner's sealed history.
    pub fn proof(&mut self, viewer: &Viewer, id: ItemId) -> Result<Proof, StoreError> {
        let stored = self.item(viewer, id)?;
        let owner = stored.item.header.owner;
        let sql = format!(
            "SELECT {SEAL_COLUMNS} FROM seals WHERE owner = ?1 AND (last_tx, last_position) >= (?2, ?3)
             ORDER BY last_tx, last_position"
        );
        let at = stored.cursor;
        let mut heads = self.all(&sql, params![&owner, at.tx, at.position], |row| read_seal(owner, row))?.into_iter();
        let unsealed = || StoreError::NotSealed(id);
        let (seal_item, _) = heads.next().ok_or_else(unsealed)?;
        let seal = self.find_item(seal_item)?.and_then(|sealed| sealed.item.document());
        let seal = seal.and_then(|document| Seal::from_document(owner, &document));
        let seal = seal.ok_or_else(|| StoreError::Damaged(format!("the seal {seal_item} cannot be read")))?;
        let later = heads.map(|(_, head)| head).collect();
        Proof::new(&stored.item, &seal, later).ok_or_else(unsealed)
    }
}

fn read_seal(owner: UserId, row: &dyn Row) -> Result<(ItemId, SealHead), SqlError> {
    let head = SealHead {
        owner,
        last: Cursor { tx: row.int(1)?, position: row.int(2)? },
        first: Cursor { tx: row.int(3)?, position: row.int(4)? },
        count: row.int(5)?,
        root: Digest(row.array(6)?),
        previous: row.optional_array(7)?.map(Digest),
    };
    Ok((ItemId::from_bytes(row.array(0)?), head))
}
