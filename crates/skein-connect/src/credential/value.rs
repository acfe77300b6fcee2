//! The form each type of secret must have (BR-SECRET-003), and what is read out of it.

use serde::{Deserialize, Serialize};
use skein_core::RuleViolation;
use skein_core::catalog::secret::SecretType;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::identity::Identity;
use super::scrub::SECRET_BYTES_MIN;

const VALUE_BYTES_MAX: usize = 64 << 10;
const TEXT_BYTES_MAX: usize = 8 << 10;

/// An opened value that has the form of its type.
pub(super) enum Value {
    ApiKey(Zeroizing<String>),
    Token(TokenGrant),
    Password(Login),
    Certificate(Pem, Identity),
}

#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TokenGrant {
    pub(super) access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}

#[derive(Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    pub(super) username: String,
    pub(super) password: String,
}

#[derive(Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Pem {
    pub(super) certificate: String,
    pub(super) private_key: String,
    pub(super) ca: Option<String>,
}

impl Value {
    pub(super) fn parse(secret_type: SecretType, bytes: &[u8]) -> Result<Self, RuleViolation> {
        if bytes.len() > VALUE_BYTES_MAX {
            return Err(refused(secret_type, "it is longer than 64 KiB"));
        }
        match secret_type {
            SecretType::ApiKey => api_key(bytes),
            SecretType::OauthToken => token(bytes),
            SecretType::Password => login(bytes),
            SecretType::Certificate => certificate(bytes),
        }
    }
}

impl TokenGrant {
    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(serde_json::to_vec(self).expect("texts are JSON"))
    }
}

fn api_key(bytes: &[u8]) -> Result<Value, RuleViolation> {
    let refuse = |problem: &str| Err(refused(SecretType::ApiKey, problem));
    match std::str::from_utf8(bytes) {
        Ok(key) if key.trim() != key => refuse("there is space around it"),
        Ok(key) if is_sent_in_a_line(key) => Ok(Value::ApiKey(Zeroizing::new(key.to_owned()))),
        _ => refuse("it is not one line of 4 to 8192 printable ASCII characters"),
    }
}

fn token(bytes: &[u8]) -> Result<Value, RuleViolation> {
    let refuse = |problem: &str| Err(refused(SecretType::OauthToken, problem));
    let Ok(token) = serde_json::from_slice::<TokenGrant>(bytes) else {
        return refuse("it is not a JSON object with accessToken and its companions");
    };
    let secrets = [Some(&token.access_token), token.refresh_token.as_ref(), token.client_secret.as_ref()];
    if !secrets.into_iter().flatten().all(|text| is_sent_in_a_line(text)) {
        return refuse("a token or client secret is not one line of at least 4 printable ASCII characters");
    }
    let can_be_renewed = token.refresh_token.is_some() || token.client_secret.is_some();
    if can_be_renewed && (token.client_id.is_none() || token.token_url.is_none()) {
        return refuse("tokenUrl and clientId are missing, which renewing the token needs");
    }
    let is_address = |url: &String| crate::http::HttpCall::new(http::Method::POST, url).is_ok();
    if !token.token_url.iter().all(is_address) {
        return refuse("tokenUrl is not an http or https address");
    }
    Ok(Value::Token(token))
}

fn login(bytes: &[u8]) -> Result<Value, RuleViolation> {
    let refuse = |problem: &str| Err(refused(SecretType::Password, problem));
    let Ok(login) = serde_json::from_slice::<Login>(bytes) else {
        return refuse("it is not a JSON object with username and password");
    };
    let is_plain = |text: &str| text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control);
    if !is_plain(&login.username) || login.username.contains(':') {
        return refuse("the user name has a colon or control characters");
    }
    if !is_plain(&login.password) || login.password.len() < SECRET_BYTES_MIN {
        return refuse("the password is shorter than 4 bytes or has control characters");
    }
    Ok(Value::Password(login))
}

fn certificate(bytes: &[u8]) -> Result<Value, RuleViolation> {
    let refuse = |problem: &str| refused(SecretType::Certificate, problem);
    let Ok(pem) = serde_json::from_slice::<Pem>(bytes) else {
        return Err(refuse("it is not a JSON object with certificate and privateKey, and perhaps ca"));
    };
    let identity = Identity::from_pem(&pem).map_err(|problem| refuse(&problem))?;
    Ok(Value::Certificate(pem, identity))
}

fn is_sent_in_a_line(text: &str) -> bool {
    (SECRET_BYTES_MIN..=TEXT_BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// Names the form that is wanted and never what was given.
fn refused(secret_type: SecretType, problem: &str) -> RuleViolation {
    let remedy = match secret_type {
        SecretType::ApiKey => "give the key alone, as the service shows it",
        SecretType::OauthToken => {
            "give {\"accessToken\", \"refreshToken\"?, \"tokenUrl\"?, \"clientId\"?, \"clientSecret\"?, \"scope\"?}"
        }
        SecretType::Password => "give {\"username\", \"password\"}",
        SecretType::Certificate => "give {\"certificate\", \"privateKey\", \"ca\"?}, each as PEM text",
    };
    let problem = format!("the value does not fit the type {}: {problem}", secret_type.as_str());
    RuleViolation::new("BR-SECRET-003", problem, remedy)
}
