//! The keys an issuer publishes: fetched when needed, kept for a while, and for longer when the issuer is silent.

use std::sync::{Arc, Mutex, PoisonError};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;
use skein_core::Millis;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use super::{BadToken, BadTokenOptions};
use crate::http::limits::{
    JWKS_BYTES_MAX, JWKS_FRESH_MS, JWKS_RETRY_MS, JWKS_TIME_MAX, JWKS_USABLE_MS, JWKS_WAITING_MAX,
};

/// The key a token says it was signed with.
#[derive(Clone, Copy)]
pub(super) struct RequestedKey<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) algorithm: Algorithm,
}

#[derive(Debug)]
pub(super) struct IssuerKeys {
    address: Url,
    client: Client,
    known: Mutex<CachedKeys>,
    /// Held by whoever fetches, so that the issuer is asked once and not by everybody.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Places for those who wait because of a key that is not known.
    waiting: Semaphore,
}

#[derive(Debug, Clone, Default)]
struct CachedKeys {
    keys: Arc<[Jwk]>,
    fetched_at: Option<Millis>,
    tried_at: Option<Millis>,
    is_fetching: bool,
}

impl IssuerKeys {
    pub(super) fn new(address: &str) -> Result<Self, BadTokenOptions> {
        let bad_address = || BadTokenOptions::Address(address.to_owned());
        let address = Url::parse(address).map_err(|_| bad_address())?;
        let is_local = is_this_machine(&address);
        match address.scheme() {
            "https" => {}
            "http" if is_local => {}
            "http" => return Err(BadTokenOptions::Unencrypted(address.into())),
            _ => return Err(bad_address()),
        }
        // Fails only when there is one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().redirect(Policy::none()).timeout(JWKS_TIME_MAX);
        let client = if is_local { client.no_proxy() } else { client };
        let client = client.build().map_err(BadTokenOptions::Client)?;
        let waiting = Semaphore::new(JWKS_WAITING_MAX);
        Ok(Self { address, client, known: Mutex::default(), turn: Arc::default(), waiting })
    }

    pub(super) async fn find(self: &Arc<Self>, wanted: RequestedKey<'_>, now: Millis) -> Result<DecodingKey, BadToken> {
        let known = self.known();
        match known.key(wanted) {
            Some(key) if known.is_younger_than(JWKS_FRESH_MS, now) => return Ok(key),
            // One request waits for the renewal; the others go on with what is known.
            Some(_) if known.is_younger_than(JWKS_USABLE_MS, now) => {
                if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
                    self.renewed(turn, now).await;
                }
            }
            None if known.is_younger_than(JWKS_USABLE_MS, now) => {
                // The issuer has just said which keys there are.
                if known.was_just_tried(now) && !known.is_fetching {
                    return Err(BadToken::UnknownKey);
                }
                // A token may name any key: some wait, so that new keys turn nobody away, and not everybody can.
                let _place = self.waiting.try_acquire().map_err(|_| BadToken::KeysUnavailable)?;
                self.renewed(Arc::clone(&self.turn).lock_owned().await, now).await;
            }
            _ => self.renewed(Arc::clone(&self.turn).lock_owned().await, now).await,
        }
        let known = self.known();
        if !known.is_younger_than(JWKS_USABLE_MS, now) {
            return Err(BadToken::KeysUnavailable);
        }
        known.key(wanted).ok_or(BadToken::UnknownKey)
    }

    fn known(&self) -> CachedKeys {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Renews in a task of its own, so that a client that leaves does not keep the others from having keys.
    async fn renewed(self: &Arc<Self>, turn: OwnedMutexGuard<()>, now: Millis) {
        let keys = Arc::clone(self);
        let renewing = tokio::spawn(async move {
            keys.renew(now).await;
            drop(turn);
        });
        if let Err(error) = renewing.await {
            tracing::error!(%error, "fetching the issuer's keys ended early");
        }
    }

    /// Fetches, unless that was tried a moment ago.
    async fn renew(&self, now: Millis) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.was_just_tried(now) {
                return;
            }
            (known.tried_at, known.is_fetching) = (Some(now), true);
        }
        let fetched = self.fetch().await;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_fetching = false;
        match fetched {
            Ok(keys) => (known.keys, known.fetched_at) = (keys, Some(now)),
            Err(cause) => tracing::warn!(cause, "could not fetch the keys of the tokens' issuer"),
        }
    }

    async fn fetch(&self) -> Result<Arc<[Jwk]>, String> {
        let told = |error: reqwest::Error| error.without_url().to_string();
        let mut response = self.client.get(self.address.clone()).send().await.map_err(told)?;
        if response.status() != StatusCode::OK {
            return Err(format!("it answered {}", response.status()));
        }
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(told)? {
            text.extend_from_slice(&chunk);
            if text.len() > JWKS_BYTES_MAX {
                return Err(format!("it sent more than {JWKS_BYTES_MAX} bytes"));
            }
        }
        read(&text)
    }
}

impl CachedKeys {
    fn is_younger_than(&self, age_ms: i64, now: Millis) -> bool {
        self.fetched_at.is_some_and(|fetched_at| is_within(fetched_at, age_ms, now))
    }

    fn was_just_tried(&self, now: Millis) -> bool {
        self.tried_at.is_some_and(|tried_at| is_within(tried_at, JWKS_RETRY_MS, now))
    }

    /// The key of that id; without an id, the only key that could be meant.
    fn key(&self, wanted: RequestedKey<'_>) -> Option<DecodingKey> {
        let is_named = |jwk: &&Jwk| wanted.id.is_none() || jwk.common.key_id.as_deref() == wanted.id;
        let mut fitting = self.keys.iter().filter(is_named).filter(|jwk| fits(jwk, wanted.algorithm));
        let found = fitting.next()?;
        if wanted.id.is_none() && fitting.next().is_some() {
            return None;
        }
        DecodingKey::from_jwk(found).ok()
    }
}

/// Whether `now` lies in the time after `moment`; no for a clock that was set back.
fn is_within(moment: Millis, milliseconds: i64, now: Millis) -> bool {
    (0..milliseconds).contains(&now.0.saturating_sub(moment.0))
}

/// A key that is not understood is somebody else's; the others still count.
fn read(text: &[u8]) -> Result<Arc<[Jwk]>, String> {
    #[derive(Deserialize)]
    struct KeySet {
        keys: Vec<Value>,
    }
    let set: KeySet = serde_json::from_slice(text).map_err(|_| "it sent no key set".to_owned())?;
    Ok(set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect())
}

/// Whether the key is for verifying with this algorithm, by everything it says of itself.
fn fits(jwk: &Jwk, algorithm: Algorithm) -> bool {
    let (named, is_kind) = match (algorithm, &jwk.algorithm) {
        (Algorithm::RS256, AlgorithmParameters::RSA(_)) => (KeyAlgorithm::RS256, true),
        (Algorithm::ES256, AlgorithmParameters::EllipticCurve(key)) => {
            (KeyAlgorithm::ES256, key.curve == EllipticCurve::P256)
        }
        (Algorithm::EdDSA, AlgorithmParameters::OctetKeyPair(key)) => {
            (KeyAlgorithm::EdDSA, key.curve == EllipticCurve::Ed25519)
        }
        _ => return false,
    };
    let common = &jwk.common;
    is_kind
        && common.key_algorithm.is_none_or(|algorithm| algorithm == named)
        && common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|operations| operations.contains(&KeyOperations::Verify))
}

fn is_this_machine(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|host| host.is_loopback())
}
