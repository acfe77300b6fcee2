//! A canary of every type of secret is kept, used, echoed back and replaced; afterwards it is looked for everywhere.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use skein_testkit::http::Answer;
use skein_testkit::httpbin::Httpbin;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::tls::Certificates;

use crate::server::{Home, Server};

/// What must be found nowhere. `+/` and `=` are spelled differently in addresses.
const CANARIES: [&str; 5] = [
    "canary+api/key=7f9c24e53b1a",
    "canary+pass/word=0d6f0a1b2c3d",
    "canary+access/token=5f3c9a7e0d6f",
    "canary+refresh/token=8c2d7f9c24e5",
    "canary+client/secret=3b1a5f3c9a7e",
];

/// The server, and everything it ever said.
struct Story {
    server: Server,
    told: Vec<String>,
}

impl Story {
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let Answer { status, headers, body } =
            self.server.connect().request(method, &format!("/api/v1{path}"), &self.server.key, &body).unwrap();
        self.told.push(format!("{status} {headers:?} {body}"));
        serde_json::from_str(&body).unwrap_or_default()
    }

    fn made(&mut self, path: &str, body: &Value) -> String {
        let made = self.ask("POST", path, body);
        made["id"].as_str().unwrap_or_else(|| panic!("{path}: {made}")).to_owned()
    }

    /// Calls a tool and waits for what comes of it.
    fn tested(&mut self, tool: &str) -> Value {
        let queued = self.ask("POST", &format!("/tools/{tool}/test"), &json!({ "inputs": {} }));
        let path = queued["statusUrl"].as_str().unwrap().replace("/api/v1", "");
        loop {
            let operation = self.ask("GET", &path, &Value::Null);
            if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
                return operation;
            }
        }
    }
}

/// How a text may be spelled where it should not be: as it is, percent-encoded, and in base64 wherever it begins.
fn spellings(canary: &str) -> Vec<String> {
    let percent: String = canary
        .bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let inside = (0..3).map(|lead| {
        let encoded = STANDARD_NO_PAD.encode(format!("{}{canary}", "x".repeat(lead)));
        // The first and last few digits also depend on what stands beside it.
        encoded[4..encoded.len() - 4].to_owned()
    });
    let both = inside.flat_map(|text| [text.replace('+', "-").replace('/', "_"), text]).collect::<Vec<_>>();
    [canary.to_owned(), percent.clone(), percent.to_lowercase()].into_iter().chain(both).collect()
}

fn refuse(canaries: &[String], place: &str, bytes: &[u8]) {
    for canary in canaries {
        for spelling in spellings(canary) {
            let is_there = bytes.windows(spelling.len()).any(|window| window == spelling.as_bytes());
            assert!(!is_there, "{place} holds {canary} as {spelling}");
        }
    }
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

fn run(home: &Home, folder: &Path) {
    let peer = Httpbin::start();
    let certificates = Certificates::make();
    let server = home.serve();
    let mut story = Story { server, told: Vec::new() };
    let [api_key, password, access, refresh, client] = CANARIES;
    let values = [
        ("api_key", json!(api_key)),
        ("password", json!({ "username": "anna", "password": password })),
        (
            "oauth_token",
            json!({ "accessToken": access, "refreshToken": refresh, "clientId": "skein", "clientSecret": client,
            "tokenUrl": format!("{}/status/400", peer.endpoint()) }),
        ),
        ("certificate", json!({ "certificate": certificates.client, "privateKey": certificates.client_key })),
    ];
    let address = peer.address();
    story.made("/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() }));
    let schema =
        json!({ "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } });
    let service = |protocol: &str| json!({ "name": protocol, "type": "rest_api", "protocol": protocol, "requiresSecret": true, "connectionSchema": schema });
    let (plain, encrypted) = (story.made("/services", &service("http")), story.made("/services", &service("https")));
    for (secret_type, value) in values {
        let secret = story.made("/secrets", &json!({ "name": secret_type, "type": secret_type, "value": value }));
        let is_certificate = secret_type == "certificate";
        let endpoint = peer.endpoint().replace("http:", if is_certificate { "https:" } else { "http:" });
        let tool = json!({ "name": secret_type, "serviceId": if is_certificate { &encrypted } else { &plain },
            "secretId": secret, "connectionParams": { "endpoint": endpoint }, "inputSchema": { "type": "object" },
            "operation": { "type": "rest_call", "method": "POST", "path": "/anything", "body": { "said": "hello" } } });
        let tool = story.made("/tools", &tool);
        let done = story.tested(&tool);
        // The echo of a plain peer answers; TLS to it cannot be agreed upon.
        assert_eq!(done["status"], if is_certificate { "failed" } else { "completed" }, "{done}");
        story.ask("PUT", &format!("/secrets/{secret}"), &json!({ "value": value }));
        story.ask("GET", &format!("/secrets/{secret}"), &Value::Null);
        // Something a value must not come back in: a refusal of the same value under another type.
        story.ask("POST", "/secrets", &json!({ "name": "wrong", "type": "password", "value": value.to_string() }));
    }
    // A token that the peer refuses is renewed at a peer that refuses that as well.
    let refused = json!({ "name": "refused", "serviceId": plain, "connectionParams": { "endpoint": peer.endpoint() },
        "inputSchema": { "type": "object" }, "operation": { "type": "rest_call", "method": "GET", "path": "/status/401" } });
    let secrets = story.ask("GET", "/secrets", &Value::Null);
    let token = secrets["data"].as_array().unwrap().iter().find(|secret| secret["type"] == "oauth_token").unwrap();
    let mut refused = refused;
    refused["secretId"] = token["id"].clone();
    let refused = story.made("/tools", &refused);
    assert_eq!(story.tested(&refused)["status"], "failed");
    story.ask("GET", "/items?limit=1000", &Value::Null);
    story.ask("GET", "/deltas?limit=1000", &Value::Null);
    story.ask("GET", "/operations?limit=1000", &Value::Null);

    home.run(&["export", folder.join("everything.zip").to_str().unwrap()]).assert_ok();
    home.run(&["backup", folder.join("backup").to_str().unwrap()]).assert_ok();
    let Story { server, told } = story;
    let Server { mut process, .. } = server;
    assert!(process.terminate().success());
    let key_body: String = certificates.client_key.lines().filter(|line| !line.starts_with('-')).collect();
    let canaries: Vec<String> = CANARIES.iter().map(ToString::to_string).chain([key_body]).collect();
    refuse(&canaries, "an answer", told.join("\n").as_bytes());
    refuse(&canaries, "the log", format!("{}\n{}", process.stdout(), process.stderr()).as_bytes());
    let kept = files(folder);
    assert!(kept.iter().any(|(name, _)| name.ends_with("everything.zip")) && kept.len() > 4, "{}", kept.len());
    for (name, bytes) in kept {
        refuse(&canaries, &name, &bytes);
    }
}

#[test]
fn canaries_of_every_type_are_found_nowhere_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    run(&Home::at(folder.path()), folder.path());
}

#[test]
fn canaries_of_every_type_are_found_nowhere_on_postgres() {
    let (folder, database) = (tempfile::tempdir().unwrap(), Database::fresh(Cluster::shared()));
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    run(&home, folder.path());
}
