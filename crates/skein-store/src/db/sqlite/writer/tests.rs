//! One batch, one culprit: everybody else's write is kept and nobody is told wrong.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use rusqlite::Connection;
use serde_json::Map;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::garden::record::{RecordContent, RecordType};
use skein_core::{ItemId, UserId, Viewer};

use super::*;
use crate::clock::SystemClock;
use crate::db::queued_write::{Committed, WriteFunction, WriteOutcome};

/// Longer than any test: writes that arrive while a batch runs join it.
const ALWAYS: Duration = Duration::from_mins(10);
const VIEWER: Viewer = Viewer::User(UserId::from_bytes([1; 16]));

struct Bench {
    writer: Writer,
    file: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

type WaitingWrite = WriteOutcome<Committed<ItemId>>;

impl Bench {
    fn start(prepare: impl FnOnce(&mut Connection)) -> Self {
        Self::start_joining(ALWAYS, prepare)
    }

    fn start_joining(joining: Duration, prepare: impl FnOnce(&mut Connection)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skein.db");
        let mut connection = crate::db::sqlite::open_writer(&file).unwrap();
        prepare(&mut connection);
        let writer = Writer::start_joining(joining, connection, Arc::new(SystemClock), Wakes::default()).unwrap();
        Self { writer, file, _folder: folder }
    }

