//! A credential by name: what kind it is and how it is used, never what it says.
//!
//! The value lives in the vault alone; here it is a number, [`Secret::value_version`], that grows when the value is
//! replaced. [`SecretUse`] says where an API key goes in a call; [`SecretBinding`] is one user's own secret for a tool
//! that somebody else shares (decision Z16).

use serde::{Deserialize, Serialize};

use crate::catalog::entry::{self, Description, Entry, FixedField, Name, OwnedEntry, refuse_fixed};
use crate::catalog::operation::rest::{FRAMING_HEADERS, is_header_name};
use crate::catalog::service::Protocol;
use crate::catalog::sharing;
use crate::catalog::tool::Tool;
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

/// Longest name of a header or query parameter that carries a key, and longest prefix before it, in bytes.
const PLACE_BYTES_MAX: usize = 100;

/// What kind of credential it is; the kind decides how it is used (BR-SECRET-003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretType {
    /// Sent in a header or a query parameter.
    ApiKey,
    /// Sent as a bearer token and refreshed when it has ended.
    OauthToken,
    /// Sent as basic authentication.
    Password,
    /// Shown when the connection is encrypted (mutual TLS).
    Certificate,
}

impl SecretType {
    pub const ALL: [Self; 4] = [Self::ApiKey, Self::OauthToken, Self::Password, Self::Certificate];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::OauthToken => "oauth_token",
            Self::Password => "password",
            Self::Certificate => "certificate",
        }
    }

    /// Whether a protocol has a place for it.
    pub fn fits(self, protocol: Protocol) -> bool {
        match self {
            Self::ApiKey => matches!(protocol, Protocol::Http | Protocol::Https | Protocol::Sse | Protocol::Stdio),
            Self::OauthToken => matches!(protocol, Protocol::Http | Protocol::Https | Protocol::Sse),
            Self::Password => protocol != Protocol::Stdio,
            Self::Certificate => matches!(protocol, Protocol::Https | Protocol::BoltS | Protocol::Sse),
        }
    }
}

/// A credential's description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub secret_type: SecretType,
    /// Which value the vault holds; 1 at first, one more with each rotation.
    pub value_version: u32,
}

impl Entry for Secret {
    const RECORD_TYPE: &'static str = "Secret";
}

/// What a client sends to make a secret; the value travels beside it, straight to the vault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretDraft {
    pub name: Name,
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub secret_type: SecretType,
    /// Kept, and without effect: a secret is its owner's alone (decision A13).
    #[serde(default)]
    pub shared: bool,
}

/// What a client sends to alter a secret; what is absent stays. A new value is a rotation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SecretChange {
    pub name: Option<Name>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    #[serde(rename = "type")]
    pub secret_type: FixedField,
    pub value_version: FixedField,
    pub encrypted_value: FixedField,
    pub owner_id: FixedField,
    pub user_id: FixedField,
}

impl Secret {
    pub fn create(draft: SecretDraft) -> Self {
        Self { name: draft.name, description: draft.description, secret_type: draft.secret_type, value_version: 1 }
    }

    pub fn change(&self, change: SecretChange) -> Result<Self, RuleViolation> {
        change.refuse_fixed()?;
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.description = change.description.unwrap_or(next.description);
        Ok(next)
    }

    /// The secret once the vault holds a new value in place of the old one (decision A14).
    #[must_use]
    pub fn rotate(&self) -> Self {
        Self { value_version: self.value_version + 1, ..self.clone() }
    }
}

impl SecretChange {
    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        let written = [("valueVersion", self.value_version), ("encryptedValue", self.encrypted_value)];
        refuse_fixed("BR-SECRET-001", &written, "rotate the secret with a new value")?;
        let owner = [("ownerId", self.owner_id), ("userId", self.user_id)];
        refuse_fixed("BR-SECRET-002A", &owner, "the other user makes a secret of their own")?;
        refuse_fixed("BR-SECRET-003", &[("type", self.secret_type)], "make another secret")
    }
}

