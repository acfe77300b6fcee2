//! Finds things by their names, as the lists of the API show them.

use anyhow::anyhow;
use serde_json::Value;
use skein_core::RecordId;

use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{Collection, EntryName, NamedEntry};
use crate::session::Session;

/// Who has more than this has to give ids: 10,000 things are looked through.
const PAGES_MAX: usize = 100;
/// As many as are still read when a name stands for several things.
const SHOWN_MAX: usize = 5;

/// The id of a thing; one's own are looked through before those others share.
pub(crate) fn find(thing: &NamedEntry, desk: &mut Session<'_>) -> Result<RecordId, Failure> {
    let name = match &thing.named {
        EntryName::Id(id) => return Ok(*id),
        EntryName::Name(name) => name,
    };
    for ask in listings(thing.shelf) {
        let found = called(thing.shelf, name, &ask, desk)?;
        if let Some(id) = only(thing.shelf, name, &found)? {
            return Ok(id);
        }
    }
    let error = anyhow!("there is no {} called {}", thing.shelf.noun(), printable(name));
    Err(Failure::new(Exit::NotFound, error, "list shows the names and ids there are"))
}

/// Where to look, one after another.
fn listings(shelf: Collection) -> Vec<ApiCall> {
    let all = ApiCall::get(shelf.path());
    match shelf {
        Collection::Services | Collection::Tools => vec![all.clone().with("owned", Some(true)), all],
        Collection::ServiceTemplates | Collection::ToolTemplates => vec![all.with("includeArchived", Some(true))],
        Collection::Processes => vec![all.clone(), all.with("includeArchived", Some(true))],
        Collection::Secrets | Collection::Endpoints => vec![all],
    }
}

fn called(shelf: Collection, name: &str, ask: &ApiCall, desk: &mut Session<'_>) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let is_all = desk.look_through(ask, PAGES_MAX, |row| {
        if label(shelf, row) == name {
            found.push(text(&row["id"]));
        }
    })?;
    if is_all {
        return Ok(found);
    }
    let error = anyhow!("there are too many to look for {} by its name", printable(name));
    Err(Failure::usage(error, "give the id: entity_…"))
}

/// What people call it.
fn label(shelf: Collection, row: &Value) -> String {
    match shelf {
        Collection::Endpoints => {
            let host = text(&row["host"]);
            let host = if host.contains(':') { format!("[{host}]") } else { host };
            format!("{host}:{}", text(&row["port"]))
        }
        _ => text(&row["name"]),
    }
}

fn only(shelf: Collection, name: &str, ids: &[String]) -> Result<Option<RecordId>, Failure> {
    match ids {
        [] => Ok(None),
        [id] => id.parse().map(Some).map_err(|bad| Failure::new(Exit::Failed, anyhow!("{bad}"), "give the id instead")),
        several => {
            let shown: Vec<String> = several.iter().take(SHOWN_MAX).map(|id| printable(id)).collect();
            let more = if several.len() > SHOWN_MAX { ", …" } else { "" };
            let (noun, name) = (shelf.noun(), printable(name));
            let error = anyhow!("more than one {noun} is called {name}: {}{more}", shown.join(", "));
            Err(Failure::usage(error, "give the id of the one that is meant"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ONE: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    const OTHER: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";

    #[test]
    fn a_name_that_stands_for_one_thing_is_its_id() {
        let only = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            only(Collection::Tools, "Weather", &ids)
        };
        assert_eq!(only(&[]).unwrap(), None);
        assert_eq!(only(&[ONE]).unwrap().map(|id| id.to_string()).as_deref(), Some(ONE));
        let refused = only(&[ONE, OTHER]).unwrap_err();
        assert_eq!(refused.error(), format!("more than one tool is called Weather: {ONE}, {OTHER}"));
        assert_eq!(refused.exit, Exit::Usage);
    }

    #[test]
    fn ones_own_things_are_looked_through_first() {
        let [own, all] = &listings(Collection::Services)[..] else { panic!("two places") };
        assert_eq!((own.query.as_slice(), all.query.is_empty()), (&[("owned", "true".to_owned())][..], true));
        assert_eq!(listings(Collection::Secrets).len(), 1);
    }

    #[test]
    fn an_endpoint_is_called_by_its_address() {
        assert_eq!(label(Collection::Endpoints, &json!({ "host": "localhost", "port": 11_434 })), "localhost:11434");
        assert_eq!(label(Collection::Endpoints, &json!({ "host": "::1", "port": 80 })), "[::1]:80");
        assert_eq!(label(Collection::Tools, &json!({ "name": "Weather" })), "Weather");
    }
}
