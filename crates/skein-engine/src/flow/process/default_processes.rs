//! Creates the default processes of a new user, which the user can edit and archive.

use serde_json::Value;
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::process::{Process, ProcessDraft};
use skein_core::{UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::catalog::seed_id;
use crate::flow::SYSTEM;

const USERS_AT_ONCE: usize = 100;
const GIFTS: &str = include_str!("default_processes.json");

/// Gives a user their first processes, once what these stand on is there.
pub(crate) fn give(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<(), StoreError> {
    let gifts = gifts();
    for target in gifts.iter().flat_map(Process::references) {
        match tx.record(viewer, target.id) {
            Ok(_) => {}
            Err(StoreError::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    for process in gifts {
        tx.create_entry(viewer, process.to_content(false), None)?;
    }
    Ok(())
}

/// Gives their first processes to everybody who never had one.
pub(crate) fn give_to_all(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let users = tx.users(&SYSTEM, after, USERS_AT_ONCE)?;
        for user in users.rows {
            let viewer = Viewer::User(UserId::from_bytes(*user.id.as_bytes()));
            if !tx.ever_had(&viewer, &Process::record_type())? {
                give(tx, &viewer)?;
            }
        }
        after = users.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn gifts() -> Vec<Process> {
    let mut gifts: Vec<Value> = serde_json::from_str(GIFTS).expect("the gifts are JSON");
    for gift in &mut gifts {
        for step in gift["steps"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(Value::String(key)) = step.remove("tool") {
                step.insert("toolId".to_owned(), Value::String(seed_id("tool", &key).to_string()));
            }
        }
    }
    let made = gifts.into_iter().map(|gift| {
        let draft: ProcessDraft = serde_json::from_value(gift).expect("a gift describes a process");
        Process::create(draft).expect("a gift is a process")
    });
    made.collect()
}
