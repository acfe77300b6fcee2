//! Commands about conversations and projects: requests to the API, once what they name was looked up.

mod drawing;
mod export;
mod lookup;
mod path_text;
mod report;

use axum::http::Method;
use serde_json::{Map, Value};

pub(crate) use self::lookup::Lookup;
use crate::api_client::ApiCall;
use crate::commands::bundle::{self, ExportExtent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{ConversationTask, EntryName, Resolver as _, UnresolvedTreeRequest};
use crate::session::{OutputFormat, Session};
use crate::views::tree as views;

pub(crate) fn run(task: ConversationTask, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match task {
        ConversationTask::Show { wish, sheet } => {
            let thing = ask(&wish, desk)?;
            desk.show(&thing, sheet.fields, sheet.wanted)
        }
        ConversationTask::List { wish, list, portion: (amount, after) } => {
            let ask = complete(&wish, desk)?;
            desk.list(&ask, list.columns, amount, after)
        }
        ConversationTask::Rows { wish, field, list } => {
            let ask = complete(&wish, desk)?;
            desk.rows(&ask, field, list.columns)
        }
        ConversationTask::Draw { conversation, most } => drawing::draw(&conversation, most, desk),
        ConversationTask::Read { conversation, node, most } => path_text::read(&conversation, node, most, desk),
        ConversationTask::Say(wish) => say(&wish, desk),
        ConversationTask::Switch(wish) => switch(&wish, desk),
        ConversationTask::Change { conversation, fields } => change(&conversation, fields, desk),
        ConversationTask::Verify(wish) => report::verify(&wish, desk),
        ConversationTask::Compare(wish) => report::compare(&wish, desk),
        ConversationTask::Context(wish) => report::context(&wish, desk),
        ConversationTask::Export { wish, file } => export::export(&wish, &file, desk),
        ConversationTask::Bundle { conversation, file } => {
            let id = Lookup::new(desk).conversation(&conversation)?;
            bundle::export(&file, &ExportExtent::Conversation(id), desk)
        }
    }
}

fn complete(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<ApiCall, Failure> {
    wish.ask(&mut Lookup::new(desk))
}

fn ask(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Value, Failure> {
    let ask = complete(wish, desk)?;
    desk.ask(&ask)
}

/// Programs get all of the answer, people how the node is called from now on.
fn say(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let answer = ask(wish, desk)?;
    let node = if answer["node"].is_object() { &answer["node"] } else { &answer };
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{answer:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&node["id"]))?,
        OutputFormat::People(_) => {
            writeln!(desk.out, "{}  {}", text(&node["localId"]), printable(&brief(&views::said(node))))?;
            writeln!(desk.out, "{}", text(&node["id"]))?;
        }
    }
    Ok(Exit::Ok)
}

fn switch(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let answer = ask(wish, desk)?;
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{answer:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&answer["alternativeId"]))?,
        OutputFormat::People(_) => {
            let affected = answer["affectedTurns"].as_array().map_or(0, Vec::len);
            let turns = if affected == 1 { "turn is" } else { "turns are" };
            writeln!(desk.out, "You stand at {}. {affected} {turns} affected.", text(&answer["alternativeId"]))?;
        }
    }
    Ok(Exit::Ok)
}

/// The change is based on what is there now; one made meanwhile by somebody else is refused, not overwritten.
fn change(conversation: &EntryName, fields: Map<String, Value>, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("/conversations/{}", Lookup::new(desk).conversation(conversation)?);
    let current = desk.ask(&ApiCall::get(path.clone()))?;
    let ask = ApiCall::new(Method::PUT, path).with_body(fields.into());
    let changed = desk.ask(&ask.based_on(current["hash"].as_str().map(str::to_owned)))?;
    desk.show(&changed, views::CONVERSATION.fields, views::CONVERSATION.wanted)
}

/// The first line, cut where a terminal is usually full.
fn brief(words: &str) -> String {
    const CHARS_MAX: usize = 64;
    let line = words.lines().next().unwrap_or_default();
    let is_cut = words.lines().nth(1).is_some() || line.chars().count() > CHARS_MAX;
    let short: String = line.chars().take(CHARS_MAX).collect();
    if is_cut { format!("{short}…") } else { short }
}
