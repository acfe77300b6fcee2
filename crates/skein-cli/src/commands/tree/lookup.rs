//! Finds conversations, projects and nodes by what people call them, and reads words where they stand.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;

use anyhow::{Context as _, Error, anyhow};
use serde_json::Value;
use skein_core::{ItemId, RecordId};

use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{EntryName, NodeLocation, NodeName, NodeSlot, Resolver, TextSource};
use crate::session::Session;

/// Who has more than this has to give ids: 10,000 things are looked through.
const PAGES_MAX: usize = 100;
/// As many as are still read when a name stands for several things.
const SHOWN_MAX: usize = 5;
/// Above what the API takes, so that the API is what says no.
const WORDS_BYTES_MAX: u64 = 32 << 20;

pub(crate) struct Lookup<'a, 'd> {
    desk: &'a mut Session<'d>,
    /// A command names a conversation once; what it amounts to may ask for it again.
    conversations: HashMap<String, RecordId>,
}

impl<'a, 'd> Lookup<'a, 'd> {
    pub(crate) fn new(desk: &'a mut Session<'d>) -> Self {
        Self { desk, conversations: HashMap::new() }
    }

    /// Where the owner of a conversation stands, in the conversation it grew from if nothing was said in it yet.
    pub(super) fn here(&mut self, conversation: &EntryName) -> Result<Option<ItemId>, Failure> {
        let path = format!("/conversations/{}", self.conversation(conversation)?);
        let shown = self.desk.ask(&ApiCall::get(path))?;
        [&shown["cursorNodeId"], &shown["forkOriginAlternativeId"]]
            .into_iter()
            .find(|id| id.is_string())
            .map(id)
            .transpose()
    }

    fn named(&mut self, noun: &str, label: &str, name: &str, listings: &[ApiCall]) -> Result<RecordId, Failure> {
        let mut rows = Vec::new();
        for ask in listings {
            let is_all = self.desk.look_through(ask, PAGES_MAX, |row| {
                rows.push((text(&row["id"]), text(&row[label])));
            })?;
            if !is_all {
                let error = anyhow!("there are too many to look for {} by its {label}", printable(name));
                return Err(Failure::usage(error, "give the id: entity_…"));
            }
        }
        only(noun, label, name, &rows)
    }
}

impl Resolver for Lookup<'_, '_> {
    fn conversation(&mut self, named: &EntryName) -> Result<RecordId, Failure> {
        let name = match named {
            EntryName::Id(id) => return Ok(*id),
            EntryName::Name(name) => name,
        };
        if let Some(id) = self.conversations.get(name) {
            return Ok(*id);
        }
        let all = ["active", "archived"].map(|status| ApiCall::get("/conversations").with("status", Some(status)));
        let id = self.named("conversation", "title", name, &all)?;
        self.conversations.insert(name.clone(), id);
        Ok(id)
    }

    fn project(&mut self, named: &EntryName) -> Result<RecordId, Failure> {
        match named {
            EntryName::Id(id) => Ok(*id),
            EntryName::Name(name) => self.named("project", "name", name, &[ApiCall::get("/projects")]),
        }
    }

    fn node(&mut self, spot: &NodeLocation) -> Result<ItemId, Failure> {
        match &spot.node {
            NodeName::Id(node) => Ok(*node),
            NodeName::Local(_) => Ok(self.seen(spot)?.0),
            NodeName::Here => self.here(&spot.conversation)?.ok_or_else(nothing_said),
        }
    }

    fn parent(&mut self, spot: &NodeLocation) -> Result<Option<ItemId>, Failure> {
        if spot.node != NodeName::Here {
            return self.node(spot).map(Some);
        }
        let path = format!("/conversations/{}", self.conversation(&spot.conversation)?);
        let shown = self.desk.ask(&ApiCall::get(path))?;
        if shown["cursorNodeId"].is_null() { Ok(None) } else { id(&shown["cursorNodeId"]).map(Some) }
    }

    fn seat(&mut self, spot: &NodeLocation) -> Result<NodeSlot, Failure> {
        let conversation = self.conversation(&spot.conversation)?;
        let (node, shown) = self.seen(&NodeLocation { conversation: EntryName::Id(conversation), ..spot.clone() })?;
        if shown["turnId"].is_null() {
            let error = anyhow!("{} is a remark; it stands beside the course of the conversation", text(&shown["id"]));
            return Err(Failure::new(Exit::Refused, error, "name the node it is about"));
        }
        Ok(NodeSlot { conversation, turn: id(&shown["turnId"])?, node })
    }

