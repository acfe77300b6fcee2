//! Encrypted connections to a real PostgreSQL, with a certificate that is known and with one that is not.

use std::path::Path;
use std::process::Command;

use skein_store::{Location, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};

/// A key and a certificate for 127.0.0.1 that certifies itself.
fn make_certificate(folder: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "server.key", "-out", "server.crt"])
        .current_dir(folder)
        .output();
    let made = made.expect("openssl is installed; run scripts/setup.sh");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Gives the server its certificate and turns encryption on.
fn encrypt(cluster: &Cluster, folder: &Path) {
    let [key, certificate] =
        ["server.key", "server.crt"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    let url = cluster.url().to_owned();
    let run = move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        for (name, text) in [("server.key", key), ("server.crt", certificate)] {
            client.execute("CREATE TEMP TABLE IF NOT EXISTS line (number bigserial, text text)", &[]).unwrap();
            client.execute("TRUNCATE line", &[]).unwrap();
            for line in text.lines() {
                client.execute("INSERT INTO line (text) VALUES ($1)", &[&line]).unwrap();
            }
            let program = format!("umask 077 && cat > {name}");
            client
                .batch_execute(&format!("COPY (SELECT text FROM line ORDER BY number) TO PROGRAM '{program}'"))
                .unwrap();
        }
        client.batch_execute("ALTER SYSTEM SET ssl = on").unwrap();
        client.execute("SELECT pg_reload_conf()", &[]).unwrap();
    };
    std::thread::spawn(run).join().unwrap();
}

fn open(database: &Database, parameters: &str) -> Result<Store, StoreError> {
    let url = format!("{}?{parameters}", database.url());
    Store::open(StoreOptions { connections: 1, ..StoreOptions::at(Location::Postgres(url)) })
}

#[test]
fn an_encrypted_connection_is_made_to_a_known_certificate_and_to_no_other() {
    let folder = tempfile::tempdir().unwrap();
    make_certificate(folder.path());
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    assert!(open(&database, "sslmode=require").is_err(), "the server is not encrypted yet");
    encrypt(&cluster, folder.path());
    let known = format!("sslmode=require&sslrootcert={}", folder.path().join("server.crt").display());
    crate::fixtures::wait_until("the server has read its certificate", || open(&database, &known).is_ok());
    let unknown = open(&database, "sslmode=require").err().expect("an unknown certificate was accepted");
    assert!(unknown.to_string().contains("certificate"), "{unknown}");
    let missing =
        open(&database, "sslmode=require&sslrootcert=/nowhere.pem").err().expect("a missing file was accepted");
    assert!(missing.to_string().contains("/nowhere.pem"), "{missing}");
}
