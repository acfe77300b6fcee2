//! Executes commands that are single API requests: users, keys, grants, items, relations, histories.

use std::io::Read as _;

use anyhow::{Context as _, anyhow};
use axum::http::Method;
use serde_json::{Map, Value, json};
use skein_core::{Millis, UserId};

use super::bundle::{self, ExportExtent};
use super::{catalog, flow, memory, redact};
use crate::api_client::ApiCall;
use crate::commands::tree;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::{ApiRequest, Content, object};
use crate::progress::ByteBar;
use crate::session::Session;
use crate::views;

/// Above what the API takes, so that the API is what says no.
const INPUT_BYTES_MAX: u64 = 32 << 20;

pub(crate) fn run(task: ApiRequest, mut desk: Session<'_>) -> Result<Exit, Failure> {
    let done = carry_out(task, &mut desk);
    // Whatever came of it, what was written is sealed; of two failures the first tells more.
    let closed = desk.close();
    let exit = done?;
    closed?;
    Ok(exit)
}

fn carry_out(task: ApiRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match task {
        ApiRequest::Show { ask, sheet } => {
            let thing = desk.ask(&ask)?;
            desk.show(&thing, sheet.fields, sheet.wanted)?;
            sheet.remark.map_or(Ok(()), |remark| desk.remark(remark))?;
            Ok(Exit::Ok)
        }
        ApiRequest::List { ask, list, amount, after } => desk.list(&ask, list.columns, amount, after),
        ApiRequest::Rows { ask, field, list } => desk.rows(&ask, field, list.columns),
        ApiRequest::AddItem { item_type, content, at } => add_item(&item_type, content, at, desk),
        ApiRequest::ChangeUser { user, changes } => change_user(user, changes, desk),
        ApiRequest::Redact { item, reason, is_sure } => redact::run(item, &reason, is_sure, desk),
        ApiRequest::Payload { ask } => write_payload(&ask, desk),
        ApiRequest::Export { file, passphrase } => bundle::export(&file, &ExportExtent::Everything(passphrase), desk),
        ApiRequest::Import { file, passphrase } => bundle::import(file, passphrase.as_ref(), desk),
        ApiRequest::Catalog(task) => catalog::run(task, desk),
        ApiRequest::Conversation(task) => tree::run(task, desk),
        ApiRequest::Flow(task) => flow::run(task, desk),
        ApiRequest::Memory(task) => memory::run(task, desk),
    }
}

/// At most 16 MiB, which may as well be held: what is written is then whole.
fn write_payload(ask: &ApiCall, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let (mut whole, bar) = (Vec::new(), ByteBar::new("receiving"));
    let received = desk.door()?.download(ask, &mut whole, &bar);
    bar.end();
    received?;
    desk.out.write_all(&whole)?;
    Ok(Exit::Ok)
}

fn add_item(item_type: &str, content: Content, at: Option<Millis>, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let described = |words: String| Map::from_iter([("description".to_owned(), Value::from(words))]);
    let data = match content {
        Content::Words(words) => described(words),
        Content::Document(document) => document,
        Content::WordsFromInput => described(read_input()?.trim_end().to_owned()),
        Content::DocumentFromInput => object(&read_input()?)?,
    };
    let mut body = json!({ "_type": item_type, "data": data });
    if let Some(at) = at {
        body["canonicalAt"] = json!(at);
    }
    let thing = desk.ask(&ApiCall::post("/items", body))?;
    desk.show(&thing, views::ITEM.fields, views::ITEM.wanted)
}

pub(super) fn read_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    let hint = "send text in UTF-8 to standard input";
    read.context("standard input cannot be read").map_err(|error| Failure::usage(error, hint))?;
    if text.len() as u64 > INPUT_BYTES_MAX {
        return Err(Failure::usage(anyhow!("standard input holds more than an item can"), hint));
    }
    Ok(text)
}

/// The change is based on what is there now; one made meanwhile by somebody else is refused, not overwritten.
fn change_user(user: UserId, changes: Map<String, Value>, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("/users/{user}");
    let current = desk.ask(&ApiCall::get(path.clone()))?;
    let mut body = Value::from(changes);
    body["basedOnHash"] = current["hash"].clone();
    let user = desk.ask(&ApiCall::new(Method::PUT, path).with_body(body))?;
    desk.show(&user, views::USER.fields, views::USER.wanted)
}
