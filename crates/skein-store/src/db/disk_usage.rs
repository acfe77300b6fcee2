//! Measures the size of a database: from the file system or from PostgreSQL, without reading its content.

use std::path::Path;

use crate::error::StoreError;
use crate::store::{Location, Store, database_file};
use crate::tx::Tx;

/// What SQLite keeps beside its file: what was not moved into it yet, and where that is found.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

impl Location {
    /// Which of the two databases it is.
    pub fn database(&self) -> &'static str {
        match self {
            Self::Directory(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        }
    }
}

impl Store {
    /// How much room the database takes, in bytes.
    pub async fn database_bytes(&self) -> Result<u64, StoreError> {
        match self.location() {
            Location::Directory(directory) => Ok(bytes_of_files(&database_file(directory))),
            Location::Postgres(_) => self.read(postgres_bytes).await,
        }
    }
}

fn bytes_of_files(file: &Path) -> u64 {
    let beside = BESIDE.map(|ending| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        name.into()
    });
    // One that is not there takes no room.
    [file.to_owned()]
        .iter()
        .chain(&beside)
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|found| found.len())
        .sum()
}

fn postgres_bytes(tx: &mut Tx<'_>) -> Result<u64, StoreError> {
    let bytes = tx.first("SELECT pg_database_size(current_database())", &[], |row| row.int(0))?;
    Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
}
