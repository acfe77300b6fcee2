//! Every kind of tampering is found and located, on both databases.

use bytes::Bytes;
use serde_json::json;
use skein_core::garden::proof::Proof;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{Digest, ItemId, Millis};
use skein_store::StoreError;
use skein_store::verify::{VerifyOptions, VerifyReport};

use crate::fixtures::{Place, World, both, content};

/// A store in which every source, decided and computed table has sealed rows.
fn populated(world: &World) -> ItemId {
    let [first, second, third, fourth] = ["a", "b", "c", "d"].map(|text| world.note(text).item.header.id);
    let blob = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let blob = blob.block_on(world.blobs.put(Bytes::from_static(b"bytes"), "text/plain")).unwrap();
    let viewer = world.anna.clone();
    world.write(move |tx| {
        tx.undo_item(&viewer, second)?;
        tx.redact_item(&viewer, third, "asked for")?;
        tx.override_canonical_time(&viewer, fourth, Some(Millis(5)))?;
        tx.attach_blob(&viewer, &blob)?;
        tx.create_key(&viewer, "k", skein_core::account::Scope::Read, Digest::of(b"k"))?;
        let ends = Some(Millis(4_000_000_000_000));
        tx.create_key_until(&viewer, "until", skein_core::account::Scope::Read, Digest::of(b"until"), ends)?;
        let record = tx.create_record(&viewer, content("Budget", json!({ "name": "n", "amount": 1 })), None)?;
        tx.update_record(
            &viewer,
            record.id,
            record.hash,
            content("Budget", json!({ "name": "n", "amount": 2 })),
            None,
        )?;
        let service = tx.create_entry(&viewer, crate::catalog::service("weather"), None)?;
        tx.create_entry(&viewer, crate::catalog::tool("rain", service.id), None)?;
        let gone = tx.create_entry(&viewer, crate::catalog::service("gone"), None)?;
        tx.delete_record(&viewer, gone.id, None, None)?;
        let (source, target) = (Endpoint::Item(first), Endpoint::Fragment { item: fourth, position: 1 });
        let draft = RelationDraft::new(RelationKind::Mentions, source, target, RelationAttributes::inferred(0.5))?;
        crate::relations::relate_as_before(tx, &viewer, draft).map(drop)
    });
    crate::tree::lived(world);
    world.seal();
    world.note("late");
    world.seal();
    let report = world.verify(true);
    assert_eq!(report.breaks, []);
    first
}

const PROJECTED: [(&str, &str); 9] = [
    ("item_marks", "item,owner,tombstone,redaction,canonical_at,override_record"),
    ("records", "id,type,owner,shared,name,version,hash,previous_hash,created_at,updated_at,body,deleted"),
    ("record_versions", "record,version,owner,type,hash,previous_hash,item,tx,position,realized_at,whole"),
    (
        "relations",
        "id,owner,kind,source_type,source,target_type,target,target_position,confidence,metadata,realized_at,item",
    ),
    ("seals", "owner,last_tx,last_position,first_tx,first_position,leaves,root,previous,hash,item"),
    ("blobs", "item,hash,owner,size,media_type,attached_at"),
    ("api_keys", "id,key_hash,owner,scope,revoked"),
    ("record_headings", "record,heading,owner,shared"),
    ("record_references", "record,kind,target,owner,type,shared"),
];
const OF_TREES: [(&str, &str); 10] = [
    (
        "conversations",
        "id,owner,project,kind,mode,archived,folded,parent,origin,root_turn,root_node,nodes,created_at,active_at",
    ),
    ("turns", "id,conversation,parent,speaker,type,depth,first_node"),
    (
        "nodes",
        "id,conversation,owner,turn,ordinal,parent,branch,depth,late,edge,local_id,author,author_type,status,reserved_by,\
         content,content_hash,raw_response,raw_hash,edited_from,is_version,process,process_version,created_at,bookmarked,\
         label,pruned,excluded",
    ),
    ("node_sources", "target,source,role,kind"),
    ("paths", "id,conversation,actor,cursor_node"),
    ("selections", "path,branch,depth,turn,node,selected"),
    ("path_reach", "path,branch,depth"),
    ("node_tags", "node,tag,owner"),
    ("frames", "project,actor,conversation"),
    ("tree_summaries", "subject,item,nodes"),
];
const ITEMS: (&str, &str) =
    ("items", "tx,position,id,owner,type,realized_at,canonical_at,hash,payload_hash,encoding,payload");

