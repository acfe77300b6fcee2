//! Plans commands that are one API request and a way to show its answer.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Error, anyhow};
use axum::http::Method;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use skein_core::{ItemId, KeyId, Millis, RecordId, RelationId, SessionId, UserId, document};

use crate::api_client::ApiCall;
use crate::arguments::{
    AmountArguments, AskingArguments, ExportArguments, GrantCommand, HistoryArguments, ImportArguments, ItemCommand,
    KeyCommand, RedactArguments, RelationCommand, SessionCommand, UserCommand,
};
use crate::failure::Failure;
use crate::passphrase::PassphraseSource;
use crate::plan::catalog::CatalogTask;
use crate::plan::flow::FlowTask;
use crate::plan::memory::MemoryTask;
use crate::plan::passphrase;
use crate::plan::tree::ConversationTask;
use crate::session::ListLimit;
use crate::views::{self, List, Sheet};

/// One errand, with nothing missing but what standard input may hold.
#[derive(Debug, PartialEq)]
pub(crate) enum ApiRequest {
    Show {
        ask: ApiCall,
        sheet: &'static Sheet,
    },
    List {
        ask: ApiCall,
        list: &'static List,
        amount: ListLimit,
        after: Option<String>,
    },
    /// All rows come with one answer, in this field.
    Rows {
        ask: ApiCall,
        field: &'static str,
        list: &'static List,
    },
    AddItem {
        item_type: String,
        content: Content,
        at: Option<Millis>,
    },
    ChangeUser {
        user: UserId,
        changes: Map<String, Value>,
    },
    Redact {
        item: ItemId,
        reason: String,
        is_sure: bool,
    },
    /// The bytes of an item, to standard output.
    Payload {
        ask: ApiCall,
    },
    Export {
        file: PathBuf,
        passphrase: Option<PassphraseSource>,
    },
    Import {
        file: PathBuf,
        passphrase: Option<PassphraseSource>,
    },
    Catalog(CatalogTask),
    Conversation(ConversationTask),
    Flow(FlowTask),
    Memory(MemoryTask),
}

/// What a new item says.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Words(String),
    Document(Map<String, Value>),
    WordsFromInput,
    DocumentFromInput,
}

impl ApiRequest {
    pub(super) fn of_user(command: UserCommand) -> Result<Self, Failure> {
        let sheet = &views::USER;
        Ok(match command {
            UserCommand::List(amount) => Self::list(ApiCall::get("/users"), &views::USERS, amount),
            UserCommand::Add { name, role } => {
                let ask = ApiCall::post("/users", json!({ "name": name, "role": word(&role) }));
                Self::Show { ask, sheet: &views::NEW_USER }
            }
            UserCommand::Link { id } => {
                let ask = ApiCall::post(format!("/users/{}/sign-in-links", user(&id)?), json!({}));
                Self::Show { ask, sheet: &views::LINK }
            }
            UserCommand::Show { id } => Self::Show { ask: ApiCall::get(format!("/users/{}", user(&id)?)), sheet },
            UserCommand::Change { id, name, role } => {
                let name = name.map(|name| ("name".to_owned(), Value::from(name)));
                let role = role.map(|role| ("role".to_owned(), Value::from(word(&role))));
                Self::ChangeUser { user: user(&id)?, changes: name.into_iter().chain(role).collect() }
            }
        })
    }

    pub(super) fn of_key(command: KeyCommand) -> Result<Self, Failure> {
        Ok(match command {
            KeyCommand::List(amount) => Self::list(ApiCall::get("/keys"), &views::KEYS, amount),
            KeyCommand::Create { name, scope, expires } => {
                let mut body = json!({ "name": name, "scope": word(&scope) });
                if let Some(expires) = expires {
                    body["expiresAt"] = json!(time(&expires)?);
                }
                Self::Show { ask: ApiCall::post("/keys", body), sheet: &views::NEW_KEY }
            }
            KeyCommand::Revoke { id } => {
                let id: KeyId = parse(&id, "give the id as skein key list shows it: key_…")?;
                Self::Show { ask: ApiCall::new(Method::DELETE, format!("/keys/{id}")), sheet: &views::KEY }
            }
        })
    }

