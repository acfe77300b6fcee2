//! Commands about memory: what was said is found again, and what stands elsewhere is brought.

use std::io::Write;

use anyhow::Context as _;
use serde_json::Value;
use skein_core::Viewer;
use skein_engine::Engine;
use skein_store::verify::Progress;

use super::errand::read_input;
use super::serve::runtime;
use crate::desk::{Desk, Form};
use crate::door::Ask;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::Lock;
use crate::output::{printable, text};
use crate::place::Place;
use crate::plan::MemoryTask;
use crate::progress::Bar;
use crate::views::memory as views;

pub(crate) fn run(task: MemoryTask, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    match task {
        MemoryTask::Recall { ask, explain } => recall(&ask, explain, desk),
        MemoryTask::Bring { content, is_document, body } => bring(content, is_document, body, desk),
    }
}

/// Exit code 0 also when nothing was found: a question was answered.
fn recall(ask: &Ask, explain: bool, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let answer = desk.ask(ask)?;
    let found = answer["data"].as_array().map_or(&[][..], Vec::as_slice);
    match desk.form {
        Form::Json => writeln!(desk.out, "{answer:#}")?,
        Form::Quiet => {
            for row in found {
                writeln!(desk.out, "{}", text(&row["episodeId"]))?;
            }
        }
        Form::People(paint) => {
            for row in found {
                let place = if row["nodeId"].is_null() { text(&row["episodeId"]) } else { text(&row["nodeId"]) };
                let head = format!("{}  {}  {place}", text(&row["createdAt"]), text(&row["speaker"]));
                writeln!(desk.out, "{}", paint.faint(&head))?;
                writeln!(desk.out, "  {}", printable(&text(&row["snippet"])))?;
                if explain {
                    writeln!(desk.out, "  {}", paint.faint(&why(row)))?;
                }
            }
            if found.is_empty() {
                writeln!(desk.out, "Nothing of that was said, as far as it can be seen from here.")?;
            }
            if explain || answer["searched"]["indexBehind"] == true {
                writeln!(desk.out, "{}", paint.faint(&covered(&answer["searched"])))?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// `2.41 = words 1.20 + meaning 1.21; found elsewhere in entity_…`.
fn why(row: &Value) -> String {
    let parts = ["words", "likeness", "meaning", "speaker", "neighbours", "recency"];
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|name| number(&row["parts"][name]).abs() >= 0.005)
        .map(|name| format!("{name} {:.2}", number(&row["parts"][name])))
        .collect();
    let place =
        if row["conversationId"].is_null() { String::new() } else { format!(" in {}", text(&row["conversationId"])) };
    format!("{:.2} = {}; found {}{place}", number(&row["score"]), parts.join(" + "), text(&row["found"]))
}

fn covered(searched: &Value) -> String {
    let mut words = vec![format!("searched by {} up to {}", text(&searched["by"]), text(&searched["indexCursor"]))];
    for (name, said) in [("nodeId", "from"), ("conversationId", "in"), ("asOf", "as of"), ("knownAt", "as known at")] {
        if !searched[name].is_null() {
            words.push(format!("{said} {}", text(&searched[name])));
        }
    }
    if searched["allBranches"] == true {
        words.push("on all branches".to_owned());
    }
    if searched["indexBehind"] == true {
        words.push("there is more that is not indexed yet".to_owned());
    }
    words.join(", ")
}

fn bring(content: String, is_document: bool, mut body: Value, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let content = if content == "-" { read_input()? } else { content };
    let hint = "give a JSON object or list, or leave --source json out";
    body["content"] = if is_document {
        serde_json::from_str(&content).context("this is not JSON").map_err(|error| Failure::usage(error, hint))?
    } else {
        Value::from(content.trim_end())
    };
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let brought = desk.ask(&Ask::post("/episodes", body))?;
    desk.show(&brought, views::BROUGHT.fields, views::BROUGHT.wanted)
}

/// Builds the index of a directory again, with a bar.
pub(crate) fn rebuild(place: &Place, out: &mut dyn Write) -> Result<Exit, Failure> {
    place.require_made()?;
    let lock = Lock::take(&place.dir)?;
    let (runtime, store) = (runtime()?, place.open()?);
    let episodes = runtime.block_on(async {
        let outside = place.outside(&store, None, None).await?;
        let engine = Engine::new(store.clone(), place.blobs()?, outside);
        engine.remember_in(place.index_folder());
        engine.forget_index().await?;
        let end = store.read(|tx| tx.end(&Viewer::System("rebuilding"))).await?;
        let (bar, mut episodes) = (Bar::new(), 0);
        while let Some(step) = engine.remember_next().await? {
            episodes += step.episodes;
            let [done, total] = [step.cursor, end].map(|at| u64::try_from(at.position).unwrap_or_default());
            bar.show(Progress { stage: "indexing", done, total });
            if !step.is_more {
                break;
            }
        }
        Ok::<_, Failure>(episodes)
    })?;
    drop(lock);
    writeln!(out, "The index was built again: {episodes} episodes.")?;
    Ok(Exit::Ok)
}
