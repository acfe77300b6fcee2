//! `skein redact`: destroys the payload of an item, once it is certain that this is meant.

use serde_json::json;
use skein_core::ItemId;

use crate::desk::Desk;
use crate::door::Ask;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::prompt::confirm;
use crate::views;

pub(crate) fn run(item: ItemId, reason: &str, is_sure: bool, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    if !is_sure {
        confirm(&format!("the payload of {item} will be destroyed for ever"), "nothing was destroyed")?;
    }
    let redacted = desk.ask(&Ask::post(format!("/items/{item}/redact"), json!({ "reason": reason })))?;
    desk.show(&redacted, views::ITEM.fields, views::ITEM.wanted)
}