    pub(super) fn of_session(command: SessionCommand) -> Result<Self, Failure> {
        Ok(match command {
            SessionCommand::List(amount) => Self::list(ApiCall::get("/account/sessions"), &views::SESSIONS, amount),
            SessionCommand::End { id } => {
                let id: SessionId = parse(&id, "give the id as skein session list shows it: session_…")?;
                let ask = ApiCall::new(Method::DELETE, format!("/account/sessions/{id}"));
                Self::Show { ask, sheet: &views::ENDED }
            }
        })
    }

    pub(super) fn of_grant(command: GrantCommand) -> Result<Self, Failure> {
        let sheet = &views::GRANT;
        Ok(match command {
            GrantCommand::List(amount) => Self::list(ApiCall::get("/grants"), &views::GRANTS, amount),
            GrantCommand::Create { owner, name, reason, until } => {
                let (owner, until) = (user(&owner)?, time(&until)?);
                let body = json!({ "ownerId": owner, "name": name, "reason": reason, "until": until });
                Self::Show { ask: ApiCall::post("/grants", body), sheet }
            }
            GrantCommand::End { id } => {
                let ask = ApiCall::new(Method::DELETE, format!("/grants/{}", item(&id)?));
                Self::Show { ask, sheet }
            }
        })
    }

    pub(super) fn of_item(command: ItemCommand) -> Result<Self, Failure> {
        let sheet = &views::ITEM;
        Ok(match command {
            ItemCommand::Add { text, data, item_type, at } => {
                let at = at.as_deref().map(time).transpose()?;
                Self::AddItem { item_type, content: Content::resolve(text, data)?, at }
            }
            ItemCommand::List { item_type, order, clock, system, amount } => {
                let ask = ApiCall::get("/items").with("type", item_type).with("includeSystem", system.then_some(true));
                let ask = ask.with("order", Some(word(&order))).with("clock", Some(word(&clock)));
                Self::list(ask, &views::ITEMS, amount)
            }
            ItemCommand::Show(named) => Self::Show { ask: ApiCall::get(format!("/items/{}", item(&named.id)?)), sheet },
            ItemCommand::Payload(named) => {
                Self::Payload { ask: ApiCall::get(format!("/items/{}/payload", item(&named.id)?)) }
            }
            ItemCommand::Undo(named) => {
                let ask = ApiCall::post(format!("/items/{}/undo", item(&named.id)?), json!({}));
                Self::Show { ask, sheet }
            }
            ItemCommand::Time { item: named, at, clear: _ } => {
                let at = at.as_deref().map(time).transpose()?;
                let ask = ApiCall::new(Method::PUT, format!("/items/{}/canonical-time", item(&named.id)?));
                Self::Show { ask: ask.with_body(json!({ "canonicalAt": at })), sheet }
            }
        })
    }

    pub(super) fn of_relation(command: RelationCommand) -> Result<Self, Failure> {
        let sheet = &views::RELATION;
        Ok(match command {
            RelationCommand::Add { kind, source, target, confidence, metadata } => {
                let mut body = json!({ "kind": kind, "source": source, "target": target });
                if let Some(confidence) = confidence {
                    body["confidence"] = json!(confidence);
                }
                if let Some(metadata) = metadata {
                    body["metadata"] = object(&metadata)?.into();
                }
                Self::Show { ask: ApiCall::post("/relations", body), sheet }
            }
            RelationCommand::List { of, side, kind, amount } => {
                let ask =
                    ApiCall::get("/relations").with("of", Some(of)).with("side", Some(word(&side))).with("kind", kind);
                Self::list(ask, &views::RELATIONS, amount)
            }
            RelationCommand::Show(named) => {
                Self::Show { ask: ApiCall::get(format!("/relations/{}", relation(&named.id)?)), sheet }
            }
            RelationCommand::Chain { from, kind, direction, limit } => {
                let ask = ApiCall::get("/relations/chain").with("from", Some(from)).with("kind", Some(kind));
                let ask = ask.with("direction", Some(word(&direction))).with("limit", limit);
                Self::Rows { ask, field: "data", list: &views::STEPS }
            }
            RelationCommand::Remove { relation: named, reason } => {
                let ask = ApiCall::new(Method::DELETE, format!("/relations/{}", relation(&named.id)?));
                Self::Show { ask: ask.with("reason", Some(reason)), sheet }
            }
        })
    }

    pub(super) fn storage() -> Self {
        Self::Show { ask: ApiCall::get("/storage"), sheet: &views::STORAGE }
    }