/// Where in a call an API key goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretUse {
    #[serde(rename = "in")]
    pub place: SecretPlace,
    /// The header or query parameter: `X-Api-Key`, `key`.
    pub name: String,
    /// What stands before the key in a header: `Bearer `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretPlace {
    Header,
    Query,
}

impl SecretUse {
    fn check(&self) -> Result<(), RuleViolation> {
        let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-SECRET-003", problem, remedy));
        let fits = |text: &str| text.len() <= PLACE_BYTES_MAX && text.bytes().all(|b| (b' '..=b'~').contains(&b));
        let has_name = match self.place {
            SecretPlace::Header => is_header_name(&self.name) && !is_framing(&self.name),
            SecretPlace::Query => !self.name.is_empty(),
        };
        if !has_name || !fits(&self.name) {
            return refuse(format!("a key cannot be sent as {:?}", self.name), "name a header or a query parameter");
        }
        match (&self.prefix, self.place) {
            (Some(prefix), SecretPlace::Header) if fits(prefix) => Ok(()),
            (Some(_), _) => refuse("the prefix has no place".to_owned(), "use a printable prefix, in a header only"),
            (None, _) => Ok(()),
        }
    }
}

/// Whether the connection writes the header itself; a key in its place would break the call or send it elsewhere.
fn is_framing(name: &str) -> bool {
    FRAMING_HEADERS.iter().any(|framing| name.eq_ignore_ascii_case(framing))
}

/// BR-SECRET-003: the protocol has a place for a secret of this type, and only an API key is told where to go.
pub(crate) fn check_use(
    secret_type: SecretType,
    secret_use: Option<&SecretUse>,
    protocol: Protocol,
) -> Result<(), RuleViolation> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-SECRET-003", problem, remedy));
    if !secret_type.fits(protocol) {
        let problem = format!("{} has no place in {}", secret_type.as_str(), protocol.as_str());
        return refuse(problem, "bind a secret of a type that the service's protocol can carry");
    }
    let Some(secret_use) = secret_use else { return Ok(()) };
    if secret_type != SecretType::ApiKey || protocol == Protocol::Stdio {
        let problem = format!("secretUse is for an api_key sent over HTTP, not for {}", secret_type.as_str());
        return refuse(problem, "leave secretUse out; the type decides how the secret is used");
    }
    secret_use.check()
}

/// A user's own secret for a tool that another user shares; it is used, and pays, before the owner's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretBinding {
    pub tool_id: RecordId,
    pub secret_id: RecordId,
    /// What the tool did when the secret was bound. Its owner may change where it goes; the secret does not follow.
    pub definition_version: u32,
}

impl Entry for SecretBinding {
    const RECORD_TYPE: &'static str = "SecretBinding";
}

impl SecretBinding {
    /// Binds `user`'s secret to a tool of somebody else that `user` can see.
    pub fn create(
        user: UserId,
        tool: &OwnedEntry<Tool>,
        secret: &OwnedEntry<Secret>,
        protocol: Protocol,
    ) -> Result<Self, RuleViolation> {
        sharing::check_binding(user, secret)?;
        if tool.owner == user {
            let problem = "the tool is yours";
            return Err(RuleViolation::new("BR-SECRET-002B", problem, "set the tool's secretId"));
        }
        let secret_type = secret.entry.secret_type;
        let secret_use = tool.entry.secret_use.as_ref().filter(|_| secret_type == SecretType::ApiKey);
        check_use(secret_type, secret_use, protocol)?;
        Ok(Self { tool_id: tool.id, secret_id: secret.id, definition_version: tool.entry.definition_version })
    }

    /// Refuses a tool that does something else than when the secret was bound to it.
    pub fn check(&self, tool: &Tool) -> Result<(), RuleViolation> {
        if self.definition_version == tool.definition_version {
            return Ok(());
        }
        let problem = "the tool was changed by its owner since you bound your secret to it";
        Err(RuleViolation::new("BR-SECRET-002B", problem, "look at what it does now, then bind your secret again"))
    }
}
