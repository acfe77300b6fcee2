//! Bundles on their way: whole or not at all, out and in.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::scripted::{Scripted, answer};

const MADE: &str =
    r#"{"id":"op_01HQ3K4N7Y8M2P5R6T9W0X1Z2A","cursor":"7","operationId":"op_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"}"#;
const BUSY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// In pieces, as the server sends what it does not know the length of.
fn chunked(pieces: &[&[u8]], is_complete: bool) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
    for piece in pieces {
        bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
        bytes.extend([piece, &b"\r\n"[..]].concat());
    }
    bytes.extend(if is_complete { &b"0\r\n\r\n"[..] } else { b"" });
    bytes
}

#[test]
fn an_export_to_standard_output_is_nothing_but_the_bundle() {
    let server = Scripted::start(&[answer("201 Created", MADE), chunked(&[b"PK\x03\x04", b"rest"], true)]);
    let (finished, _) = server.run(&["export", "-"]);
    assert_eq!(finished.assert_ok(), "PK\x03\x04rest");
}

#[test]
fn an_export_becomes_a_file_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.zip");
    let large = vec![7; 200_000];
    let server = Scripted::start(&[answer("201 Created", MADE), chunked(&[b"PK\x03\x04", &large], true)]);
    let (finished, heard) = server.run(&["export", file.to_str().unwrap(), "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&finished.assert_ok()).unwrap();
    assert_eq!(shown["bytes"], 200_004);
    assert!(heard[1].head.starts_with("get /api/v1/exports/op_01hq3k4n7y8m2p5r6t9w0x1z2a "), "{}", heard[1].head);
    assert_eq!(std::fs::read(&file).unwrap(), [b"PK\x03\x04", &large[..]].concat());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(folder.path()), ["all.zip"]);
}

#[test]
fn an_export_that_breaks_off_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.zip");
    let server = Scripted::start(&[answer("201 Created", MADE), chunked(&[b"PK\x03\x04"], false)]);
    let (finished, _) = server.run(&["export", file.to_str().unwrap()]);
    assert_eq!(finished.code(), Some(4), "{}", finished.err);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn an_import_sends_the_whole_file_again_when_the_server_was_busy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.zip");
    let bundle = [b"PK\x03\x04", &vec![9; 300_000][..]].concat();
    std::fs::write(&file, &bundle).unwrap();
    let done = answer("200 OK", r#"{"added":3,"skipped":1,"blobs":0}"#);
    let (finished, heard) = Scripted::start(&[BUSY.to_vec(), done]).run(&["import", file.to_str().unwrap()]);
    let out = finished.assert_ok();
    assert!(out.contains("Added:   3") && out.contains("Skipped: 1"), "{out}");
    for request in &heard {
        assert_eq!(request.header("content-type"), "application/zip");
        assert!(request.body == bundle, "{} bytes arrived", request.body.len());
    }
    assert_eq!(heard[0].header("idempotency-key"), heard[1].header("idempotency-key"));
    assert_eq!(heard.len(), 2);
}

#[test]
fn a_passphrase_goes_with_the_download_alone_and_is_shown_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (file, phrase) = (folder.path().join("all.zip"), folder.path().join("phrase"));
    std::fs::write(&phrase, "correct horse battery staple\n").unwrap();
    let server = Scripted::start(&[answer("201 Created", MADE), chunked(&[b"PK\x03\x04"], true)]);
    // Heads are heard in small letters.
    let sent = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==".to_lowercase();
    let sealed = ["--with-secrets", "--passphrase-file", phrase.to_str().unwrap()];
    let (finished, heard) = server.run(&[&["export", file.to_str().unwrap()], &sealed[..]].concat());
    let out = finished.assert_ok();
    assert!(!out.contains("horse"), "{out}");
    assert_eq!(heard[0].body, br#"{"withSecrets":true}"#);
    assert_eq!((heard[0].header("skein-passphrase"), heard[0].header("idempotency-key").is_empty()), ("", false));
    assert_eq!(heard[1].header("skein-passphrase"), sent);

    let refused = r#"{"error":{"code":"wrong_passphrase","message":"the passphrase is not the one"}}"#;
    let server = Scripted::start(&[answer("422 Unprocessable Entity", refused)]);
    let (finished, heard) = server.run(&[&["import", file.to_str().unwrap()], &sealed[..]].concat());
    assert_eq!(finished.code(), Some(6), "{}", finished.err);
    assert_eq!(heard[0].header("skein-passphrase"), sent);
}

#[test]
fn a_passphrase_is_no_argument_and_goes_with_secrets_only() {
    let server = Scripted::start(&[]);
    let (finished, _) = server.run(&["export", "x.zip", "--passphrase-file", "phrase"]);
    assert_eq!(finished.code(), Some(2), "{}", finished.err);
}
