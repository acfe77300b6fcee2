//! The value of a secret on its way to the server: from a terminal, standard input or a file, never from an argument.
//!
//! It is kept as the JSON text that is sent, in memory that is overwritten when it is let go, and cannot be shown.
//! What a terminal is lives in [`crate::prompt`]. Start at [`read`].

use std::fmt;
use std::fs::File;
use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, anyhow};
use axum::body::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::definition::Source;
use crate::failure::Failure;
use crate::prompt::{Prompt, Terminal};

/// A chain of certificates with its key fits with room to spare.
pub(crate) const VALUE_BYTES_MAX: usize = 64 << 10;

/// What a secret is, which says what its value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretType {
    ApiKey,
    OauthToken,
    Password,
    Certificate,
}

impl SecretType {
    /// As the API spells it.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "api_key" => Self::ApiKey,
            "oauth_token" => Self::OauthToken,
            "password" => Self::Password,
            "certificate" => Self::Certificate,
            _ => return None,
        })
    }
}

/// Where a value comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ValueSource {
    /// The terminal, or standard input when that is none.
    Input {
        username: Option<String>,
    },
    Named {
        from: Source,
        username: Option<String>,
    },
    Pem {
        certificate: PathBuf,
        private_key: PathBuf,
        ca: Option<PathBuf>,
    },
}

/// A body with a secret in it; overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretBody(Zeroizing<Vec<u8>>);

impl SecretBody {
    /// The object of `fields`, with the value as one more field.
    pub(crate) fn new(fields: &Map<String, Value>, value: &SecretValue) -> Self {
        let others = Value::from(fields.clone()).to_string();
        let others = others.strip_suffix('}').expect("an object ends with a brace");
        let comma = if fields.is_empty() { "" } else { "," };
        let parts = [others, comma, "\"value\":", value.0.as_str(), "}"];
        let mut body = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
        for part in parts {
            body.extend_from_slice(part.as_bytes());
        }
        Self(body)
    }

    /// For sending; these bytes are overwritten as well when they are let go.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::from_owner(self.0.clone())
    }
}

impl fmt::Debug for SecretBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a body with a secret")
    }
}

/// A value as JSON.
pub(crate) struct SecretValue(Zeroizing<String>);

impl SecretValue {
    fn of(value: &impl Serialize, parts_bytes: usize) -> Self {
        // Escaping makes at most six bytes of one; no copy is left behind by growing.
        let mut text = Vec::with_capacity(6 * parts_bytes + 256);
        serde_json::to_writer(&mut text, value).expect("texts can be written as JSON");
        Self(Zeroizing::new(String::from_utf8(text).expect("JSON is UTF-8")))
    }
}

/// Reads a value, asking for it where somebody can be asked.
pub(crate) fn read(secret_type: SecretType, source: &ValueSource) -> Result<SecretValue, Failure> {
    match source {
        ValueSource::Pem { certificate, private_key, ca } => {
            if secret_type != SecretType::Certificate {
                return Err(not_for_this("--certificate and --private-key are for secrets of type certificate"));
            }
            let ca = ca.as_deref().map(pem).transpose()?;
            Ok(certificate_value(&pem(certificate)?, &pem(private_key)?, ca.as_ref().map(|ca| ca.as_str())))
        }
        ValueSource::Input { username } if std::io::stdin().is_terminal() => {
            ask(secret_type, username.as_deref(), &mut Terminal)
        }
        ValueSource::Input { username } | ValueSource::Named { from: Source::Input, username } => {
            let text = bounded(std::io::stdin()).context("standard input").map_err(unfit)?;
            parse(secret_type, username.as_deref(), &text)
        }
        ValueSource::Named { from: Source::File(path), username } => {
            let text = file(path)?;
            parse(secret_type, username.as_deref(), &text)
        }
    }
}

fn not_for_this(what: &'static str) -> Failure {
    Failure::usage(anyhow!(what), "skein secret create --help says what each type takes")
}

const FIT: &str = "give a text of up to 64 KiB; skein secret create --help says what each type takes";

fn unfit(error: Error) -> Failure {
    Failure::usage(error, FIT)
}

fn file(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let opened = File::open(path).map_err(Error::new);
    opened.and_then(bounded).with_context(|| path.display().to_string()).map_err(unfit)
}

fn pem(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let text = file(path)?;
    if text.contains("-----BEGIN ") {
        return Ok(text);
    }
    let error = anyhow!("{} is not a PEM file", path.display());
    Err(Failure::usage(error, "give files that begin with -----BEGIN; openssl converts other formats"))
}