    fn words(&mut self, words: &TextSource) -> Result<String, Failure> {
        let hint = "give UTF-8 text: as an argument, with --file, or - for standard input";
        let read = match words {
            TextSource::Said(words) => Ok(words.clone()),
            TextSource::Input => bounded(std::io::stdin()).context("standard input cannot be read"),
            TextSource::File(path) => {
                let opened = File::open(path).map_err(Error::new).and_then(bounded);
                opened.with_context(|| format!("cannot read {}", path.display()))
            }
        };
        read.map_err(|error| Failure::usage(error, hint))
    }
}

impl Lookup<'_, '_> {
    /// A node as the API shows it.
    fn seen(&mut self, spot: &NodeLocation) -> Result<(ItemId, Value), Failure> {
        let path = match &spot.node {
            NodeName::Local(name) => {
                format!("/conversations/{}/nodes/{name}", self.conversation(&spot.conversation)?)
            }
            NodeName::Id(node) => format!("/nodes/{node}"),
            NodeName::Here => format!("/nodes/{}", self.here(&spot.conversation)?.ok_or_else(nothing_said)?),
        };
        let shown = self.desk.ask(&ApiCall::get(path))?;
        Ok((id(&shown["id"])?, shown))
    }
}

/// What stands in the answer as an id.
pub(super) fn id<T: std::str::FromStr>(value: &Value) -> Result<T, Failure> {
    value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        let error = anyhow!("the server answered with something that is not an id: {}", printable(&text(value)));
        Failure::new(Exit::Failed, error, "install the version the server has")
    })
}

fn nothing_said() -> Failure {
    let error = anyhow!("nothing was said in this conversation yet");
    Failure::new(Exit::NotFound, error, "say something first: skein conversation append")
}

/// Without the line breaks that files and pipes end with.
fn bounded(from: impl Read) -> Result<String, Error> {
    let mut words = String::new();
    from.take(WORDS_BYTES_MAX + 1).read_to_string(&mut words)?;
    if words.len() as u64 > WORDS_BYTES_MAX {
        return Err(anyhow!("there is more than {} MiB of it", WORDS_BYTES_MAX >> 20));
    }
    words.truncate(words.trim_end_matches(['\n', '\r']).len());
    Ok(words)
}

/// The one thing that is called so; else the one whose name begins so, in any case.
fn only(noun: &str, label: &str, name: &str, rows: &[(String, String)]) -> Result<RecordId, Failure> {
    let lower = name.to_lowercase();
    let exact: Vec<_> = rows.iter().filter(|(_, called)| called == name).collect();
    let begins = || rows.iter().filter(|(_, called)| called.to_lowercase().starts_with(&lower)).collect();
    let found: Vec<&(String, String)> = if exact.is_empty() { begins() } else { exact };
    match &found[..] {
        [] => {
            let error = anyhow!("there is no {noun} whose {label} begins with {}", printable(name));
            Err(Failure::new(Exit::NotFound, error, "list shows what there is, with its ids"))
        }
        [(one, _)] => id(&Value::from(one.as_str())),
        several => {
            let shown = several.iter().take(SHOWN_MAX).map(|(id, called)| format!("\n  {id}  {called}"));
            let more = if several.len() > SHOWN_MAX { "\n  …" } else { "" };
            let shown = printable(&shown.collect::<String>());
            let error = anyhow!("the {label} of more than one {noun} begins with {}:{shown}{more}", printable(name));
            Err(Failure::usage(error, "give more of it, or the id of the one that is meant"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    const OTHER: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";

    fn found(name: &str) -> Result<String, Failure> {
        let rows = [(ONE.to_owned(), "Herons".to_owned()), (OTHER.to_owned(), "Herons and storks".to_owned())];
        only("conversation", "title", name, &rows).map(|id| id.to_string())
    }

    #[test]
    fn a_title_is_found_whole_or_by_a_beginning_that_only_one_has() {
        assert_eq!(found("Herons").unwrap(), ONE);
        assert_eq!(found("herons a").unwrap(), OTHER);
    }

    #[test]
    fn a_beginning_of_none_or_of_several_is_refused() {
        assert_eq!(found("Cranes").unwrap_err().exit, Exit::NotFound);
        let several = found("her").unwrap_err();
        assert_eq!(several.exit, Exit::Usage);
        assert!(several.error().contains(ONE) && several.error().contains("Herons and storks"), "{several}");
    }

    #[test]
    fn words_lose_the_line_breaks_at_their_end_and_nothing_else() {
        assert_eq!(bounded(&b"  two\nlines \r\n\n"[..]).unwrap(), "  two\nlines ");
        assert!(bounded(std::io::repeat(b'x')).unwrap_err().to_string().contains("more than 32 MiB"));
        assert!(bounded(&b"\xff"[..]).is_err());
    }
}
