//! Signed tokens (JWT) of an issuer that the installation trusts: who is meant, and what they may do.
//!
//! A token counts if it is signed by a key the issuer publishes now, with an algorithm that needs a private key, for this
//! installation, at this time. Whether the user exists is not known here. Start at [`Tokens::check`].

mod issuer_keys;
mod signatures;

use std::collections::HashSet;
use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use skein_core::account::Scope;
use skein_core::{Millis, UserId};

use self::issuer_keys::{IssuerKeys, RequestedKey};
use crate::http::limits::{TOKEN_BYTES_MAX, TOKEN_LEEWAY_SECONDS};

/// Whose tokens are accepted.
#[derive(Debug, Clone)]
pub struct TokenOptions {
    /// Who issues them: the `iss` they have to carry.
    pub issuer: String,
    /// Whom they are for: the `aud` they have to carry.
    pub audience: String,
    /// Where the issuer publishes its keys; encrypted, unless it is on this machine.
    pub jwks_url: String,
}

/// What cannot be asked for keys.
#[derive(Debug, thiserror::Error)]
pub enum BadTokenOptions {
    #[error("{0:?} is no address of keys; give one that begins with https://")]
    Address(String),
    #[error("{0} would fetch keys without encryption; only a server on this machine may do that")]
    Unencrypted(String),
    #[error("the client that fetches keys cannot be made")]
    Client(#[source] reqwest::Error),
}

/// What a good token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    pub subject: UserId,
    pub scope: Scope,
    /// When it runs out, leeway included.
    pub until: Millis,
}

/// Why a token does not count. All but [`Self::KeysUnavailable`] are the client's to mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    #[error("this is no token")]
    Malformed,
    #[error("tokens have to be signed with RS256, ES256 or EdDSA")]
    Algorithm,
    #[error("the token is signed with a key that its issuer does not publish")]
    UnknownKey,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the token is from another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has expired; get a new one")]
    Expired,
    #[error("the token is not valid yet; check the clocks")]
    NotYetValid,
    #[error("the subject of the token is not a user id")]
    Subject,
    #[error("the scope of the token has none of read, write and admin")]
    Scope,
    #[error("the issuer's keys cannot be fetched now; try again")]
    KeysUnavailable,
}

/// Checks tokens of one issuer. Keeps its keys, and fetches them again when they grow old or one is missing.
#[derive(Debug)]
pub struct Tokens {
    issuer: String,
    audience: String,
    keys: Arc<IssuerKeys>,
}

impl Tokens {
    /// Fetches nothing yet: an issuer that is down does not keep the server from starting.
    pub fn new(options: TokenOptions) -> Result<Self, BadTokenOptions> {
        signatures::install();
        let TokenOptions { issuer, audience, jwks_url } = options;
        Ok(Self { issuer, audience, keys: Arc::new(IssuerKeys::new(&jwks_url)?) })
    }

    /// What the token says, if it counts at `now`.
    pub async fn check(&self, text: &str, now: Millis) -> Result<Claims, BadToken> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(BadToken::Malformed);
        }
        let header = decode_header(text).map_err(|_| BadToken::Malformed)?;
        if !signatures::ALLOWED.contains(&header.alg) {
            return Err(BadToken::Algorithm);
        }
        // An extension that has to be understood, and is not.
        if header.crit.is_some() {
            return Err(BadToken::Malformed);
        }
        let wanted = RequestedKey { id: header.kid.as_deref(), algorithm: header.alg };
        let key = self.keys.find(wanted, now).await?;
        let token =
            decode::<RawClaims>(text, &key, &signature_alone(header.alg)).map_err(|error| match error.kind() {
                ErrorKind::InvalidSignature => BadToken::Signature,
                ErrorKind::InvalidAlgorithm => BadToken::Algorithm,
                _ => BadToken::Malformed,
            })?;
        self.judge(&token.claims, now)
    }

    fn judge(&self, written: &RawClaims, now: Millis) -> Result<Claims, BadToken> {
        let now = now.0.div_euclid(1_000);
        let begins = [written.nbf, written.iat].into_iter().flatten().max().unwrap_or(i64::MIN);
        if written.iss != self.issuer {
            Err(BadToken::Issuer)
        } else if !written.aud.names(&self.audience) {
            Err(BadToken::Audience)
        } else if written.exp.saturating_add(TOKEN_LEEWAY_SECONDS) <= now {
            Err(BadToken::Expired)
        } else if begins.saturating_sub(TOKEN_LEEWAY_SECONDS) > now {
            Err(BadToken::NotYetValid)
        } else {
            let subject = written.sub.as_deref().and_then(user_id).ok_or(BadToken::Subject)?;
            let scope = written.scope.as_deref().and_then(highest_scope).ok_or(BadToken::Scope)?;
            let until = Millis(written.exp.saturating_add(TOKEN_LEEWAY_SECONDS).saturating_mul(1_000));
            Ok(Claims { subject, scope, until })
        }
    }
}

/// Claims are judged here and not by the library, because time is an argument.
fn signature_alone(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims = HashSet::new();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

/// The claims as they are written; times in whole seconds.
#[derive(Deserialize)]
struct RawClaims {
    iss: String,
    aud: Audience,
    exp: i64,
    nbf: Option<i64>,
    iat: Option<i64>,
    sub: Option<String>,
    scope: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    fn names(&self, audience: &str) -> bool {
        match self {
            Self::One(one) => one == audience,
            Self::Many(many) => many.iter().any(|one| one == audience),
        }
    }
}

/// A user id as we write it, or the bare bits as issuers do. The system itself signs in nowhere.
fn user_id(subject: &str) -> Option<UserId> {
    let user = subject.parse().or_else(|_| UserId::from_bare(subject)).ok();
    user.filter(|user| *user != UserId::SYSTEM)
}

fn highest_scope(scopes: &str) -> Option<Scope> {
    let known = scopes.split(' ').filter_map(|scope| match scope {
        "read" => Some(Scope::Read),
        "write" => Some(Scope::Write),
        "admin" => Some(Scope::Admin),
        _ => None,
    });
    known.max()
}
