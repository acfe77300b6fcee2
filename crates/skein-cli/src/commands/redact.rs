//! `skein redact`: destroys the payload of an item, once it is certain that this is meant.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::anyhow;
use serde_json::json;
use skein_core::ItemId;

use crate::desk::Desk;
use crate::door::Ask;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) fn run(item: ItemId, reason: &str, is_sure: bool, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    if !is_sure {
        confirm(item)?;
    }
    let redacted = desk.ask(&Ask::post(format!("/items/{item}/redact"), json!({ "reason": reason })))?;
    desk.show(&redacted, views::ITEM.fields, views::ITEM.wanted)
}

fn confirm(item: ItemId) -> Result<(), Failure> {
    let is_asked_of_a_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !is_asked_of_a_person {
        let error = anyhow!("the payload of {item} would be destroyed for ever, and nobody can be asked");
        return Err(Failure::usage(error, "add --yes if that is meant"));
    }
    eprint!("The payload of {item} will be destroyed for ever. Type yes to go on: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("yes") {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, anyhow!("nothing was destroyed"), "type yes when it is meant"))
}
