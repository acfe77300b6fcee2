//! Connects to PostgreSQL: unencrypted on this machine, with verified TLS to any other.
//!
//! `sslmode=require` encrypts on this machine too, `sslmode=disable` is the caller's explicit wish to do without. A
//! certificate is checked against the system's, or against the file named by `sslrootcert`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, NoTls};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::db::postgres::sql_error;
use crate::error::SqlError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A machine that vanished is noticed, instead of waited for.
const KEEPALIVE: Duration = Duration::from_secs(30);
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(15);

pub(crate) fn connect(url: &str) -> Result<Client, SqlError> {
    let (url, root_certificate) = without_root_certificate(url);
    let mut config: postgres::Config = url.parse().map_err(|error| sql_error(&error))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.keepalives_idle(KEEPALIVE).tcp_user_timeout(UNACKNOWLEDGED_MAX);
    if !is_encrypted(&config) {
        return config.ssl_mode(SslMode::Disable).connect(NoTls).map_err(|error| sql_error(&error));
    }
    let encrypted = MakeRustlsConnect::new(client_config(root_certificate.as_deref())?);
    config.ssl_mode(SslMode::Require).connect(encrypted).map_err(|error| sql_error(&error))
}

/// The client library does not know `sslrootcert`, so it is taken out of the address, nor the two stricter modes, which
/// mean what `require` means here: a certificate is always checked.
fn without_root_certificate(url: &str) -> (String, Option<String>) {
    let Some((address, parameters)) = url.split_once('?') else { return (url.to_owned(), None) };
    let mut root_certificate = None;
    let others = parameters.split('&').filter(|parameter| match parameter.strip_prefix("sslrootcert=") {
        Some(path) => {
            root_certificate = Some(path.to_owned());
            false
        }
        None => true,
    });
    let others = others.map(|parameter| match parameter {
        "sslmode=verify-ca" | "sslmode=verify-full" => "sslmode=require",
        other => other,
    });
    let others: Vec<&str> = others.collect();
    (format!("{address}?{}", others.join("&")), root_certificate)
}

fn is_encrypted(config: &postgres::Config) -> bool {
    match config.get_ssl_mode() {
        SslMode::Disable => false,
        SslMode::Prefer => config.get_hosts().iter().any(|host| !is_this_machine(host)),
        _ => true,
    }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

fn client_config(root_certificate: Option<&str>) -> Result<ClientConfig, SqlError> {
    let roots = match root_certificate {
        Some(file) => roots_from(Path::new(file))?,
        None => system_roots(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| SqlError::Other(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn roots_from(file: &Path) -> Result<RootCertStore, SqlError> {
    let unreadable =
        |error: rustls::pki_types::pem::Error| SqlError::Gone(format!("sslrootcert {}: {error}", file.display()));
    let certificates: Vec<_> =
        CertificateDer::pem_file_iter(file).map_err(unreadable)?.collect::<Result<_, _>>().map_err(unreadable)?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    Ok(roots)
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(url: &str) -> bool {
        is_encrypted(&url.parse().unwrap())
    }

    #[test]
    fn other_machines_are_reached_encrypted_unless_that_is_refused() {
        assert!(encrypted("postgres://u@db.example/x"));
        assert!(encrypted("postgres://u@10.0.0.7/x"));
        assert!(!encrypted("postgres://u@db.example/x?sslmode=disable"));
        assert!(!encrypted("postgres://u@127.0.0.1/x"));
        assert!(!encrypted("postgres://u@localhost/x"));
        assert!(encrypted("postgres://u@localhost/x?sslmode=require"));
    }

    #[test]
    fn the_root_certificate_is_taken_out_of_the_address() {
        let (url, file) =
            without_root_certificate("postgres://u@h/x?sslmode=require&sslrootcert=/a/b.pem&connect_timeout=3");
        assert_eq!(
            (url.as_str(), file.as_deref()),
            ("postgres://u@h/x?sslmode=require&connect_timeout=3", Some("/a/b.pem"))
        );
        assert_eq!(without_root_certificate("postgres://u@h/x").1, None);
        let (strict, _) = without_root_certificate("postgres://u@h/x?sslmode=verify-full");
        assert_eq!(strict, "postgres://u@h/x?sslmode=require");
    }
}
