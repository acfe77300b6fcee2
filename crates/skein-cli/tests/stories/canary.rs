//! A canary of every type of secret is kept, used, echoed back and replaced; afterwards it is looked for everywhere.

mod stores;

use std::net::SocketAddr;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};
use skein_connect::credential::MARK;
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::http::Answer;
use skein_testkit::httpbin::Httpbin;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::tls::MutualTls;

use crate::server::{Home, Server, id_of};
use stores::StoredFile;

// `+/` and `=` are spelled differently in addresses.
const API_KEY: &str = "canary+api/key=7f9c24e53b1a";
/// Comes back as a number where a service reads it as one.
const DIGITS: &str = "7730915548261390";
const PASSWORD: &str = "canary+pass/word=0d6f0a1b2c3d";
const ACCESS: &str = "canary+access/token=5f3c9a7e0d6f";
const REFRESH: &str = "canary+refresh/token=8c2d7f9c24e5";
const CLIENT: &str = "canary+client/secret=3b1a5f3c9a7e";
const NEW_ACCESS: &str = "canary+renewed/access=6e1f0b9d4a2c";
const NEW_REFRESH: &str = "canary+renewed/refresh=c4d8e2a7f013";
/// Looked for as well: nothing keeps it.
const PASSPHRASE: &str = "canary+pass/phrase=9e4b1c7d2a60";

/// The server, and everything it ever said.
struct Story {
    server: Server,
    told: Vec<String>,
}

