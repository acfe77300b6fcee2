//! A running `skein serve` and what one does to it.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use skein_testkit::http::{Answer, Connection, fresh_key};
use skein_testkit::process::{Child, Program};

pub(crate) const SKEIN: &str = env!("CARGO_BIN_EXE_skein");

/// Where a server keeps its things.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    pub(crate) database: Option<String>,
}

impl Home {
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.join("skein"), database: None }
    }

    /// `skein` with this home, to be completed with a command.
    pub(crate) fn skein(&self) -> Program {
        let program = Program::new(SKEIN).arg("--dir").arg(self.dir.clone());
        match &self.database {
            Some(url) => program.arg("--database").arg(url.clone()),
            None => program,
        }
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Finished {
        finish(self.skein().args(words.iter().copied()))
    }

    pub(crate) fn serve(&self) -> Server {
        Server::start(self.skein())
    }
}

pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Finished {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn assert_ok(self) -> String {
        assert!(self.status.success(), "{:?}\n{}\n{}", self.status, self.out, self.err);
        self.out
    }
}

pub(crate) fn finish(program: Program) -> Finished {
    let mut child = program.spawn();
    let status = child.wait();
    Finished { status, out: child.stdout(), err: child.stderr() }
}

pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
    pub(crate) key: String,
}

impl Server {
    /// Starts `serve` on a free port and waits until it says where it listens.
    pub(crate) fn start(skein: Program) -> Self {
        let process = skein.args(["serve", "--listen", "127.0.0.1:0"]).spawn();
        Self::of(process)
    }

    pub(crate) fn of(process: Child) -> Self {
        let address = after(&process.wait_for_line("Skein is listening on "), "listening on ");
        let link = after(&process.wait_for_line("Sign in, once: "), "Sign in, once: ");
        let key = key_by_link(&address, &link, "admin");
        Self { process, address, key }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&self.address).unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.connect().request("GET", path, &self.key, "").unwrap()
    }

    pub(crate) fn post(&self, body: &str) -> Answer {
        self.connect().request("POST", "/api/v1/items", &self.key, body).unwrap()
    }

    pub(crate) fn note(&self, text: &str) -> Answer {
        self.post(&format!(r#"{{"_type":"Note","data":{{"description":"{text}"}}}}"#))
    }
}

/// Signs in by the link as a browser would, and makes a key.
pub(crate) fn key_by_link(address: &str, link: &str, scope: &str) -> String {
    let mut connection = Connection::open(address).unwrap();
    let signed_in = connection.send("GET", link.strip_prefix(address).unwrap(), "", "").unwrap();
    assert_eq!(signed_in.status, 303, "{}", signed_in.body);
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap();
    let headers = format!("Cookie: {cookie}\r\nIdempotency-Key: {}\r\n", fresh_key().unwrap());
    let made =
        connection.send("POST", "/api/v1/keys", &headers, &format!(r#"{{"name":"story","scope":"{scope}"}}"#)).unwrap();
    assert_eq!(made.status, 201, "{}", made.body);
    made.body.split(r#""key":""#).nth(1).unwrap().split('"').next().unwrap().to_owned()
}

pub(crate) fn after(line: &str, marker: &str) -> String {
    line.split(marker).nth(1).unwrap().trim().to_owned()
}

pub(crate) fn id_of(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.body.split(r#""id":""#).nth(1).unwrap().split('"').next().unwrap().to_owned()
}