/// Statements that alter one column of some rows of a table by one bit, character or unit, and undo it again.
fn flip(world: &World, column: &str) -> (String, String) {
    let bytes = |world: &World| match world.place {
        Place::Sqlite(_) => None,
        Place::Postgres(_) => {
            Some(format!("set_byte({column}, length({column}) - 1, get_byte({column}, length({column}) - 1) # 1)"))
        }
    };
    match column {
        "confidence" => (format!("{column} + 0.125"), format!("{column} - 0.125")),
        "tx" | "position" | "depth" => (format!("{column} + 1000000"), format!("{column} - 1000000")),
        _ if is_flag(column) => (format!("1 - {column}"), format!("1 - {column}")),
        _ if is_number(column) => (format!("{column} + 1"), format!("{column} - 1")),
        _ if is_text(column) => (format!("{column} || 'x'"), format!("substr({column}, 1, length({column}) - 1)")),
        _ => {
            // SQLite has no arithmetic on bytes: the last byte is exchanged with its flipped spelling.
            let sqlite = format!("flip({column})");
            let both = bytes(world).unwrap_or(sqlite);
            (both.clone(), both)
        }
    }
}

fn is_flag(column: &str) -> bool {
    let flags = ["encoding", "shared", "whole", "revoked", "deleted"];
    let of_trees = ["archived", "folded", "late", "is_version", "bookmarked", "pruned", "excluded", "selected"];
    flags.contains(&column) || of_trees.contains(&column)
}

fn is_number(column: &str) -> bool {
    ["version", "size", "leaves", "ordinal", "nodes", "process_version"].contains(&column)
        || column.ends_with("_at")
        || column.contains("_tx")
        || column.ends_with("position")
}

fn is_text(column: &str) -> bool {
    let texts =
        ["type", "name", "body", "kind", "source_type", "target_type", "metadata", "media_type", "scope", "heading"];
    let of_trees = ["mode", "speaker", "local_id", "author_type", "status", "label", "role", "tag"];
    texts.contains(&column) || of_trees.contains(&column)
}

fn names_table(report: &VerifyReport, table: &str) -> bool {
    report.breaks.iter().any(|broken| broken.table == table)
}

/// Alters every column of a table but its first, one after the other, and sees that it is noticed.
fn flip_each(world: &World, table: &str, columns: &str) {
    let (key, values) = columns.split_once(',').unwrap();
    for column in values.split(',') {
        let row = format!(
            "{key} = (SELECT {key} FROM {table} WHERE {column} IS NOT NULL ORDER BY {key} LIMIT 1) AND {column} IS NOT NULL"
        );
        let (forth, back) = flip(world, column);
        // The primary key of some tables has several columns; altering one moves the row, which is found too.
        match world.tamper_unguarded(&format!("UPDATE {table} SET {column} = {forth} WHERE {row}")) {
            Err(refused) => assert!(refused.to_lowercase().contains("constraint"), "{table}.{column}: {refused}"),
            Ok(rows) => {
                assert!(rows >= 1, "{table}.{column}: no row to alter");
                let report = world.verify(true);
                let breaks = &report.breaks;
                assert!(names_table(&report, table), "{table}.{column} was altered and nobody noticed: {breaks:?}");
                world.tamper_unguarded(&format!("UPDATE {table} SET {column} = {back} WHERE {row}")).unwrap();
            }
        }
    }
    assert_eq!(world.verify(true).breaks, [], "{table} was put back");
}

