//! `skein redact`: destroys the payload of an item, once it is certain that this is meant.

use serde_json::{Value, json};
use skein_core::ItemId;

use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::text;
use crate::prompt::confirm;
use crate::session::Session;
use crate::views;

pub(crate) fn run(item: ItemId, reason: &str, is_sure: bool, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    if !is_sure {
        confirm(&format!("the payload of {item} will be destroyed for ever"), "nothing was destroyed")?;
    }
    let redacted = desk.ask(&ApiCall::post(format!("/items/{item}/redact"), json!({ "reason": reason })))?;
    desk.show(&redacted, views::ITEM.fields, views::ITEM.wanted)?;
    let places: Vec<String> = redacted["quotedIn"].as_array().into_iter().flatten().map(place_of).collect();
    if !places.is_empty() {
        let more = if redacted["quotedInMore"] == true { ", and more" } else { "" };
        desk.remark(&format!(
            "The words still stand in {}{more}. Redact these, too, if they are to go.",
            places.join(", ")
        ))?;
    }
    Ok(Exit::Ok)
}

/// The item to redact; of a field of a conversation, which one.
fn place_of(quote: &Value) -> String {
    match quote["itemId"].as_str() {
        Some(item) => item.to_owned(),
        None => format!("the {} of {}", text(&quote["field"]), text(&quote["conversationId"])),
    }
}
