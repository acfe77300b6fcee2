//! Asking a token endpoint for a new token (RFC 6749), as values: what to send, and what the answer means.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::basic;
use super::value::TokenGrant;
use crate::http::{CallFault, HttpCall, Limits, Retry};

const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(20),
    idle: Duration::from_secs(10),
    total: Duration::from_secs(30),
    answer_bytes_max: 64 << 10,
};

/// A token that is to be exchanged for a new one.
pub(crate) struct Renewal(pub(super) TokenGrant);

/// How the client says who it is. Some endpoints know one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientProof {
    Basic,
    Body,
}

#[derive(Deserialize, Zeroize, ZeroizeOnDrop)]
struct TokenResponse {
    access_token: String,
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

impl Renewal {
    /// The same for everybody who wants to exchange the same token.
    pub(crate) fn key(&self) -> [u8; 32] {
        Sha256::digest(self.0.to_bytes().as_slice()).into()
    }

    pub(crate) fn proofs(&self) -> &'static [ClientProof] {
        match self.0.client_secret {
            Some(_) => &[ClientProof::Basic, ClientProof::Body],
            None => &[ClientProof::Body],
        }
    }

    pub(crate) fn request(&self, proof: ClientProof) -> Result<HttpCall, CallFault> {
        let TokenGrant { refresh_token, token_url, client_id, client_secret, scope, .. } = &self.0;
        let mut call = HttpCall::new(Method::POST, token_url.as_deref().unwrap_or_default())?;
        let client_id = client_id.as_deref().unwrap_or_default();
        let mut pairs = match refresh_token {
            Some(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
            None => vec![("grant_type", "client_credentials")],
        };
        pairs.extend(scope.as_deref().map(|scope| ("scope", scope)));
        match (proof, client_secret) {
            (ClientProof::Basic, Some(secret)) => {
                let proof = basic(&form_encoded(client_id), &form_encoded(secret));
                let proof = HeaderValue::from_str(&proof).map_err(|error| CallFault::Request(error.to_string()))?;
                call.headers.insert(header::AUTHORIZATION, proof);
            }
            (ClientProof::Body, Some(secret)) => pairs.extend([("client_id", client_id), ("client_secret", secret)]),
            (_, None) => pairs.push(("client_id", client_id)),
        }
        let pairs: Vec<String> =
            pairs.into_iter().map(|(name, value)| format!("{name}={}", form_encoded(value).as_str())).collect();
        call.body = Bytes::from(Zeroizing::new(pairs).join("&"));
        call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        call.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        Ok(HttpCall { limits: LIMITS, retry: Retry::NEVER, ..call })
    }

    /// The new token, or why there is none in words that hold nothing of the old one.
    pub(crate) fn read(&self, status: StatusCode, body: &[u8]) -> Result<TokenGrant, String> {
        if let (true, Ok(granted)) = (status.is_success(), serde_json::from_slice::<TokenResponse>(body)) {
            let mut token = self.0.clone();
            token.access_token.clone_from(&granted.access_token);
            if granted.refresh_token.is_some() {
                token.refresh_token.clone_from(&granted.refresh_token);
            }
            return Ok(token);
        }
        let is_code = |code: &String| code.len() <= 40 && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let code = serde_json::from_slice::<TokenRefusal>(body).ok().map(|refused| refused.error).filter(is_code);
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        Err(format!(
            "the token has ended and its endpoint gave no new one: status {}{code}; sign in there again",
            status.as_u16()
        ))
    }
}

fn form_encoded(text: &str) -> Zeroizing<String> {
    let mut encoded = Zeroizing::new(String::with_capacity(text.len()));
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => encoded.push(char::from(byte)),
            _ => encoded.extend(format!("%{byte:02X}").chars()),
        }
    }
    encoded
}
