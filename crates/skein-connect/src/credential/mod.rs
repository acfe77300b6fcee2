//! Applies a secret to a call, by the type of the secret (BR-SECRET-003).
//!
//! An API key goes where the tool says, a token is a bearer and may be renewed on the way, a password is basic
//! authentication, a certificate is shown when the connection is made. A value has one of these forms or is
//! refused before anybody seals it. Start at [`Credential::check`] and [`Credential::new`].

mod identity;
mod renewal;
mod scrub;
mod value;

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, header};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use skein_core::RuleViolation;
use skein_core::catalog::secret::{SecretPlace, SecretType, SecretUse};
use zeroize::Zeroizing;

use crate::http::CallFault;
use value::{Login, Pem, Value};

pub(crate) use identity::Identity;
pub(crate) use renewal::Renewal;
pub use scrub::{MARK, ScrubStream, Scrubber};
pub(crate) use value::TokenGrant;

/// An opened secret, ready to be used for calls. It is cleared from memory when it is dropped.
pub struct Credential {
    form: Form,
    on_renewal: Option<OnRenewal>,
}

/// Keeps the new value of a renewed token.
pub type OnRenewal = Arc<dyn Fn(Zeroizing<Vec<u8>>) -> BoxFuture<'static, ()> + Send + Sync>;

enum Form {
    ApiKey { key: Zeroizing<String>, place: SecretPlace, name: String, prefix: String },
    Token(Mutex<Tokens>),
    Password(Login),
    Certificate { pem: Pem, identity: Arc<Identity> },
}

pub(crate) enum ShownSecret {
    Header(String, String),
    Query(String),
    Nowhere,
}

/// Oldest first; the last one is in use.
struct Tokens(Vec<TokenGrant>);

impl Credential {
    /// Whether a value has the form of its type. Asked before the value is sealed.
    pub fn check(secret_type: SecretType, value: &[u8]) -> Result<(), RuleViolation> {
        Value::parse(secret_type, value).map(|_| ())
    }

    /// From an opened value. Without a use, an API key is sent as `Authorization: Bearer …`.
    pub fn new(secret_type: SecretType, value: &[u8], key_use: Option<&SecretUse>) -> Result<Self, RuleViolation> {
        let form = match Value::parse(secret_type, value)? {
            Value::ApiKey(key) => {
                let SecretUse { place, name, prefix } = key_use.cloned().unwrap_or_else(bearer);
                Form::ApiKey { key, place, name, prefix: prefix.unwrap_or_default() }
            }
            Value::Token(token) => Form::Token(Mutex::new(Tokens(vec![token]))),
            Value::Password(login) => Form::Password(login),
            Value::Certificate(pem, identity) => Form::Certificate { pem, identity: Arc::new(identity) },
        };
        Ok(Self { form, on_renewal: None })
    }

    /// Hands the value to store over as soon as a new token is there, before it is used: a refresh token that was
    /// exchanged is worth nothing any more, and the call may still fail or be given up.
    ///
    /// Somebody else may have stored a newer value meanwhile; replace only the one this was made from.
    #[must_use]
    pub fn on_renewal(mut self, keep: OnRenewal) -> Self {
        self.on_renewal = Some(keep);
        self
    }

    /// Knows every spelling of everything secret in it. Ask after a call: a token may have been renewed on the way.
    pub fn scrubber(&self) -> Scrubber {
        match &self.form {
            Form::ApiKey { key, .. } => Scrubber::new([key.as_bytes()]),
            Form::Token(tokens) => {
                let tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
                let texts = tokens.0.iter().flat_map(|token| {
                    [Some(&token.access_token), token.refresh_token.as_ref(), token.client_secret.as_ref()]
                });
                Scrubber::new(texts.flatten().map(String::as_bytes))
            }
            Form::Password(login) => Scrubber::new([login.password.as_bytes()]),
            Form::Certificate { pem, .. } => key_scrubber(&pem.private_key),
        }
    }

    /// Where the secret stands in a request, told without the secret.
    pub(crate) fn shown(&self) -> ShownSecret {
        let header =
            |name: &str, prefix: &str| ShownSecret::Header(name.to_ascii_lowercase(), format!("{prefix}{MARK}"));
        match &self.form {
            Form::ApiKey { place: SecretPlace::Query, name, .. } => ShownSecret::Query(name.clone()),
            Form::ApiKey { place: SecretPlace::Header, name, prefix, .. } => header(name, prefix),
            Form::Token(_) => header("authorization", "Bearer "),
            Form::Password(_) => header("authorization", "Basic "),
            Form::Certificate { .. } => ShownSecret::Nowhere,
        }
    }

