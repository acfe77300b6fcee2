//! A crash between commit and reply: whoever asks again gets the answer, and nothing is made twice.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::Value;
use skein_testkit::http::{Answer, fresh_key};
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::wait::until;

use crate::server::{Home, Server};

const NOTE: &str = r#"{"_type":"Note","data":{"description":"said once"}}"#;

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
}

fn notes(server: &Server) -> Vec<Value> {
    json(&server.get("/api/v1/items?type=Note"))["data"].as_array().unwrap().clone()
}

/// Sends the request and never reads the answer; gives back the open connection.
fn say_and_not_listen(server: &Server, headers: &str) -> TcpStream {
    let host = server.address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let length = NOTE.len();
    write!(
        stream,
        "POST /api/v1/items HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {length}\r\n\r\n{NOTE}"
    )
    .unwrap();
    stream
}

fn an_answer_that_was_lost_is_given_again(home: &Home) {
    let mut server = home.serve();
    let headers = format!("Authorization: Bearer {}\r\nIdempotency-Key: {}\r\n", server.key, fresh_key().unwrap());
    let unread = say_and_not_listen(&server, &headers);
    until("the note is kept", || (!notes(&server).is_empty()).then_some(()));
    server.process.kill_nine();
    drop(unread);

    let mut server = home.serve();
    let made = notes(&server);
    let again = server.connect().send("POST", "/api/v1/items", &headers, NOTE).unwrap();
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")), "{}", again.body);
    assert_eq!(json(&again)["id"], made[0]["id"]);
    let other = server.connect().send("POST", "/api/v1/items", &headers, &NOTE.replace("once", "twice")).unwrap();
    assert_eq!(other.status, 409, "{}", other.body);
    assert_eq!(notes(&server).len(), 1);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn an_answer_lost_in_a_crash_is_given_again_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    an_answer_that_was_lost_is_given_again(&Home::at(folder.path()));
}

#[test]
fn an_answer_lost_in_a_crash_is_given_again_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    an_answer_that_was_lost_is_given_again(&home);
}
