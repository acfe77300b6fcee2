//! A store to test with, on either database, with a stopped clock and two people in it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use skein_core::account::Role;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::garden::record::{RecordContent, RecordType};
use skein_core::{Millis, UserId, Viewer};
use skein_store::blobs::Blobs;
use skein_store::clock::StoppedClock;
use skein_store::timeline::items::StoredItem;
use skein_store::verify::{VerifyOptions, VerifyReport};
use skein_store::{Location, Store, StoreError, StoreOptions, Tx};
use skein_testkit::postgres::{Cluster, Database, ensure_template};

pub(crate) const START: Millis = Millis(1_700_000_000_000);
const TEMPLATE: &str = "skein_store_template";

/// Declares tests that run on both databases.
macro_rules! both {
    ($($(#[$meta:meta])* fn $name:ident($world:ident: &World) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "not every test needs everything its file imports")]
            use super::*;

            $(#[$meta])*
            fn check($world: &World) $body

            #[test]
            fn on_sqlite() {
                check(&World::sqlite());
            }

            #[test]
            fn on_postgres() {
                check(&World::postgres());
            }
        }
    )*};
}
pub(crate) use both;

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) clock: Arc<StoppedClock>,
    pub(crate) anna: Viewer,
    pub(crate) bert: Viewer,
    pub(crate) blobs: Blobs,
    pub(crate) place: Place,
    pub(crate) folder: tempfile::TempDir,
}

/// Where a world's rows are, to tamper with them.
pub(crate) enum Place {
    Sqlite(std::path::PathBuf),
    Postgres(Database),
}