    /// The value to store in place of the one this was made from, if the token was renewed; also after a failed call.
    pub fn renewed(&self) -> Option<Zeroizing<Vec<u8>>> {
        let Form::Token(tokens) = &self.form else { return None };
        let tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.0.last().filter(|_| tokens.0.len() > 1).map(TokenGrant::to_bytes)
    }

    /// How often the token has been renewed, so that a caller sees whether the one it used is still in use.
    pub(crate) fn renewals(&self) -> usize {
        let Form::Token(tokens) = &self.form else { return 0 };
        tokens.lock().unwrap_or_else(PoisonError::into_inner).0.len() - 1
    }

    /// What to exchange for a new token, where there is anything to exchange.
    pub(crate) fn renewal(&self) -> Option<Renewal> {
        let Form::Token(tokens) = &self.form else { return None };
        let token = tokens.lock().unwrap_or_else(PoisonError::into_inner).0.last()?.clone();
        let can_be_renewed = token.refresh_token.is_some() || token.client_secret.is_some();
        can_be_renewed.then_some(Renewal(token))
    }

    pub(crate) fn keeper(&self) -> Option<OnRenewal> {
        self.on_renewal.clone()
    }

    pub(crate) fn use_renewed(&self, token: &TokenGrant) {
        let Form::Token(tokens) = &self.form else { return };
        let mut tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.0.last().is_none_or(|last| last.access_token != token.access_token) {
            tokens.0.push(token.clone());
        }
    }

    pub(crate) fn identity(&self) -> Option<Arc<Identity>> {
        match &self.form {
            Form::Certificate { identity, .. } => Some(Arc::clone(identity)),
            Form::ApiKey { .. } | Form::Token(_) | Form::Password(_) => None,
        }
    }

    /// Puts the secret into a request, in place of anything the caller had put there.
    pub(crate) fn apply(&self, request: &mut reqwest::Request) -> Result<(), CallFault> {
        match &self.form {
            Form::ApiKey { key, place: SecretPlace::Query, name, .. } => {
                set_parameter(request.url_mut(), name, key);
                Ok(())
            }
            Form::ApiKey { key, place: SecretPlace::Header, name, prefix } => {
                let name = HeaderName::try_from(name.as_str()).map_err(|_| unsendable())?;
                set_header(request, name, &Zeroizing::new(format!("{prefix}{}", key.as_str())))
            }
            Form::Token(tokens) => {
                let tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
                let token = tokens.0.last().map_or("", |token| &token.access_token);
                set_header(request, header::AUTHORIZATION, &Zeroizing::new(format!("Bearer {token}")))
            }
            Form::Password(Login { username, password }) => {
                set_header(request, header::AUTHORIZATION, &basic(username, password))
            }
            Form::Certificate { .. } => Ok(()),
        }
    }
}

fn bearer() -> SecretUse {
    let (name, prefix) = (header::AUTHORIZATION.to_string(), Some("Bearer ".to_owned()));
    SecretUse { place: SecretPlace::Header, name, prefix }
}

/// `Basic …`, as RFC 7617 writes it.
fn basic(user: &str, password: &str) -> Zeroizing<String> {
    let pair = Zeroizing::new(format!("{user}:{password}"));
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}

fn set_header(request: &mut reqwest::Request, name: HeaderName, value: &str) -> Result<(), CallFault> {
    let mut value = HeaderValue::from_str(value).map_err(|_| unsendable())?;
    value.set_sensitive(true);
    request.headers_mut().insert(name, value);
    Ok(())
}

fn set_parameter(url: &mut reqwest::Url, name: &str, value: &str) {
    let others: Vec<(String, String)> = url.query_pairs().filter(|(found, _)| found != name).map(owned).collect();
    if others.len() < url.query_pairs().count() {
        url.query_pairs_mut().clear().extend_pairs(others);
    }
    url.query_pairs_mut().append_pair(name, value);
}

fn owned((name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

fn unsendable() -> CallFault {
    CallFault::Request("the secret cannot be sent where the tool says".to_owned())
}

/// A private key in the forms in which it could come back: the PEM text, its body in one line, its bytes.
fn key_scrubber(pem: &str) -> Scrubber {
    let body: Zeroizing<String> = Zeroizing::new(pem.lines().filter(|line| !line.starts_with("-----")).collect());
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes());
    let bytes = key.as_ref().map(PrivateKeyDer::secret_der).unwrap_or_default();
    Scrubber::new([pem.trim().as_bytes(), body.as_bytes(), bytes])
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential(…)")
    }
}