both! {
    fn a_flip_in_any_column_of_a_projected_table_is_found(world: &World) {
        populated(world);
        for (table, columns) in PROJECTED {
            flip_each(world, table, columns);
        }
    }

    fn a_flip_in_any_column_of_a_table_of_trees_is_found(world: &World) {
        populated(world);
        for (table, columns) in OF_TREES {
            flip_each(world, table, columns);
        }
    }

    fn a_flip_in_any_column_of_an_item_is_found_and_located(world: &World) {
        let id = populated(world);
        for column in ITEMS.1.split(',').filter(|column| *column != "position") {
            let (forth, back) = flip(world, column);
            let row = "position = (SELECT min(position) FROM items WHERE type LIKE 'Note%')";
            assert_eq!(world.tamper_unguarded(&format!("UPDATE items SET {column} = {forth} WHERE {row}")), Ok(1), "{column}");
            let report = world.verify(false);
            assert!(names_table(&report, "items"), "{column} was altered and nobody noticed");
            if ["owner", "type", "realized_at", "canonical_at", "hash", "payload_hash", "payload", "encoding"].contains(&column) {
                assert_eq!(report.breaks[0].row, id.to_string(), "{column}: {:?}", report.breaks[0]);
            }
            world.tamper_unguarded(&format!("UPDATE items SET {column} = {back} WHERE {row}")).unwrap();
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_hash_002_an_altered_record_is_located_refuses(world: &World) {
        populated(world);
        world.tamper("UPDATE records SET body = body || ' ' WHERE type = 'Budget'").unwrap();
        let report = world.verify(false);
        assert_eq!(report.breaks[0].table, "records");
        assert!(report.breaks[0].row.starts_with("entity_") && report.breaks[0].expected != report.breaks[0].found);
    }

    fn a_deleted_item_is_named(world: &World) {
        let id = populated(world);
        let sql = format!("DELETE FROM items WHERE id = {}", world.hex(id.as_bytes()));
        assert_eq!(world.tamper_unguarded(&sql), Ok(1));
        let report = world.verify(false);
        assert_eq!(report.breaks[0].row, id.to_string());
        assert!(report.breaks[0].problem.contains("missing"));
        assert!(report.breaks[0].expected.is_some() && report.breaks[0].last_good.is_some());
    }

    fn a_row_deleted_from_any_projected_table_is_named(world: &World) {
        populated(world);
        for (table, columns) in PROJECTED.into_iter().chain(OF_TREES) {
            let key = columns.split(',').next().unwrap();
            let sql = format!("DELETE FROM {table} WHERE {key} = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1)");
            assert!(world.tamper_unguarded(&sql).unwrap() >= 1);
            let report = world.verify(true);
            assert!(report.breaks.iter().any(|broken| broken.table == table && broken.problem.contains("missing")), "{table}");
        }
    }

    fn a_row_nobody_caused_is_named(world: &World) {
        populated(world);
        let sql = format!("INSERT INTO blobs (item, hash, owner, size, media_type, attached_at) SELECT {}, hash, owner, size, media_type, attached_at FROM blobs", world.hex(&[1; 16]));
        assert_eq!(world.tamper_unguarded(&sql), Ok(1));
        assert!(world.verify(true).breaks.iter().any(|broken| broken.problem.contains("no item is the cause")));
    }

    fn a_cut_tail_is_found_by_the_expected_head(world: &World) {
        populated(world);
        let head = world.verify(true).head;
        let last_seals = "SELECT max(position) FROM items WHERE type = 'Seal'";
        let cut = format!("DELETE FROM items WHERE position >= (SELECT min(position) FROM items WHERE position > ({last_seals}) - 2)");
        assert!(world.tamper_unguarded(&cut).unwrap() >= 2);
        let options = VerifyOptions { deep: false, expect: Some(head) };
        let report = skein_store::verify::verify(&world.store, &world.blobs, &options, &mut |_| {}).unwrap();
        assert!(report.breaks.iter().any(|broken| broken.row == "the head" && broken.expected == Some(head.to_string())));
        let report = world.verify(false);
        assert!(report.not_proven.iter().any(|open| open.contains("--expect")));
        assert!(!world.verify(true).breaks.is_empty(), "rows made from the cut items are still there");
    }

    fn text_that_is_no_text_any_more_is_located(world: &World) {
        populated(world);
        if matches!(world.place, Place::Postgres(_)) {
            return; // It stores no such text.
        }
        for (table, column) in [("records", "body"), ("relations", "metadata"), ("api_keys", "scope"), ("record_versions", "type")] {
            let broken = format!("UPDATE {table} SET {column} = CAST(x'ff' || CAST({column} AS BLOB) AS TEXT)");
            assert!(world.tamper_unguarded(&broken).unwrap() >= 1);
            assert!(names_table(&world.verify(true), table), "{table}.{column}");
        }
    }

    fn a_swapped_or_missing_blob_is_named(world: &World) {
        populated(world);
        let hash = Digest::of(b"bytes");
        let object = world.folder.path().join("blobs").join(&hash.to_string()[..2]).join(hash.to_string());
        for (bytes, problem) in [(Some(&b"forgd"[..]), "now has the hash"), (None, "missing")] {
            match bytes {
                Some(bytes) => std::fs::write(&object, bytes).unwrap(),
                None => std::fs::remove_file(&object).unwrap(),
            }
            let report = world.verify(true);
            assert_eq!((report.breaks[0].table.as_str(), report.breaks[0].row.clone()), ("blobs", hash.to_string()));
            assert!(report.breaks[0].problem.contains(problem), "{:?}", report.breaks[0]);
        }
    }

    fn a_damaged_item_is_not_handed_out(world: &World) {
        let id = populated(world);
        let sql = format!("UPDATE items SET canonical_at = 7 WHERE id = {}", world.hex(id.as_bytes()));
        world.tamper_unguarded(&sql).unwrap();
        let viewer = world.anna.clone();
        assert!(matches!(world.try_read(move |tx| tx.item(&viewer, id)), Err(StoreError::Damaged(_))));
    }

    fn a_proof_holds_without_the_store(world: &World) {
        let id = populated(world);
        let viewer = world.anna.clone();
        let proof = world.read(move |tx| tx.proof(&viewer, id));
        let text = serde_json::to_string(&proof).unwrap();
        let read: Proof = serde_json::from_str(&text).unwrap();
        let proven = read.verify().unwrap();
        assert_eq!(proven.item, id);
        // Where it stands in its seal depends on what was settled when that was made.
        let index = serde_json::to_value(&proof).unwrap()["index"].as_u64().unwrap();
        let moved = text.replacen(&format!("\"index\":{index}"), &format!("\"index\":{}", index + 1), 1);
        for forged in [text.replacen("\\\"a\\\"", "\\\"z\\\"", 1), moved, text.replacen("\"canonicalAt\":\"2", "\"canonicalAt\":\"3", 1)] {
            assert_ne!(forged, text, "nothing was forged");
            let forged: Proof = serde_json::from_str(&forged).unwrap();
            assert!(forged.verify().is_err());
        }
        let viewer = world.bert.clone();
        assert!(matches!(world.try_read(move |tx| tx.proof(&viewer, id)), Err(StoreError::NotFound(_))));
    }

    fn an_unsealed_item_has_no_proof_yet(world: &World) {
        let (viewer, id) = (world.anna.clone(), world.note("new").item.header.id);
        assert!(matches!(world.try_read(move |tx| tx.proof(&viewer, id)), Err(StoreError::NotSealed(_))));
    }
}
