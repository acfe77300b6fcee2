//! Everything a story left behind, unpacked so far that a text can be looked for in it.

use std::io::{Cursor, Read as _};
use std::path::Path;
use std::thread;

use flate2::read::DeflateDecoder;
use rusqlite::OpenFlags;
use rusqlite::types::ValueRef;
use serde_json::Value;

/// A name for people, and the bytes.
pub(super) type StoredFile = (String, Vec<u8>);

const SQLITE: &[u8] = b"SQLite format 3\0";
const ZIP: &[u8] = b"PK\x03\x04";

/// Every file as it is, and what is in it where it is an archive or a database.
pub(super) fn files(folder: &Path) -> Vec<StoredFile> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            continue;
        }
        let (name, bytes) = (path.display().to_string(), std::fs::read(&path).unwrap());
        if bytes.starts_with(ZIP) {
            found.extend(entries(&name, &bytes));
        } else if bytes.starts_with(SQLITE) {
            found.extend(sqlite_rows(&name, &path));
        }
        found.push((name, bytes));
    }
    found
}

fn entries(name: &str, bytes: &[u8]) -> Vec<StoredFile> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut found = Vec::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut unpacked = Vec::new();
        entry.read_to_end(&mut unpacked).unwrap();
        found.push((format!("{name}/{}", entry.name().unwrap()), unpacked));
    }
    found
}

/// Every value of every table.
pub(super) fn sqlite_rows(name: &str, path: &Path) -> Vec<StoredFile> {
    let database = rusqlite::Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut found = Vec::new();
    for table in tables {
        let mut select = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let width = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..width {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column).unwrap() {
                    found.extend(opened(&format!("{name}, table {table}"), bytes.to_vec()));
                }
            }
        }
    }
    found
}

/// Every value of every table. The client must not be used where a runtime is.
pub(super) fn postgres_rows(url: &str) -> Vec<StoredFile> {
    let read = || {
        let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
        let tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
            WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
        let mut found = Vec::new();
        for table in client.query(tables, &[]).unwrap() {
            let table: String = table.get(0);
            for row in client.query(&format!("SELECT row_to_json(t)::text FROM {table} t"), &[]).unwrap() {
                let row: Value = serde_json::from_str(row.get(0)).unwrap();
                found.extend(texts(&row).into_iter().flat_map(|text| opened(&table, text)));
            }
        }
        found
    };
    thread::scope(|scope| scope.spawn(read).join()).unwrap()
}

/// The texts in a value; those that are bytes in hexadecimal as bytes.
fn texts(value: &Value) -> Vec<Vec<u8>> {
    match value {
        Value::String(text) => vec![text.strip_prefix("\\x").and_then(bytes_of).unwrap_or_else(|| text.clone().into())],
        Value::Array(elements) => elements.iter().flat_map(texts).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, member)| [vec![name.clone().into_bytes()], texts(member)].concat())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

/// A stored value as it is and, since payloads may be kept deflated, inflated as far as that goes.
fn opened(name: &str, bytes: Vec<u8>) -> Vec<StoredFile> {
    let mut inflated = Vec::new();
    let _ = DeflateDecoder::new(bytes.as_slice()).read_to_end(&mut inflated);
    let inflated = (!inflated.is_empty()).then(|| (format!("{name}, inflated"), inflated));
    [(name.to_owned(), bytes)].into_iter().chain(inflated).collect()
}
