//! A TLS server that talks to nobody without a client certificate, and the certificates for it.
//!
//! Start at [`MutualTls::start`].

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::scratch::Scratch;

const TIMEOUT: Duration = Duration::from_secs(10);

/// An authority with one certificate for a server on 127.0.0.1 and one for a client, all as PEM text.
#[derive(Debug, Clone)]
pub struct Certificates {
    pub authority: String,
    pub server: String,
    pub server_key: String,
    pub client: String,
    pub client_key: String,
}

impl Certificates {
    /// Makes them anew with `openssl`.
    pub fn make() -> Self {
        let scratch = Scratch::new(0o700);
        let folder = scratch.path();
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let authority = ["-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.crt"];
        openssl(folder, &[&["req", "-x509", "-days", "2"], key.as_slice(), &authority].concat());
        for (name, names) in
            [("server", "subjectAltName=IP:127.0.0.1,DNS:localhost"), ("client", "subjectAltName=DNS:client")]
        {
            let [key_file, file, subject] = [format!("{name}.key"), format!("{name}.crt"), format!("/CN={name}")];
            let issuer =
                ["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", names, "-addext", "basicConstraints=CA:FALSE"];
            let files = ["-subj", &subject, "-keyout", &key_file, "-out", &file];
            openssl(folder, &[&["req", "-x509", "-days", "2"], key.as_slice(), &issuer, &files].concat());
        }
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("openssl made it");
        Self {
            authority: read("ca.crt"),
            server: read("server.crt"),
            server_key: read("server.key"),
            client: read("client.crt"),
            client_key: read("client.key"),
        }
    }

    /// What the server shows and whom it lets in.
    pub fn server_config(&self, asks_for_certificate: bool) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let config = config.expect("the provider knows the usual versions");
        let config = if asks_for_certificate {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(chain(&self.authority));
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            config.with_client_cert_verifier(verifier.expect("there is an authority"))
        } else {
            config.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_slice(self.server_key.as_bytes()).expect("openssl made it");
        config.with_single_cert(chain(&self.server), key).expect("the key is the certificate's")
    }
}

fn chain(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().expect("openssl made it")
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let made = Command::new("openssl").args(arguments).current_dir(folder).output();
    let made = made.expect("openssl is installed; run scripts/setup.sh");
    assert!(made.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&made.stderr));
}

/// A server that answers `hello` to clients with a certificate of its authority. Dropping it ends it.
pub struct MutualTls {
    pub certificates: Certificates,
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl MutualTls {
    pub fn start() -> Self {
        let certificates = Certificates::make();
        let config = Arc::new(certificates.server_config(true));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback address can be bound");
        let address = listener.local_addr().expect("a bound listener has an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let serving = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    break;
                }
                // TLS reports a failed handshake to the client.
                let _ = stream.and_then(|stream| greet(&config, stream));
            }
        });
        Self { certificates, address, is_over, serving: Some(serving) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MutualTls {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

fn greet(config: &Arc<ServerConfig>, stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? <= 2 {
            break;
        }
    }
    let stream = reader.get_mut();
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello")?;
    stream.conn.send_close_notify();
    stream.flush()
}
