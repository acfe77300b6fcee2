//! Commands about memory: what was said is found again, and what stands elsewhere is brought.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_core::{RecordId, Viewer};
use skein_engine::Engine;
use skein_store::verify::Progress;

use super::serve::runtime;
use crate::api_client::ApiCall;
use crate::commands::api_command::read_input;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::Lock;
use crate::output::{printable, text};
use crate::plan::MemoryTask;
use crate::progress::Bar;
use crate::session::{OutputFormat, Session};
use crate::storage_location::StorageLocation;
use crate::views::memory as views;

/// Pages of actors or projects that are looked through for a name.
const PAGES_LOOKED_THROUGH: usize = 100;
/// Between two looks at how far a server is.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// So many looks a server may fail at the same place, and so many it may take for one step.
const FAILING_LOOKS_MAX: u32 = 25;
const STILL_LOOKS_MAX: u32 = 600;

pub(crate) fn run(task: MemoryTask, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match task {
        MemoryTask::Recall { ask, people, project, explain } => {
            let ask = named(ask, &people, project.as_deref(), desk)?;
            recall(&ask, explain, desk)
        }
        MemoryTask::Rebuild { anew } => rebuild_there(anew, desk),
        MemoryTask::Bring { content, is_document, body } => bring(content, is_document, body, desk),
    }
}

/// A question with the people and the project it is narrowed to, found by id or by name.
fn named(
    mut ask: ApiCall,
    people: &[String],
    project: Option<&str>,
    desk: &mut Session<'_>,
) -> Result<ApiCall, Failure> {
    let actors: Vec<Value> = people.iter().map(|person| person_id(person, desk)).collect::<Result<_, _>>()?;
    let project = project.map(|project| project_id(project, desk)).transpose()?;
    if let Some(body) = &mut ask.body {
        if !actors.is_empty() {
            body["actorIds"] = actors.into();
        }
        if let Some(project) = project {
            body["projectId"] = project;
        }
    }
    Ok(ask)
}

fn person_id(person: &str, desk: &mut Session<'_>) -> Result<Value, Failure> {
    if let Some(id) = ActorId::parse(person) {
        return Ok(json!(id));
    }
    let hint = "give the id of a user or actor, or a name as GET /api/v1/actors tells it";
    let me = desk.ask(&ApiCall::get("/account"))?;
    let mut found: Vec<Value> = same_name(&me["user"], person).into_iter().collect();
    by_name("/actors", person, &mut found, desk)?;
    only(found, person, hint)
}

fn project_id(project: &str, desk: &mut Session<'_>) -> Result<Value, Failure> {
    if project.parse::<RecordId>().is_ok() {
        return Ok(json!(project));
    }
    let mut found = Vec::new();
    by_name("/projects", project, &mut found, desk)?;
    only(found, project, "give the project's id or its name; skein project list")
}

/// The ids of all that are called so.
fn by_name(path: &str, name: &str, found: &mut Vec<Value>, desk: &mut Session<'_>) -> Result<(), Failure> {
    desk.look_through(&ApiCall::get(path), PAGES_LOOKED_THROUGH, |row| found.extend(same_name(row, name)))?;
    Ok(())
}

fn same_name(row: &Value, name: &str) -> Option<Value> {
    let is_same = row["name"].as_str().is_some_and(|found| found.to_lowercase() == name.to_lowercase());
    is_same.then(|| row["id"].clone())
}

fn only(mut found: Vec<Value>, name: &str, hint: &'static str) -> Result<Value, Failure> {
    match (found.pop(), found.is_empty()) {
        (Some(id), true) => Ok(id),
        (Some(_), false) => Err(Failure::usage(anyhow!("{name:?} names several"), hint)),
        (None, _) => Err(Failure::usage(anyhow!("nobody and nothing is called {name:?}"), hint)),
    }
}

