//! An issuer of tokens on this machine: keys of every kind, and an endpoint that publishes them, or misbehaves.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{hmac, signature};
use serde_json::{Value, json};
use skein_server::{TokenOptions, Tokens};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub(crate) const ISSUER: &str = "https://issuer.example";
pub(crate) const AUDIENCE: &str = "skein";

pub(crate) enum PrivateKey {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl PrivateKey {
    /// For tests alone; the file protects nothing.
    pub(crate) fn rsa() -> Self {
        Self::Rsa(Box::new(RsaKeyPair::from_der(include_bytes!("test_rsa_key.der")).unwrap()))
    }

    pub(crate) fn ec() -> Self {
        let (curve, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(curve, document.as_ref(), &random).unwrap())
    }

    pub(crate) fn ed() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
        }
    }

    /// The public half as an issuer publishes it.
    pub(crate) fn published(&self, id: &str) -> Value {
        match self {
            Self::Rsa(key) => {
                let public = signature::RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": encoded(public.n), "e": encoded(public.e) })
            }
            Self::Ec(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "x": encoded(x), "y": encoded(y) })
            }
            Self::Ed(key) => json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(key.public_key()) }),
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::Ed(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with this key's own algorithm.
    pub(crate) fn token(&self, id: &str, claims: &Value) -> String {
        token(&json!({ "typ": "JWT", "alg": self.algorithm(), "kid": id }), claims, |message| self.sign(message))
    }
}

pub(crate) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", encoded(signature))
}

pub(crate) fn hmac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// What the endpoint does when it is asked.
#[derive(Clone)]
pub(crate) enum Conduct {
    Publish(Vec<Value>),
    Fail,
    Redirect(String),
    Send(String),
    /// Says nothing until it is told to, then publishes.
    Wait(Arc<Notify>, Vec<Value>),
}

struct Endpoint {
    conduct: Conduct,
    asked: usize,
}

/// The endpoint of an issuer. Ends with the test.
pub(crate) struct Issuer {
    endpoint: Arc<Mutex<Endpoint>>,
    pub(crate) url: String,
    serving: JoinHandle<()>,
}

impl Issuer {
    pub(crate) async fn start(conduct: Conduct) -> Self {
        let endpoint = Arc::new(Mutex::new(Endpoint { conduct, asked: 0 }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let router = Router::new().route("/keys", get(answer)).with_state(Arc::clone(&endpoint));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { endpoint, url, serving }
    }

    pub(crate) async fn publishing(keys: Vec<Value>) -> (Self, Tokens) {
        let issuer = Self::start(Conduct::Publish(keys)).await;
        let tokens = issuer.tokens();
        (issuer, tokens)
    }

    pub(crate) fn tokens(&self) -> Tokens {
        let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
        Tokens::new(TokenOptions { issuer, audience, jwks_url: self.url.clone() }).unwrap()
    }

    pub(crate) fn conduct(&self, conduct: Conduct) {
        self.endpoint.lock().unwrap().conduct = conduct;
    }

    /// How often it was asked for keys.
    pub(crate) fn asked(&self) -> usize {
        self.endpoint.lock().unwrap().asked
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State(endpoint): State<Arc<Mutex<Endpoint>>>) -> Response {
    let conduct = {
        let mut endpoint = endpoint.lock().unwrap();
        endpoint.asked += 1;
        endpoint.conduct.clone()
    };
    match conduct {
        Conduct::Wait(told, keys) => {
            told.notified().await;
            axum::Json(json!({ "keys": keys })).into_response()
        }
        Conduct::Publish(keys) => axum::Json(json!({ "keys": keys })).into_response(),
        Conduct::Fail => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Conduct::Redirect(to) => Redirect::temporary(&to).into_response(),
        Conduct::Send(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
    }
}