impl World {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = skein_store::store::database_file(folder.path());
        Self::at(Location::Directory(folder.path().to_owned()), Place::Sqlite(file), folder)
    }

    pub(crate) fn postgres() -> Self {
        let cluster = Cluster::shared();
        ensure_template(cluster, TEMPLATE, |url| {
            drop(Store::open(StoreOptions::at(Location::Postgres(url.to_owned()))).unwrap());
        });
        let database = Database::from_template(cluster, TEMPLATE);
        Self::at(Location::Postgres(database.url().to_owned()), Place::Postgres(database), tempfile::tempdir().unwrap())
    }

    fn at(location: Location, place: Place, folder: tempfile::TempDir) -> Self {
        let clock = Arc::new(StoppedClock::at(START));
        let options = StoreOptions { clock: Some(clock.clone()), connections: 8, ..StoreOptions::at(location) };
        let store = Store::open(options).unwrap();
        let blobs = Blobs::directory(&folder.path().join("blobs")).unwrap();
        let [anna, bert] = ["anna", "bert"].map(|name| {
            let system = Viewer::System("test");
            let user = store.write_blocking(move |tx| tx.create_user(&system, name, Role::User)).unwrap().value;
            Viewer::User(user)
        });
        Self { store, clock, anna, bert, blobs, place, folder }
    }

    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.try_write(work).unwrap()
    }

    pub(crate) fn try_write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.store.write_blocking(work).map(|committed| committed.value)
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.try_read(work).unwrap()
    }

    pub(crate) fn try_read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.store.read_blocking(work)
    }

    /// A note of Anna's.
    pub(crate) fn note(&self, text: &str) -> StoredItem {
        self.note_by(&self.anna, text)
    }

    pub(crate) fn note_by(&self, viewer: &Viewer, text: &str) -> StoredItem {
        let (viewer, draft) = (viewer.clone(), note(text, None));
        self.write(move |tx| tx.append_item(&viewer, &draft))
    }

    /// Seals until nothing is left to seal. On a shared cluster other tests' transactions hold items back.
    pub(crate) fn seal(&self) {
        wait_until("everything is sealed", || {
            skein_store::timeline::sealer::seal_all(&self.store, "test").unwrap();
            self.verify(false).unsealed == 0
        });
    }

    pub(crate) fn verify(&self, deep: bool) -> VerifyReport {
        let options = VerifyOptions { deep, expect: None };
        skein_store::verify::verify(&self.store, &self.blobs, &options, &mut |_| {}).unwrap()
    }

    /// Runs a statement behind the store's back.
    pub(crate) fn tamper(&self, sql: &str) -> Result<u64, String> {
        match &self.place {
            Place::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file).unwrap();
                connection.busy_timeout(Duration::from_secs(5)).unwrap();
                connection.execute(sql, []).map(|rows| rows as u64).map_err(|error| error.to_string())
            }
            Place::Postgres(_) => self.tamper_with(sql, ""),
        }
    }

    fn tamper_with(&self, sql: &str, before: &str) -> Result<u64, String> {
        let Place::Postgres(database) = &self.place else { panic!("called for PostgreSQL") };
        let (url, sql, before) = (database.url().to_owned(), sql.to_owned(), before.to_owned());
        let run = move || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.batch_execute(&before).unwrap();
            client.execute(&sql, &[]).map_err(|error| {
                error.as_db_error().map_or_else(|| error.to_string(), |answer| answer.message().to_owned())
            })
        };
        std::thread::spawn(run).join().unwrap()
    }

    /// Like [`Self::tamper`], by somebody who takes the database's own guards down first.
    pub(crate) fn tamper_unguarded(&self, sql: &str) -> Result<u64, String> {
        match &self.place {
            Place::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file).unwrap();
                connection.busy_timeout(Duration::from_secs(5)).unwrap();
                connection.pragma_update(None, "foreign_keys", false).unwrap();
                let guards =
                    "DROP TRIGGER IF EXISTS items_are_never_updated; DROP TRIGGER IF EXISTS items_are_never_deleted";
                connection.execute_batch(guards).unwrap();
                add_flip(&connection);
                connection.execute(sql, []).map(|rows| rows as u64).map_err(|error| error.to_string())
            }
            Place::Postgres(_) => self.tamper_with(sql, "SET session_replication_role = replica"),
        }
    }

    /// A byte string as this database spells it.
    pub(crate) fn hex(&self, bytes: &[u8]) -> String {
        let hex = skein_core::digest::to_hex(bytes);
        match &self.place {
            Place::Sqlite(_) => format!("x'{hex}'"),
            Place::Postgres(_) => format!("'\\x{hex}'::bytea"),
        }
    }
}

/// Gives SQLite a function that flips the last bit of a byte string.
fn add_flip(connection: &rusqlite::Connection) {
    let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
    let flip = |context: &rusqlite::functions::Context<'_>| {
        let mut bytes: Vec<u8> = context.get(0)?;
        *bytes.last_mut().unwrap() ^= 1;
        Ok(bytes)
    };
    connection.create_scalar_function("flip", 1, flags, flip).unwrap();
}

pub(crate) fn user(viewer: &Viewer) -> UserId {
    viewer.owner()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

pub(crate) fn note(text: &str, canonical_at: Option<Millis>) -> ItemDraft {
    ItemDraft::stated(ItemType::NOTE, object(json!({ "description": text })), canonical_at).unwrap()
}

pub(crate) fn content(record_type: &str, data: Value) -> RecordContent {
    RecordContent::new(RecordType::parse(record_type).unwrap(), object(data))
}

pub(crate) fn rule_of<T: std::fmt::Debug>(result: Result<T, StoreError>) -> &'static str {
    use skein_core::catalog::sharing::SharingRefusal;
    use skein_core::garden::item::BadItem;
    match result {
        Err(
            StoreError::Rule(violation)
            | StoreError::Item(BadItem::Rule(violation))
            | StoreError::Refused(SharingRefusal::Conflict(violation)),
        ) => violation.rule(),
        other => panic!("expected a rule violation, got {other:?}"),
    }
}

/// Waits for a condition that other threads bring about.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    skein_testkit::wait::until(what, || condition().then_some(()));
}