    pub(super) fn of_history(arguments: HistoryArguments) -> Result<(AskingArguments, Self), Failure> {
        let HistoryArguments { record, record_type, diff, at, version, restore, amount, asking } = arguments;
        if record_type.is_some() {
            let ask = ApiCall::get("/records").with("type", record_type);
            return Ok((asking, Self::list(ask, &views::RECORDS, amount)));
        }
        let hint = "give the record's id: entity_…; skein history --type TYPE lists them";
        let record: RecordId = parse(&record.unwrap_or_default(), hint)?;
        let task = if let Some(range) = diff {
            let (from, to) = versions(&range)?;
            let ask = ApiCall::get(format!("/records/{record}/diff")).with("from", Some(from)).with("to", Some(to));
            Self::Rows { ask, field: "changes", list: &views::CHANGES }
        } else if let Some(version) = restore {
            let ask = ApiCall::post(format!("/records/{record}/restore"), json!({ "version": version }));
            Self::Show { ask, sheet: &views::RECORD }
        } else if at.is_some() || version.is_some() {
            let at = at.as_deref().map(time).transpose()?;
            let ask = ApiCall::get(format!("/records/{record}")).with("at", at).with("version", version);
            Self::Show { ask, sheet: &views::RECORD }
        } else {
            Self::list(ApiCall::get(format!("/records/{record}/history")), &views::VERSIONS, amount)
        };
        Ok((asking, task))
    }

    pub(super) fn of_export(export: ExportArguments) -> (AskingArguments, Self) {
        let passphrase = passphrase(export.with_secrets, export.passphrase_file, true);
        (export.asking, Self::Export { file: export.file, passphrase })
    }

    pub(super) fn of_import(import: ImportArguments) -> (AskingArguments, Self) {
        let passphrase = passphrase(import.with_secrets, import.passphrase_file, false);
        (import.asking, Self::Import { file: import.file, passphrase })
    }

    pub(super) fn of_redact(redact: RedactArguments) -> Result<(AskingArguments, Self), Failure> {
        let task = Self::Redact { item: item(&redact.item)?, reason: redact.reason, is_sure: redact.yes };
        Ok((redact.asking, task))
    }

    pub(super) fn list(ask: ApiCall, list: &'static List, amount: AmountArguments) -> Self {
        let (amount, after) = portion(amount);
        Self::List { ask, list, amount, after }
    }
}

impl Content {
    fn resolve(text: Option<String>, data: Option<String>) -> Result<Self, Failure> {
        Ok(match (text, data) {
            (_, Some(data)) if data == "-" => Self::DocumentFromInput,
            (_, Some(data)) => Self::Document(object(&data)?),
            (Some(text), None) if text != "-" => Self::Words(text),
            (_, None) => Self::WordsFromInput,
        })
    }
}

/// How much of a list, and from where.
pub(super) fn portion(arguments: AmountArguments) -> (ListLimit, Option<String>) {
    let AmountArguments { limit, all, cursor } = arguments;
    (if all { ListLimit::All } else { ListLimit::AtMost(limit.into()) }, cursor)
}

/// As it is typed and as the API spells it.
pub(super) fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

pub(super) fn parse<T: FromStr>(text: &str, hint: &'static str) -> Result<T, Failure>
where
    T::Err: Display,
{
    text.parse().map_err(|bad: T::Err| Failure::usage(anyhow!("{bad}"), hint))
}

fn user(text: &str) -> Result<UserId, Failure> {
    parse(text, "give the id as skein user list shows it: user_…")
}

fn item(text: &str) -> Result<ItemId, Failure> {
    parse(text, "give the id as the server shows it: item_…")
}

fn relation(text: &str) -> Result<RelationId, Failure> {
    parse(text, "give the id as skein relation list shows it: rel_…")
}

pub(super) fn time(text: &str) -> Result<Millis, Failure> {
    parse(text, "write the time with its offset, for example 2026-01-31T12:00:00Z or 2026-01-31T12:00:00+01:00")
}

/// A JSON object, by the same rules as at the server.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    let hint = "give a JSON object in single quotes, for example '{\"description\": \"…\"}'";
    document::parse_object(text.as_bytes()).map_err(|bad| Failure::usage(Error::new(bad), hint))
}

fn versions(range: &str) -> Result<(u64, u64), Failure> {
    let parsed = range.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    parsed.ok_or_else(|| {
        Failure::usage(anyhow!("{range:?} is not a range of versions"), "give two numbers, for example --diff 1..3")
    })
}

#[cfg(test)]
mod tests;
