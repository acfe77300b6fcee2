//! Many uploads at once: they take disk, not memory, and a killed server's are gone at its next start.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;

use skein_testkit::http::fresh_key;

use crate::server::{Home, Server, key_by_link};

const UPLOADS: usize = 100;
const USERS: usize = 4;
/// The announced size of each; one piece of it is still to come when the server is measured.
const ANNOUNCED_BYTES: usize = 60 << 20;
const PIECE_BYTES: usize = 1 << 20;
const SENT_BYTES: usize = ANNOUNCED_BYTES - PIECE_BYTES;
const MEMORY_KIB_MAX: u64 = 300 << 10;

/// Keys of users besides the first one.
fn user_keys(server: &Server) -> Vec<String> {
    let ask = |path: &str, body: &str| server.connect().request("POST", path, &server.key, body).unwrap();
    let key = |number| {
        let made = ask("/api/v1/users", &format!(r#"{{"name":"user {number}","role":"user"}}"#));
        let user: serde_json::Value = serde_json::from_str(&made.body).unwrap();
        key_by_link(&server.address, user["signInLink"]["url"].as_str().unwrap(), "write")
    };
    (0..USERS).map(key).collect()
}

fn begin_upload(server: &Server, key: &str) -> TcpStream {
    let host = server.address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /api/v1/blobs HTTP/1.1\r\nHost: {host}\r\nContent-Type: audio/ogg\r\nAuthorization: Bearer {key}\r\n\
         Idempotency-Key: {}\r\nContent-Length: {ANNOUNCED_BYTES}\r\n\r\n",
        fresh_key().unwrap()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// All bodies at once, each as fast as the server takes it.
fn send_pieces(streams: &[TcpStream], piece: &[u8]) {
    std::thread::scope(|scope| {
        for mut stream in streams {
            scope.spawn(move || (0..SENT_BYTES / PIECE_BYTES).for_each(|_| stream.write_all(piece).unwrap()));
        }
    });
}

fn unfinished_bytes(dir: &Path) -> usize {
    let files = std::fs::read_dir(dir).into_iter().flatten();
    let size = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().metadata().map_or(0, |data| data.len());
    usize::try_from(files.map(size).sum::<u64>()).unwrap()
}

fn peak_memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn kill_nine_uploads_at_full_speed_take_little_memory_and_leave_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let keys = user_keys(&server);
    let streams: Vec<TcpStream> = (0..UPLOADS).map(|number| begin_upload(&server, &keys[number % USERS])).collect();
    send_pieces(&streams, &vec![7; PIECE_BYTES]);
    let uploads = home.dir.join("blobs").join("uploads");
    while unfinished_bytes(&uploads) < UPLOADS * SENT_BYTES {
        std::thread::yield_now();
    }
    let peak = peak_memory_kib(server.process.id());
    assert!(peak < MEMORY_KIB_MAX, "the server took {peak} KiB");
    assert_eq!(server.get("/health/live").status, 200);
    server.process.kill_nine();
    drop(streams);
    assert_eq!(std::fs::read_dir(&uploads).unwrap().count(), UPLOADS);
    let _again = home.serve();
    assert_eq!(std::fs::read_dir(&uploads).unwrap().count(), 0);
}
