//! Creates the built-in services, templates and tools of every installation; they are shared and owned by nobody.
//!
//! Each has an id that follows from its key, the same everywhere, so that what refers to it keeps its meaning when it
//! moves to another installation. Planting is idempotent: what is there is left as it is, unless what Skein brings along
//! has changed since.

use std::sync::Arc;

use serde_json::{Map, Value};
use skein_core::catalog::entry::Entry;
use skein_core::catalog::service::{Builtin, Service, ServiceDraft};
use skein_core::catalog::template::{ServiceTemplate, ServiceTemplateDraft, ToolTemplate, ToolTemplateDraft};
use skein_core::catalog::tool::{Tool, ToolDraft};
use skein_core::garden::record::{Act, RecordContent};
use skein_core::{Digest, RecordId};
use skein_store::{StoreError, Tx};

use crate::catalog::SYSTEM;
use crate::engine::Engine;
use crate::error::EngineError;

const SEEDS: &str = include_str!("builtin_catalog.json");

/// Something to plant: where it goes and what it says.
struct Seed {
    id: RecordId,
    content: RecordContent,
}

impl Engine {
    /// Plants what is missing.
    pub async fn plant_seeds(&self) -> Result<(), EngineError> {
        // Judging them takes a while, and nobody waits for that in a transaction.
        let seeds = Arc::new(seeds());
        let looked = Arc::clone(&seeds);
        let is_complete = self
            .parts()
            .store
            .read(move |tx| looked.iter().try_fold(true, |is_complete, seed| Ok(is_complete && seed.is_planted(tx)?)));
        if !is_complete.await? {
            self.parts().store.write(move |tx| seeds.iter().try_for_each(|seed| seed.plant(tx))).await?;
        }
        Ok(())
    }
}

impl Seed {
    fn is_planted(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        match tx.record(&SYSTEM, self.id) {
            Ok(current) => Ok(current.content == self.content),
            Err(StoreError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn plant(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let content = self.content.clone();
        match tx.record(&SYSTEM, self.id) {
            Ok(current) => tx.update_entry(&SYSTEM, self.id, current.hash, content, Act::Plain, None).map(drop),
            Err(StoreError::NotFound(_)) => tx.create_entry_as(&SYSTEM, self.id, content, None).map(drop),
            Err(error) => Err(error),
        }
    }
}

/// Where a seed of a kind is planted: ids of the first millisecond, so that they never meet a drawn one.
pub(crate) fn id(kind: &str, key: &str) -> RecordId {
    let digest = Digest::of(format!("skein {kind} {key}").as_bytes());
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&digest.0[..10]);
    RecordId::from_bytes(bytes)
}

/// Everything that is brought along, services before the tools that stand on them.
fn seeds() -> Vec<Seed> {
    let all: Map<String, Value> = serde_json::from_str(SEEDS).expect("the seeds are JSON");
    let of = |group: &str| all[group].as_array().cloned().unwrap_or_default();
    let mut seeds = Vec::new();
    for seed in of("services") {
        seeds.push(service(seed));
    }
    for mut seed in of("serviceTemplates") {
        let id = id("service template", &taken(&mut seed, "key"));
        let draft: ServiceTemplateDraft = read(seed);
        seeds.push(shared(id, &ServiceTemplate::create(draft).expect("the seed is a template")));
    }
    for mut seed in of("toolTemplates") {
        let id = id("tool template", &taken(&mut seed, "key"));
        let draft: ToolTemplateDraft = read(seed);
        seeds.push(shared(id, &ToolTemplate::create(draft).expect("the seed is a template")));
    }
    for seed in of("tools") {
        seeds.push(tool(seed, &seeds));
    }
    seeds
}

fn service(mut seed: Value) -> Seed {
    let id = id("service", &taken(&mut seed, "key"));
    let builtin: Option<Builtin> = seed.as_object_mut().and_then(|seed| seed.remove("builtin")).map(read);
    let draft: ServiceDraft = read(seed);
    let service = match builtin {
        Some(builtin) => Service::create_builtin(draft, builtin),
        None => Service::create(draft),
    };
    shared(id, &service.expect("the seed is a service"))
}

fn tool(mut seed: Value, planted: &[Seed]) -> Seed {
    let id_of_tool = id("tool", &taken(&mut seed, "key"));
    let service_id = id("service", &taken(&mut seed, "service"));
    seed["serviceId"] = Value::String(service_id.to_string());
    let draft: ToolDraft = read(seed);
    let service = planted.iter().find(|seed| seed.id == service_id).expect("the seed's service is a seed");
    let owned = skein_core::catalog::entry::OwnedEntry {
        id: service_id,
        owner: SYSTEM.owner(),
        shared: true,
        entry: Service::from_data(&service.content.data).expect("the seed is a service"),
    };
    shared(id_of_tool, &Tool::create(draft, SYSTEM.owner(), &owned, None).expect("the seed is a tool"))
}

fn shared<T: Entry>(id: RecordId, entry: &T) -> Seed {
    Seed { id, content: entry.to_content(true) }
}

fn taken(seed: &mut Value, name: &str) -> String {
    let value = seed.as_object_mut().and_then(|seed| seed.remove(name));
    value.as_ref().and_then(Value::as_str).expect("the seed has a key").to_owned()
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the seed fits its kind")
}
