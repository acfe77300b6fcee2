//! Appends notes to a server until it is killed: `append_client ADDRESS KEY LOG WRITERS`.
//!
//! Every id the server acknowledged is written to LOG and made durable before the next request, by a process of its
//! own: whatever happens to the server, LOG says what it had promised to keep.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use skein_testkit::http::Connection;
use skein_testkit::wait::rest;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, key, log, writers] = words.as_slice() else {
        eprintln!("usage: append_client ADDRESS KEY LOG WRITERS");
        return ExitCode::from(2);
    };
    let log = OpenOptions::new().create(true).append(true).open(log).expect("the log can be written");
    let log = Arc::new(Mutex::new(log));
    let writers: usize = writers.parse().expect("WRITERS is a number");
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let log = Arc::clone(&log);
            scope.spawn(move || append_for_ever(address, key, writer, &log));
        }
    });
    ExitCode::SUCCESS
}

fn append_for_ever(address: &str, key: &str, writer: usize, log: &Mutex<File>) {
    let mut number = 0_u64;
    loop {
        let Ok(mut connection) = Connection::open(address) else {
            rest();
            continue;
        };
        loop {
            number += 1;
            let body = format!(r#"{{"_type":"Note","data":{{"description":"{writer}.{number}"}}}}"#);
            match connection.request("POST", "/api/v1/items", key, &body) {
                Ok(answer) if answer.status == 201 => keep(log, &answer.body),
                Ok(_) => rest(),
                Err(_) => break,
            }
        }
    }
}

/// Notes an acknowledged id; durable when this returns.
fn keep(log: &Mutex<File>, body: &str) {
    let id = body.split(r#""id":""#).nth(1).and_then(|rest| rest.split('"').next());
    let id = id.expect("an acknowledged item has an id");
    let mut log = log.lock().expect("no writer panics while it holds the log");
    writeln!(log, "{id}").and_then(|()| log.sync_data()).expect("the log can be written");
}
