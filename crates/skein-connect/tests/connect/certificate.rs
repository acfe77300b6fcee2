//! Encrypted connections: trust in both directions, and HTTP/2 where both sides speak it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use skein_connect::credential::Credential;
use skein_connect::http::{CallFault, Http, HttpCall, HttpOptions};
use skein_core::catalog::secret::SecretType;
use skein_testkit::tls::{Certificates, MutualTls};

use crate::fixtures::{client, get, guard};

fn identity(certificate: &str, key: &str, ca: Option<&str>) -> Result<Credential, skein_core::RuleViolation> {
    let mut value = json!({"certificate": certificate, "privateKey": key});
    if let Some(ca) = ca {
        value["ca"] = json!(ca);
    }
    Credential::new(SecretType::Certificate, value.to_string().as_bytes(), None)
}

async fn hello(client: &Http, address: SocketAddr, identity: Option<Credential>) -> Result<String, CallFault> {
    let call = HttpCall { credential: identity.map(Arc::new), ..get(&format!("https://{address}/")) };
    let body = client.send(&call).await?.body.whole().await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn br_secret_003_a_certificate_opens_a_server_that_asks_for_one_holds() {
    let server = MutualTls::start();
    let Certificates { authority, client: certificate, client_key, .. } = &server.certificates;
    let trusted = identity(certificate, client_key, Some(authority)).unwrap();
    assert_eq!(hello(&client(&[server.address()]), server.address(), Some(trusted)).await.unwrap(), "hello");
}

#[tokio::test]
async fn br_secret_003_without_the_right_certificate_the_server_refuses() {
    let server = MutualTls::start();
    let Certificates { authority, client: certificate, client_key, .. } = &server.certificates;
    let roots = vec![CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()];
    let trusting = Http::new(guard(&[server.address()]), HttpOptions { extra_roots: roots, ..HttpOptions::default() });
    let fault = hello(&trusting, server.address(), None).await.unwrap_err();
    assert!(matches!(&fault, CallFault::Tls { cause, .. } if cause.contains("CertificateRequired")), "{fault}");
    let stranger = Certificates::make();
    let foreign = identity(&stranger.client, &stranger.client_key, Some(authority)).unwrap();
    let fault = hello(&trusting, server.address(), Some(foreign)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Tls { .. }), "{fault}");
    let right = identity(certificate, client_key, None).unwrap();
    assert_eq!(hello(&trusting, server.address(), Some(right)).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_server_nobody_vouches_for_is_not_talked_to() {
    let server = MutualTls::start();
    let Certificates { client: certificate, client_key, .. } = &server.certificates;
    let fault = hello(&client(&[server.address()]), server.address(), None).await.unwrap_err();
    assert!(matches!(fault, CallFault::Tls { .. }), "{fault}");
    let right = identity(certificate, client_key, None).unwrap();
    let fault = hello(&client(&[server.address()]), server.address(), Some(right)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Tls { .. }), "{fault}");
}

#[test]
fn br_secret_003_a_key_of_another_certificate_refuses() {
    let [one, two] = [Certificates::make(), Certificates::make()];
    let refused = identity(&one.client, &two.client_key, None).unwrap_err();
    assert_eq!(refused.rule(), "BR-SECRET-003");
    assert!(identity(&one.client, &one.client_key, Some("no certificate")).is_err());
    let scrubber = identity(&one.client, &one.client_key, None).unwrap().scrubber();
    assert!(!scrubber.text(&format!("key: {}", one.client_key)).contains("PRIVATE KEY"));
}

#[tokio::test]
async fn a_service_that_speaks_http_2_is_spoken_to_in_it() {
    let certificates = Certificates::make();
    let mut config = certificates.server_config(false);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = tokio_rustls::TlsAcceptor::from(Arc::new(config)).accept(stream).await.unwrap();
        let answer = hyper::service::service_fn(|request: http::Request<hyper::body::Incoming>| async move {
            Ok::<_, Infallible>(http::Response::new(format!("{:?}", request.version())))
        });
        let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    });
    let roots = vec![CertificateDer::from_pem_slice(certificates.authority.as_bytes()).unwrap()];
    let client = Http::new(guard(&[address]), HttpOptions { extra_roots: roots, ..HttpOptions::default() });
    assert_eq!(hello(&client, address, None).await.unwrap(), "HTTP/2.0");
    drop(client);
    served.await.unwrap();
}
