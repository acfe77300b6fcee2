//! Tests that the index finds every key, however many there are and wherever a write stopped; a start reads little.

use super::*;
use crate::db::sqlite::open_writer;

const NOW: Millis = Millis(1_700_000_000_000);
const PER_COMMIT: u32 = 32;

struct File {
    connection: Connection,
    names: IdempotencyIndex,
    now: Millis,
    _folder: tempfile::TempDir,
}

fn name(number: u32) -> Digest {
    Digest::of(&number.to_be_bytes())
}

fn operation(number: u32, at: Millis) -> OperationId {
    OperationId::new(at, Entropy(name(number).0[..10].try_into().unwrap()))
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_writer(&folder.path().join("skein.db")).unwrap();
        connection.pragma_update(None, "synchronous", "OFF").unwrap();
        let names = IdempotencyIndex::load(&connection, NOW).unwrap();
        Self { connection, names, now: NOW, _folder: folder }
    }

    /// Inserts operations with these numbers as the writing thread would, up to the commit.
    fn begin(&mut self, numbers: std::ops::Range<u32>) {
        self.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for number in numbers {
            let (name, id) = (name(number), operation(number, self.now));
            let insert = "INSERT INTO operations (id, owner, kind, status, progress, created_at, updated_at, request)
                          VALUES (?1, ?1, 'k', 'completed', 100, ?2, ?2, ?3)";
            SqliteTransaction::on(&self.connection).execute(insert, params![&id, self.now, &name]).unwrap();
            self.names.note(id, Some(name));
        }
        self.names.file(&self.connection).unwrap();
    }

    fn commit(&mut self, numbers: std::ops::Range<u32>) {
        self.begin(numbers);
        self.connection.execute_batch("COMMIT").unwrap();
        self.names.committed(self.now);
        self.now = self.now.plus(1);
    }

    fn commit_many(&mut self, numbers: std::ops::Range<u32>) {
        for start in numbers.clone().step_by(PER_COMMIT as usize) {
            self.commit(start..numbers.end.min(start + PER_COMMIT));
        }
    }

    fn finds(&self, number: u32) -> bool {
        let found = self.names.find(&self.connection, &name(number), self.now).unwrap();
        found.iter().any(|id| id.as_bytes()[6..] == name(number).0[..10])
    }

    fn filed(&self) -> i64 {
        self.connection.query_row("SELECT count(*) FROM request_names", [], |row| row.get(0)).unwrap()
    }

    /// What a process that starts now knows.
    fn start_again(&mut self) {
        self.names = IdempotencyIndex::load(&self.connection, self.now).unwrap();
    }
}

#[test]
fn every_name_is_found_while_it_is_filed_and_after_and_by_the_next_process() {
    let mut file = File::new();
    file.commit_many(0..2_500);
    assert!(file.filed() > 1_250);
    assert!((0..2_500).all(|number| file.finds(number)));
    assert!(!file.finds(2_500));
    file.start_again();
    assert!((0..2_500).all(|number| file.finds(number)));
    assert!(!file.finds(2_500));
}

/// Rows from the moment up to which all are filed.
fn read_at_start(file: &File) -> usize {
    let unfiled = "SELECT count(*) FROM operations WHERE created_at >=
                   (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'requests_filed')";
    let read: i64 = file.connection.query_row(unfiled, [], |row| row.get(0)).unwrap();
    read.try_into().unwrap()
}

#[test]
fn a_start_reads_and_keeps_no_more_than_a_limit_however_many_there_are() {
    let mut file = File::new();
    for hundreds in 0..60 {
        file.commit_many(hundreds * 100..(hundreds + 1) * 100);
        let in_memory = file.names.recent.len();
        file.start_again();
        let read = read_at_start(&file);
        assert!(read <= 2 * RECENT_OPERATIONS_MAX, "{read}");
        assert!(in_memory <= 2 * RECENT_OPERATIONS_MAX && file.names.recent.len() <= 2 * RECENT_OPERATIONS_MAX);
    }
}

#[test]
fn a_process_that_dies_in_a_round_loses_no_name() {
    let mut file = File::new();
    file.commit_many(0..1_250);
    assert!(file.names.round.is_some() && file.filed() > 0 && file.filed() < 1_024);
    file.start_again();
    assert!((0..1_250).all(|number| file.finds(number)));
    let (filed, before) = (file.filed(), read_at_start(&file));
    file.commit(1_250..1_251);
    assert!(file.filed() - filed <= 128 && read_at_start(&file) <= before - 64, "a part, which is done with");
    file.commit_many(1_251..2_500);
    assert!(!file.names.is_behind && (0..2_500).all(|number| file.finds(number)));
}

#[test]
fn what_was_rolled_back_is_not_known_and_what_was_to_be_filed_still_is() {
    let mut file = File::new();
    file.commit_many(0..1_024);
    for _ in 0..3 {
        file.begin(90_000..90_100);
        assert!(file.finds(90_000));
        file.connection.execute_batch("ROLLBACK").unwrap();
        file.names.rolled_back();
        assert!(!file.finds(90_000) && file.finds(0));
    }
    file.begin(90_000..90_010);
    file.names.take_back(5);
    assert!(file.finds(90_004) && !file.finds(90_005));
    file.connection.execute_batch("ROLLBACK").unwrap();
    file.names.rolled_back();
    file.commit_many(1_024..2_500);
    file.start_again();
    assert!((0..2_500).all(|number| file.finds(number)));
}

#[test]
fn a_round_without_names_moves_on_what_a_start_reads() {
    let mut file = File::new();
    for _ in 0..40 {
        (0..100).for_each(|_| file.names.note(operation(0, NOW), None));
        file.commit(0..0);
    }
    file.start_again();
    assert_eq!(file.names.unfiled, 0);
    let mark = "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'requests_filed'";
    assert!(file.connection.query_row(mark, [], |row| row.get::<_, i64>(0)).unwrap() >= NOW.0);
}

#[test]
fn names_of_the_day_before_yesterday_are_swept() {
    let mut file = File::new();
    file.commit_many(0..15_000);
    let filed = file.filed();
    for (days, left) in [(1, filed), (2, filed - SWEPT_MAX), (2, 0)] {
        let now = NOW.plus(days * KEY_KEPT_MS);
        sweep(&mut SqliteTransaction::on(&file.connection), now).unwrap();
        assert_eq!(file.filed(), left);
    }
}

#[test]
fn what_another_connection_wrote_is_read() {
    let mut file = File::new();
    let path: String = file.connection.path().unwrap().to_owned();
    let mut other = File::new();
    other.connection = Connection::open(path).unwrap();
    other.start_again();
    file.commit(0..10);
    assert!(!other.finds(3));
    other.names.refresh(&other.connection, NOW).unwrap();
    assert!(other.finds(3));
    let before = file.names.data_version;
    file.names.refresh(&file.connection, NOW).unwrap();
    assert_eq!(file.names.data_version, before, "what it wrote itself is known");
}
