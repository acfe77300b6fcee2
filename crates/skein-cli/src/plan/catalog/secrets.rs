//! `secret` and `vault` as inquiries; values are read when they are about to be sent, not before.

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::{CatalogTask, Change, Collection, NamedEntry, UnresolvedCatalogRequest};
use crate::api_client::ApiCall;
use crate::arguments::{KeyRemovalArguments, SecretCommand, SecretTypeName, ValueArguments, VaultCommand};
use crate::definition::Source;
use crate::failure::Failure;
use crate::plan::ApiRequest;
use crate::plan::api_request::{portion, word};
use crate::secret_value::{SecretType, ValueSource};
use crate::views::catalog as views;

impl CatalogTask {
    pub(crate) fn of_secret(command: SecretCommand) -> Result<Self, Failure> {
        let secret = |text: &str| NamedEntry::new(Collection::Secrets, text);
        let sheet = &views::SECRET;
        Ok(match command {
            SecretCommand::List(most) => {
                let inquiry = UnresolvedCatalogRequest::new(Method::GET, Collection::Secrets);
                Self::List { inquiry, list: &views::SECRETS, portion: portion(most) }
            }
            SecretCommand::Show(named) => {
                Self::Show { inquiry: UnresolvedCatalogRequest::about(Method::GET, secret(&named.secret)?), sheet }
            }
            SecretCommand::Create { name, secret_type, description, value } => {
                let fields = json!({ "name": name, "type": word(&secret_type) });
                let Value::Object(mut fields) = fields else { unreachable!("it was written as an object") };
                fields.extend(description.map(|text| ("description".to_owned(), text.into())));
                Self::KeepSecret { fields, secret_type: secret_type.into(), value: value.into() }
            }
            SecretCommand::Rotate { secret: named, value } => {
                Self::RotateSecret { secret: secret(&named.secret)?, value: value.into() }
            }
            SecretCommand::Rename { secret: named, name, description } => {
                let name = name.map(|name| ("name".to_owned(), Value::from(name)));
                let description = description.map(|text| ("description".to_owned(), Value::from(text)));
                let fields: Map<String, Value> = name.into_iter().chain(description).collect();
                let thing = secret(&named.secret)?;
                Self::Change(Change { thing, definition: None, fields, references: Vec::new() })
            }
            SecretCommand::Delete(named) => {
                Self::Show { inquiry: UnresolvedCatalogRequest::about(Method::DELETE, secret(&named.secret)?), sheet }
            }
        })
    }
}

impl ApiRequest {
    /// A request to the API, or a removal, which is done on the server's machine.
    pub(crate) fn of_vault(command: &VaultCommand) -> Result<Self, &KeyRemovalArguments> {
        match command {
            VaultCommand::Show => Ok(Self::Show { ask: ApiCall::get("/vault"), sheet: &views::VAULT }),
            VaultCommand::Rotate => Ok(Self::Catalog(CatalogTask::RotateVault)),
            VaultCommand::RemoveKeys(removal) => Err(removal),
        }
    }
}

impl From<SecretTypeName> for SecretType {
    fn from(name: SecretTypeName) -> Self {
        match name {
            SecretTypeName::ApiKey => Self::ApiKey,
            SecretTypeName::OauthToken => Self::OauthToken,
            SecretTypeName::Password => Self::Password,
            SecretTypeName::Certificate => Self::Certificate,
        }
    }
}

impl From<ValueArguments> for ValueSource {
    fn from(arguments: ValueArguments) -> Self {
        let ValueArguments { from_file, username, certificate, private_key, ca } = arguments;
        match (from_file, certificate.zip(private_key)) {
            (_, Some((certificate, private_key))) => Self::Pem { certificate, private_key, ca },
            (Some(file), None) => Self::Named { from: Source::named(file), username },
            (None, None) => Self::Input { username },
        }
    }
}