/// Exit code 0 also when nothing was found: a question was answered.
fn recall(ask: &ApiCall, explain: bool, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let answer = desk.ask(ask)?;
    let found = answer["data"].as_array().map_or(&[][..], Vec::as_slice);
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{answer:#}")?,
        OutputFormat::Quiet => {
            for row in found {
                writeln!(desk.out, "{}", text(&row["episodeId"]))?;
            }
        }
        OutputFormat::People(paint) => {
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
    if !searched["withoutMeaning"].is_null() {
        words.push(format!("not by meaning: {}", text(&searched["withoutMeaning"])));
    }
    if searched["allBranches"] == true {
        words.push("on all branches".to_owned());
    }
    if searched["indexBehind"] == true {
        words.push("there is more that is not indexed yet".to_owned());
    }
    words.join(", ")
}

fn bring(content: String, is_document: bool, mut body: Value, desk: &mut Session<'_>) -> Result<Exit, Failure> {
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
    let brought = desk.ask(&ApiCall::post("/episodes", body))?;
    desk.show(&brought, views::BROUGHT.fields, views::BROUGHT.wanted)
}

/// The lock of a directory that no server holds; with a server, nothing.
pub(crate) fn free(place: &StorageLocation) -> Result<Option<Lock>, Failure> {
    place.require_made()?;
    match Lock::take(&place.dir) {
        Ok(lock) => Ok(Some(lock)),
        Err(held) if held.holder().is_some() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Builds the index of a directory again, with a bar.
pub(crate) fn rebuild_here(
    place: &StorageLocation,
    lock: Lock,
    is_anew: bool,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let (runtime, store) = (runtime()?, place.open()?);
    let episodes = runtime.block_on(async {
        let gateway = place.gateway(&store, None, None).await?;
        let engine = Engine::new(store.clone(), place.blobs()?, gateway);
        place.remember(&engine)?;
        if is_anew {
            engine.forget_vectors().await?;
        }
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

/// Asks the server to build its index again, and shows how far it is.
fn rebuild_there(is_anew: bool, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let begun = desk.ask(&ApiCall::post("/index/rebuilds", json!({ "anew": is_anew })))?;
    let total = position(&begun["end"]);
    let (bar, mut watch) = (Bar::new(), Watch::default());
    loop {
        let index = desk.ask(&ApiCall::get("/index"))?;
        bar.show(Progress { stage: "indexing", done: position(&index["cursor"]).min(total), total });
        match watch.look(&index) {
            IndexProgress::Moving => desk.door()?.pause(LOOK_AGAIN),
            IndexProgress::Stuck(why) => {
                let hint = "the server goes on trying; skein index status and its log say how it stands";
                return Err(Failure::new(Exit::Failed, anyhow!("the index comes no further: {why}"), hint));
            }
            IndexProgress::Done => {
                drop(bar);
                return match desk.form {
                    OutputFormat::People(_) => {
                        writeln!(desk.out, "The index was built again: {} episodes.", text(&index["episodes"]))?;
                        Ok(Exit::Ok)
                    }
                    _ => desk.show(&index, views::INDEX.fields, views::INDEX.wanted),
                };
            }
        }
    }
}

/// How an index stood when last looked at, and for how many looks since.
#[derive(Default)]
struct Watch {
    cursor: Value,
    looks: u32,
}

#[derive(Debug, PartialEq)]
enum IndexProgress {
    Done,
    Moving,
    Stuck(String),
}

impl Watch {
    fn look(&mut self, index: &Value) -> IndexProgress {
        if index["caughtUp"] == true {
            return IndexProgress::Done;
        }
        if self.cursor != index["cursor"] {
            *self = Self { cursor: index["cursor"].clone(), looks: 0 };
        }
        self.looks += 1;
        match index["failure"].as_str() {
            Some(why) if self.looks > FAILING_LOOKS_MAX => IndexProgress::Stuck(why.to_owned()),
            None if self.looks > STILL_LOOKS_MAX => {
                IndexProgress::Stuck("nothing was added for two minutes".to_owned())
            }
            _ => IndexProgress::Moving,
        }
    }
}

/// The position in a cursor, which counts items.
fn position(cursor: &Value) -> u64 {
    let cursor = cursor.as_str().and_then(|cursor| cursor.parse::<Cursor>().ok());
    cursor.and_then(|cursor| u64::try_from(cursor.position).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(cursor: &str, failure: Option<&str>) -> Value {
        json!({ "cursor": cursor, "caughtUp": false, "failure": failure })
    }

    #[test]
    fn a_server_that_cannot_index_is_not_waited_for() {
        let mut watch = Watch::default();
        let failing = standing("0.5", Some("the disk is full"));
        for _ in 0..FAILING_LOOKS_MAX {
            assert_eq!(watch.look(&failing), IndexProgress::Moving);
        }
        assert_eq!(watch.look(&failing), IndexProgress::Stuck("the disk is full".to_owned()));
        assert_eq!(watch.look(&standing("0.6", Some("the disk is full"))), IndexProgress::Moving, "it came on");
    }

    #[test]
    fn a_server_that_says_nothing_and_does_nothing_is_left_in_the_end() {
        let mut watch = Watch::default();
        let still = standing("0.5", None);
        assert!((0..STILL_LOOKS_MAX).all(|_| watch.look(&still) == IndexProgress::Moving));
        assert!(matches!(watch.look(&still), IndexProgress::Stuck(_)));
        assert_eq!(watch.look(&json!({ "cursor": "0.5", "caughtUp": true, "failure": null })), IndexProgress::Done);
    }
}