    fn submit(&self, function: impl FnMut(&mut Tx<'_>) -> Result<ItemId, StoreError> + Send + 'static) -> WaitingWrite {
        self.submit_as(Urgency::Interactive, function)
    }

    fn submit_as(
        &self,
        urgency: Urgency,
        function: impl FnMut(&mut Tx<'_>) -> Result<ItemId, StoreError> + Send + 'static,
    ) -> WaitingWrite {
        let (work, outcome) = WriteFunction::queued(function);
        self.writer.submit(work, 100, urgency).unwrap();
        outcome
    }

    /// Makes the next functions wait for each other, so that they end up in one batch: that of the gate where they may join
    /// it, else the next.
    fn gate(&self) -> impl FnOnce() {
        let (opened, open) = channel::<()>();
        let (entered, has_entered) = channel();
        let gate = self.submit(move |tx| {
            let _ = entered.send(());
            let _ = open.recv();
            append(tx)
        });
        has_entered.recv().unwrap();
        move || {
            drop(opened);
            gate.blocking_recv().unwrap().unwrap();
        }
    }

    fn reader(&self) -> Connection {
        crate::db::sqlite::open_reader(&self.file).unwrap()
    }

    fn count(&self) -> i64 {
        self.reader().query_row("SELECT count(*) FROM items", [], |row| row.get(0)).unwrap()
    }

    fn has(&self, id: ItemId) -> bool {
        let count = "SELECT count(*) FROM items WHERE id = ?1";
        self.reader().query_row(count, [&id.as_bytes()[..]], |row| row.get::<_, i64>(0)).unwrap() == 1
    }
}

fn note(length: usize) -> ItemDraft {
    let data = Map::from_iter([("description".to_owned(), "x".repeat(length).into())]);
    ItemDraft::stated(ItemType::NOTE, data, None).unwrap()
}

fn append(tx: &mut Tx<'_>) -> Result<ItemId, StoreError> {
    Ok(tx.append_item(&VIEWER, &note(10))?.item.header.id)
}

/// Runs `culprit` among innocent writes that wait with it, then among some that come one by one while their batch is run;
/// what became of it, after checking the innocent ones.
fn among_innocents(
    culprit: impl FnMut(&mut Tx<'_>) -> Result<ItemId, StoreError> + Copy + Send + 'static,
) -> [StoreError; 2] {
    [Duration::ZERO, ALWAYS].map(|joining| {
        let bench = Bench::start_joining(joining, |_| {});
        let open = bench.gate();
        let before: Vec<WaitingWrite> = (0..5).map(|_| bench.submit(append)).collect();
        let culprit = bench.submit(culprit);
        let after: Vec<WaitingWrite> = (0..5).map(|_| bench.submit(append)).collect();
        open();
        let innocents = before.into_iter().chain(after);
        let kept: Vec<ItemId> = innocents.map(|innocent| innocent.blocking_recv().unwrap().unwrap().value).collect();
        let error = culprit.blocking_recv().unwrap().unwrap_err();
        assert_eq!(bench.count(), 11, "the gate and ten innocent writes, nothing of the culprit");
        assert!(kept.iter().all(|id| bench.has(*id)));
        error
    })
}

#[test]
fn writes_that_arrive_during_a_batch_are_committed_with_it() {
    let bench = Bench::start(|_| {});
    let before = bench.writer.commits();
    let open = bench.gate();
    let late: Vec<WaitingWrite> = (0..3).map(|_| bench.submit(append)).collect();
    open();
    assert!(late.into_iter().all(|late| late.blocking_recv().unwrap().is_ok()));
    assert_eq!((bench.writer.commits() - before, bench.count()), (1, 4));
}

#[test]
fn background_work_that_comes_while_a_batch_is_run_opens_the_next() {
    let bench = Bench::start(|_| {});
    let before = bench.writer.commits();
    let open = bench.gate();
    let commits = Arc::clone(&bench.writer.commits);
    let (early, found) = (bench.submit(append), Arc::new(OnceLock::new()));
    let finding = Arc::clone(&found);
    let slow = bench.submit_as(Urgency::Background, move |tx| {
        finding.set(commits.load(Ordering::Relaxed)).unwrap();
        append(tx)
    });
    let late = bench.submit(append);
    open();
    assert!([early, slow, late].into_iter().all(|waiting| waiting.blocking_recv().unwrap().is_ok()));
    assert_eq!(found.get(), Some(&(before + 1)), "who came before it was not kept waiting");
    assert_eq!((bench.writer.commits() - before, bench.count()), (2, 4));
}

#[test]
fn a_batch_reads_catalog_writes_of_its_earlier_functions() {
    let bench = Bench::start(|_| {});
    let open = bench.gate();
    let record_id = Arc::new(OnceLock::new());
    let (make, change, look) = (Arc::clone(&record_id), Arc::clone(&record_id), record_id);
    let content = |text: &str| {
        let data = Map::from_iter([("text".to_owned(), text.into())]);
        RecordContent::new(RecordType::parse("Belief").unwrap(), data)
    };
    let waiting = [
        bench.submit(move |tx| {
            let record = tx.create_record(&VIEWER, content("first"), None)?;
            assert_eq!(tx.record(&VIEWER, record.id)?.version, 1);
            make.set(record.id).unwrap();
            append(tx)
        }),
        bench.submit(move |tx| {
            let record = tx.record(&VIEWER, *change.get().unwrap())?;
            tx.update_record(&VIEWER, record.id, record.hash, content("second"), None)?;
            append(tx)
        }),
        bench.submit(move |tx| {
            assert_eq!(tx.record(&VIEWER, *look.get().unwrap())?.version, 2);
            append(tx)
        }),
    ];
    open();
    for waiting in waiting {
        waiting.blocking_recv().unwrap().unwrap();
    }
}

#[test]
fn a_function_that_refuses_fails_alone() {
    let errors = among_innocents(|tx| {
        append(tx)?;
        Err(StoreError::Forbidden)
    });
    assert!(errors.iter().all(|error| matches!(error, StoreError::Forbidden)));
}

#[test]
fn a_function_that_panics_fails_alone() {
    let errors = among_innocents(|tx| {
        append(tx)?;
        panic!("a bug in a rule");
    });
    assert!(errors.iter().all(|error| matches!(error, StoreError::Panicked(text) if text == "a bug in a rule")));
}

#[test]
fn a_function_that_violates_a_constraint_fails_alone() {
    let errors = among_innocents(|tx| {
        let id = append(tx)?;
        tx.execute("INSERT INTO items SELECT NULL, tx, id, owner, type, realized_at, canonical_at, hash, payload_hash, encoding, payload FROM items WHERE id = ?1", crate::db::sql::params![&id])?;
        Ok(id)
    });
    assert!(errors.iter().all(|error| matches!(error, StoreError::Sql(SqlError::Unique(_)))), "{errors:?}");
}

#[test]
fn a_function_that_hits_a_full_disk_fails_alone_although_the_whole_batch_was_rolled_back() {
    let errors = among_innocents(|tx| {
        let mut pages = 0;
        tx.sql.query("PRAGMA page_count", &[], &mut |row| {
            pages = row.int(0)?;
            Ok(())
        })?;
        tx.sql.query(&format!("PRAGMA max_page_count = {pages}"), &[], &mut |_| Ok(()))?;
        let outcome = tx.append_item(&VIEWER, &note(900_000));
        tx.sql.query("PRAGMA max_page_count = 1073741823", &[], &mut |_| Ok(()))?;
        Ok(outcome?.item.header.id)
    });
    assert!(errors.iter().all(|error| matches!(error, StoreError::DiskFull)), "{errors:?}");
}

#[test]
fn a_commit_that_fails_is_told_to_nobody_as_success_and_everyone_gets_another_try() {
    let failing = Arc::new(AtomicBool::new(false));
    let bench = {
        let failing = Arc::clone(&failing);
        Bench::start(move |connection| {
            let refuse_once = move || failing.swap(false, Ordering::SeqCst);
            connection.commit_hook(Some(refuse_once)).unwrap();
        })
    };
    let open = bench.gate();
    let runs = Arc::new(AtomicUsize::new(0));
    let first = {
        let runs = Arc::clone(&runs);
        bench.submit(move |tx| {
            // Only the first run, in the batch, makes its commit fail.
            failing.store(runs.fetch_add(1, Ordering::SeqCst) == 0, Ordering::SeqCst);
            append(tx)
        })
    };
    let others: Vec<WaitingWrite> = (0..6).map(|_| bench.submit(append)).collect();
    open();
    let kept = std::iter::once(first).chain(others).map(|waiting| waiting.blocking_recv().unwrap().unwrap().value);
    assert!(kept.collect::<Vec<_>>().iter().all(|id| bench.has(*id)));
    assert_eq!((bench.count(), runs.load(Ordering::SeqCst)), (8, 2));
}

#[test]
fn when_too_much_waits_background_work_is_refused_first_and_then_everyone() {
    let bench = Bench::start(|_| {});
    let open = bench.gate();
    let submit = |urgency| {
        let (work, outcome) = WriteFunction::queued(append);
        bench.writer.submit(work, 100, urgency).map(|()| outcome)
    };
    let mut waiting: Vec<WaitingWrite> = Vec::new();
    while let Ok(outcome) = submit(Urgency::Background) {
        waiting.push(outcome);
    }
    assert_eq!(waiting.len(), QUEUE_FUNCTIONS_MAX / 2);
    while let Ok(outcome) = submit(Urgency::Interactive) {
        waiting.push(outcome);
    }
    assert_eq!(waiting.len(), QUEUE_FUNCTIONS_MAX);
    assert!(matches!(submit(Urgency::Interactive), Err(StoreError::Busy)));
    open();
    assert!(waiting.into_iter().all(|outcome| outcome.blocking_recv().unwrap().is_ok()));
}

#[test]
fn what_waits_is_also_bounded_in_bytes() {
    let bench = Bench::start(|_| {});
    let open = bench.gate();
    let submit = |bytes| {
        let (work, outcome) = WriteFunction::queued(append);
        bench.writer.submit(work, bytes, Urgency::Interactive).map(|()| outcome)
    };
    let first = submit(QUEUE_BYTES_MAX).unwrap();
    assert!(matches!(submit(1), Err(StoreError::Busy)));
    open();
    assert!(first.blocking_recv().unwrap().is_ok());
}