/// All of it, into memory that does not move while it grows.
fn bounded(from: impl Read) -> Result<Zeroizing<String>, Error> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(VALUE_BYTES_MAX + 2));
    from.take(VALUE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > VALUE_BYTES_MAX {
        return Err(anyhow!("the value is larger than {} KiB", VALUE_BYTES_MAX >> 10));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| anyhow!("the value is not UTF-8 text"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// What was read as a whole: a JSON object, or, where one part is enough, that part itself.
fn parse(secret_type: SecretType, username: Option<&str>, text: &str) -> Result<SecretValue, Failure> {
    if username.is_some() && secret_type != SecretType::Password {
        return Err(not_for_this("--username goes with secrets of type password"));
    }
    let is_object = text.trim_start().starts_with('{');
    match (secret_type, username) {
        (SecretType::ApiKey, _) => Ok(api_key_value(one_line(text)?)),
        (SecretType::Password, Some(username)) => Ok(password_value(username, one_line(text)?)),
        (SecretType::OauthToken, _) if !is_object => Ok(access_token_value(one_line(text)?)),
        _ => object(text),
    }
}

/// Without the line break that editors and `echo` put at its end.
fn one_line(text: &str) -> Result<&str, Failure> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() {
        return Err(Failure::usage(anyhow!("the value is empty"), FIT));
    }
    if line.contains(['\n', '\r', '\0']) {
        return Err(Failure::usage(anyhow!("the value has more than one line"), FIT));
    }
    Ok(line)
}

/// Taken as it is; which fields it needs is for the server to say. Nothing of it is repeated in an error.
fn object(text: &str) -> Result<SecretValue, Failure> {
    let text = text.trim();
    let is_object = text.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok();
    if !is_object {
        return Err(Failure::usage(anyhow!("the value is not a JSON object"), FIT));
    }
    Ok(SecretValue(Zeroizing::new(text.to_owned())))
}

fn ask(secret_type: SecretType, username: Option<&str>, person: &mut dyn Prompt) -> Result<SecretValue, Failure> {
    if username.is_some() && secret_type != SecretType::Password {
        return Err(not_for_this("--username goes with secrets of type password"));
    }
    match secret_type {
        SecretType::ApiKey => Ok(api_key_value(&asked_twice("API key", person)?)),
        SecretType::Password => {
            let username = username.map_or_else(|| person.line("User name: "), |name| Ok(name.to_owned()))?;
            if username.is_empty() {
                return Err(Failure::usage(anyhow!("the user name is empty"), FIT));
            }
            Ok(password_value(&username, &asked_twice("Password", person)?))
        }
        SecretType::OauthToken => ask_for_token(person),
        SecretType::Certificate => {
            Err(not_for_this("a certificate cannot be typed: give --certificate and --private-key"))
        }
    }
}

/// The one line that standard input or a file holds.
pub(crate) fn line_of(source: &Source) -> Result<Zeroizing<String>, Failure> {
    let text = match source {
        Source::Input => bounded(std::io::stdin()).context("standard input").map_err(unfit)?,
        Source::File(path) => file(path)?,
    };
    one_line(&text).map(|line| Zeroizing::new(line.to_owned()))
}

pub(crate) fn asked_twice(what: &str, person: &mut dyn Prompt) -> Result<Zeroizing<String>, Failure> {
    let value = person.hidden(&format!("{what}: "))?;
    one_line(&value)?;
    let again = person.hidden(&format!("{what} again: "))?;
    if value == again {
        return Ok(value);
    }
    Err(Failure::usage(anyhow!("the two are not the same; nothing was kept"), "type or paste it once more"))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OauthToken<'a> {
    access_token: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    refresh_token: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    token_url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    client_secret: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    scope: &'a str,
}

/// With a refresh token it can be renewed, for which more has to be known.
fn ask_for_token(person: &mut dyn Prompt) -> Result<SecretValue, Failure> {
    let access = asked_twice("Access token", person)?;
    let refresh = person.hidden("Refresh token (empty for none): ")?;
    if refresh.is_empty() {
        return Ok(access_token_value(&access));
    }
    let token_url = person.line("Token URL: ")?;
    let client_id = person.line("Client id: ")?;
    let client_secret = person.hidden("Client secret (empty for none): ")?;
    let scope = person.line("Scope (empty for none): ")?;
    let token = OauthToken {
        access_token: &access,
        refresh_token: &refresh,
        token_url: &token_url,
        client_id: &client_id,
        client_secret: &client_secret,
        scope: &scope,
    };
    let parts = [&*access, &*refresh, &token_url, &client_id, &*client_secret, &scope];
    Ok(SecretValue::of(&token, parts.iter().map(|part| part.len()).sum()))
}

fn api_key_value(key: &str) -> SecretValue {
    SecretValue::of(&key, key.len())
}

fn access_token_value(token: &str) -> SecretValue {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct AccessToken<'a> {
        access_token: &'a str,
    }
    SecretValue::of(&AccessToken { access_token: token }, token.len())
}

fn password_value(username: &str, password: &str) -> SecretValue {
    #[derive(Serialize)]
    struct Password<'a> {
        username: &'a str,
        password: &'a str,
    }
    SecretValue::of(&Password { username, password }, username.len() + password.len())
}

fn certificate_value(certificate: &str, private_key: &str, ca: Option<&str>) -> SecretValue {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Pem<'a> {
        certificate: &'a str,
        private_key: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        ca: Option<&'a str>,
    }
    let bytes = certificate.len() + private_key.len() + ca.map_or(0, str::len);
    SecretValue::of(&Pem { certificate, private_key, ca }, bytes)
}

#[cfg(test)]
mod tests;