impl Story {
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let Answer { status, headers, body } =
            self.server.connect().request(method, &format!("/api/v1{path}"), &self.server.key, &body).unwrap();
        self.told.push(format!("{status} {headers:?} {body}"));
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    fn read(&mut self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    fn made(&mut self, path: &str, body: &Value) -> String {
        let (_, made) = self.ask("POST", path, body);
        made["id"].as_str().unwrap_or_else(|| panic!("{path}: {made}")).to_owned()
    }

    fn allow(&mut self, address: SocketAddr) {
        self.made("/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() }));
    }

    fn service(&mut self, protocol: &str) -> String {
        let schema =
            json!({ "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } });
        let service = json!({ "name": protocol, "type": "rest_api", "protocol": protocol, "requiresSecret": true,
            "connectionSchema": schema });
        self.made("/services", &service)
    }

    /// Keeps a secret, calls a tool with it and waits for what comes of that.
    fn used(&mut self, service: &str, endpoint: &str, operation: &Value, secret: &(&str, Value)) -> (String, Value) {
        let (secret_type, value) = secret;
        let named = format!("{secret_type} for {operation}").chars().take(80).collect::<String>();
        let secret = self.made("/secrets", &json!({ "name": named, "type": secret_type, "value": value }));
        let tool = json!({ "name": named, "serviceId": service, "secretId": secret, "operation": operation,
            "connectionParams": { "endpoint": endpoint }, "inputSchema": { "type": "object" } });
        let tool = self.made("/tools", &tool);
        let (_, queued) = self.ask("POST", &format!("/tools/{tool}/test"), &json!({ "inputs": {} }));
        let path = queued["statusUrl"].as_str().unwrap().replace("/api/v1", "");
        loop {
            let operation = self.read(&path);
            if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
                return (secret, operation);
            }
        }
    }

    /// Has a process call a tool with a key, and reads all that is told of the run.
    fn traced(&mut self, service: &str, endpoint: &str, operation: &Value) {
        let secret = self.made("/secrets", &json!({ "name": "run", "type": "api_key", "value": API_KEY }));
        let tool = json!({ "name": "run", "serviceId": service, "secretId": secret, "operation": operation,
            "connectionParams": { "endpoint": endpoint }, "inputSchema": { "type": "object" } });
        let step = json!({ "id": "ask", "toolId": self.made("/tools", &tool), "inputs": {}, "output": { "variable": "said" } });
        let process = json!({ "name": "run", "steps": [step], "outputTemplate": "{{said}}" });
        let process = self.made("/processes", &process);
        self.ask("POST", &format!("/processes/{process}/execute"), &json!({ "initialContext": {} }));
        let run = loop {
            let run = self.read("/executions")["data"][0].clone();
            if run["status"] != "running" {
                break run;
            }
        };
        let traced = self.read(&format!("/executions/{}", run["id"].as_str().unwrap()));
        assert_eq!((&run["status"], traced.to_string().contains(MARK)), (&json!("completed"), true), "{traced}");
    }

    /// Replaces the value, and offers it where it is refused.
    fn replace(&mut self, secret: &str, value: &Value) {
        let (status, replaced) = self.ask("PUT", &format!("/secrets/{secret}"), &json!({ "value": value }));
        assert_eq!(status, 200, "{replaced}");
        self.read(&format!("/secrets/{secret}"));
        let wrong = json!({ "name": "wrong", "type": "password", "value": { "wrong": value } });
        let (status, refused) = self.ask("POST", "/secrets", &wrong);
        assert!((400..500).contains(&status), "{refused}");
    }
}

/// Renews tokens, accepts the new one only, and repeats whatever it is told.
fn token_service() -> HostileServer {
    HostileServer::start(|request| {
        let echo = json!({ "headers": request.headers, "body": String::from_utf8_lossy(&request.body) });
        let is_new = request.header("authorization") == Some(&format!("Bearer {NEW_ACCESS}"));
        match request.path.as_str() {
            "/token" => Behaviour::json(
                &json!({ "access_token": NEW_ACCESS, "refresh_token": NEW_REFRESH, "echo": echo }).to_string(),
            ),
            "/digits" => Behaviour::json(&format!(r#"{{"yourKey": {DIGITS}}}"#)),
            "/type" => Behaviour::answer(200, &[("content-type", API_KEY), ("set-cookie", API_KEY)], API_KEY),
            _ if is_new => Behaviour::json(&echo.to_string()),
            _ => Behaviour::answer(401, &[("www-authenticate", &echo.to_string())], echo.to_string()),
        }
    })
}

/// Uses a secret of every type in every way that could let it out.
fn tell(story: &mut Story) -> Vec<String> {
    let (peer, tokens, encrypted) = (Httpbin::start(), token_service(), MutualTls::start());
    for address in [peer.address(), tokens.address(), encrypted.address()] {
        story.allow(address);
    }
    let (http, https) = (story.service("http"), story.service("https"));
    let token = |url: String| {
        json!({ "accessToken": ACCESS, "refreshToken": REFRESH, "clientId": "skein", "clientSecret": CLIENT,
            "tokenUrl": url })
    };
    let certificates = &encrypted.certificates;
    let certificate = json!({ "certificate": certificates.client, "privateKey": certificates.client_key,
        "ca": certificates.authority });
    let anything = json!({ "type": "rest_call", "method": "POST", "path": "/anything", "body": { "said": "hello" } });
    let at = |path: &str| json!({ "type": "rest_call", "method": "GET", "path": path });
    let hello = json!({ "type": "rest_call", "method": "GET", "path": "/", "accept": "text" });
    let login = json!({ "username": "anna", "password": PASSWORD });
    let good = token(format!("{}/token", tokens.endpoint()));
    let bad = token(format!("{}/status/400", peer.endpoint()));
    let (echoing, own) = (peer.endpoint(), tokens.endpoint());
    let safe = format!("https://{}", encrypted.address());
    for (service, endpoint, operation, secret, status) in [
        (&http, &echoing, &anything, ("api_key", json!(API_KEY)), "completed"),
        (&http, &own, &at("/digits"), ("api_key", json!(DIGITS)), "completed"),
        (&http, &own, &at("/type"), ("api_key", json!(API_KEY)), "failed"),
        (&http, &echoing, &anything, ("password", login), "completed"),
        (&http, &echoing, &anything, ("oauth_token", good.clone()), "completed"),
        (&http, &own, &at("/renewed"), ("oauth_token", good), "completed"),
        (&http, &echoing, &at("/status/401"), ("oauth_token", bad), "failed"),
        (&https, &safe, &hello, ("certificate", certificate.clone()), "completed"),
        // TLS cannot be agreed upon with a plain peer.
        (&https, &echoing.replace("http:", "https:"), &hello, ("certificate", certificate), "failed"),
    ] {
        let (id, done) = story.used(service, endpoint, operation, &secret);
        assert_eq!(done["status"], status, "{done}");
        let kept = story.read(&format!("/secrets/{id}"));
        let is_renewed = operation["path"] == "/renewed";
        assert_eq!(kept["valueVersion"] == 2, is_renewed, "a renewed token is kept: {kept}");
        story.replace(&id, &secret.1);
    }
    story.traced(&http, &echoing, &anything);
    for path in ["/secrets", "/tools", "/services", "/items", "/deltas", "/operations"] {
        story.read(&format!("{path}?limit=1000"));
    }
    let last = id_of(&story.server.note("the last thing that happens"));
    let headers = format!("Authorization: Bearer {}\r\nLast-Event-ID: 0.0\r\n", story.server.key);
    story.told.push(story.server.connect().watch("/api/v1/events", &headers, &last).unwrap());
    canaries(&certificates.client_key)
}

/// What must be found nowhere, in all its spellings.
fn canaries(private_key: &str) -> Vec<String> {
    let lines: Vec<&str> = private_key.lines().filter(|line| !line.starts_with('-')).collect();
    let key = STANDARD.decode(lines.concat()).unwrap();
    let texts = [API_KEY, DIGITS, PASSWORD, ACCESS, REFRESH, CLIENT, NEW_ACCESS, NEW_REFRESH, PASSPHRASE];
    let texts = texts.into_iter().chain(lines.into_iter().filter(|line| line.len() > 20));
    texts.map(str::as_bytes).chain([key.as_slice()]).filter(|text| !text.is_empty()).flat_map(spellings).collect()
}

/// How bytes may be spelled where they should not be: as they are, escaped, in hexadecimal, and in base64 wherever
/// they begin. Each byte is one character.
fn spellings(canary: &[u8]) -> Vec<String> {
    let plain = characters(canary);
    let escaped = |byte: &u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let percent: String = canary.iter().map(escaped).collect();
    let hex = canary.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let inside = (0..3).map(|lead| {
        let encoded = STANDARD_NO_PAD.encode([&[b'x'; 2][..lead], canary].concat());
        // The first and last few digits also depend on what stands beside it.
        encoded[4..encoded.len() - 4].to_owned()
    });
    let both = inside.flat_map(|text| [text.replace('+', "-").replace('/', "_"), text]);
    let rest = [percent.to_lowercase(), percent, hex.to_uppercase(), hex, plain.replace('/', "\\/"), plain];
    both.chain(rest).collect()
}

fn characters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// No canary is there, and what took its place is: so this is where one would have been.
fn refuse(canaries: &[String], places: &[StoredFile], must_hold: &str) {
    let mut holds = false;
    for (name, bytes) in places {
        let text = characters(bytes);
        holds |= text.contains(must_hold);
        for canary in canaries {
            assert!(!text.contains(canary), "{name} holds {canary}");
        }
    }
    assert!(holds, "{must_hold} is not in any of {:?}", places.iter().map(|(name, _)| name).collect::<Vec<_>>());
}

fn run(home: &Home, folder: &Path, rows: impl Fn() -> Vec<StoredFile>) {
    let mut story = Story { server: home.serve(), told: Vec::new() };
    let canaries = tell(&mut story);
    home.run(&["export", folder.join("everything.zip").to_str().unwrap()]).assert_ok();
    let (phrase, sealed) = (folder.join("phrase"), folder.join("sealed.zip"));
    std::fs::write(&phrase, PASSPHRASE).unwrap();
    let with_secrets = ["--with-secrets", "--passphrase-file", phrase.to_str().unwrap()];
    home.run(&[&["export", sealed.to_str().unwrap()][..], &with_secrets].concat()).assert_ok();
    std::fs::remove_file(&phrase).unwrap();
    home.run(&["backup", folder.join("backup").to_str().unwrap()]).assert_ok();
    let Story { server: Server { mut process, .. }, told } = story;
    assert!(process.terminate().success());
    let log = format!("{}\n{}", process.stdout(), process.stderr());
    refuse(&canaries, &[("the log".to_owned(), log.into_bytes())], "listening on");
    let (events, answers) = told.split_last().unwrap();
    refuse(&canaries, &[("an answer".to_owned(), answers.join("\n").into_bytes())], MARK);
    refuse(&canaries, &[("an event".to_owned(), events.clone().into_bytes())], "item.appended");
    let files = stores::files(folder);
    assert!(files.iter().any(|(name, bytes)| name.ends_with("sealed.zip/secrets.sealed.json") && bytes.len() > 2_000));
    for part in ["everything.zip/", "sealed.zip/", "/backup"] {
        let these: Vec<StoredFile> = files.iter().filter(|(name, _)| name.contains(part)).cloned().collect();
        refuse(&canaries, &these, MARK);
    }
    refuse(&canaries, &files, MARK);
    let rows = rows();
    refuse(&canaries, &rows, MARK);
    assert!(rows.iter().any(|(name, _)| name.ends_with("vault")), "sealed values were looked at");
}

#[test]
fn canaries_of_every_type_are_found_nowhere_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("skein/skein.db");
    run(&Home::at(folder.path()), folder.path(), || stores::sqlite_rows("skein.db", &database));
}

#[test]
fn canaries_of_every_type_are_found_nowhere_on_postgres() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Database::fresh(Cluster::shared()));
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    run(&home, folder.path(), || stores::postgres_rows(database.url()));
}

#[test]
fn a_canary_would_be_found_in_every_spelling() {
    let canaries = canaries("");
    for place in [
        format!("x{API_KEY}"),
        format!("a={}&", API_KEY.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D").to_lowercase()),
        STANDARD.encode(format!("anna:{PASSWORD}")),
        format!("{{\"k\":{DIGITS}}}"),
    ] {
        assert!(canaries.iter().any(|canary| place.contains(canary)), "{place}");
    }
}
