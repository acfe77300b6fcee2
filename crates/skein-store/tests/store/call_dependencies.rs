//! Tests that call dependencies are read in one statement, and that deferred statements run before any read of their
//! rows.

use serde_json::json;
use skein_core::garden::record::Record;
use skein_core::{RecordId, Viewer};
use skein_store::flow::call_dependencies::{CallDependency, RecordRevision};
use skein_store::jobs::JobDraft;

use crate::catalog::{SYSTEM, delete, make, service, tool};
use crate::fixtures::{World, both, content};
use crate::vault::secret;

fn read(world: &World, executor: &Viewer, tool: RecordId, others: &[RecordId]) -> Vec<CallDependency> {
    let (executor, others) = (executor.owner(), others.to_vec());
    let mut found = world.read(move |tx| tx.call_dependencies(&SYSTEM, executor, tool, &others, |_| false));
    found.sort_by_key(|dependency| dependency.edition.id);
    found
}

fn find<'a>(found: &'a [CallDependency], record: &Record) -> &'a CallDependency {
    found.iter().find(|dependency| dependency.edition.id == record.id).unwrap()
}

both! {
    fn a_tool_is_read_with_all_it_stands_on(world: &World) {
        let below = make(world, &world.anna, service("weather"));
        let called = make(world, &world.anna, tool("forecast", below.id));
        let key = secret(world, b"sealed");
        let bound = content("SecretBinding", json!({ "toolId": called.id.to_string(), "secretId": key.id.to_string() }));
        let binding = make(world, &world.anna, bound);
        let id = called.id;
        world.write(move |tx| tx.set_health(&SYSTEM, id, "degraded", None, None));
        let found = read(world, &world.anna, called.id, &[below.id, key.id]);
        assert_eq!(found.len(), 4);
        assert_eq!(find(&found, &called).record.as_ref(), Some(&called));
        assert_eq!(find(&found, &called).health.as_deref(), Some("degraded"));
        assert!(find(&found, &binding).is_binding && !find(&found, &called).is_binding);
        let sealed = find(&found, &key).sealed.clone().unwrap();
        assert_eq!((sealed.secret, sealed.value.ciphertext.as_slice()), (key.id, &b"sealed"[..]));
        assert!(find(&found, &below).sealed.is_none() && find(&found, &below).health.is_none());
        assert_eq!(read(world, &world.bert, called.id, &[below.id]).len(), 2, "a binding is its owner's");
        delete(world, &world.anna, binding.id).unwrap();
        assert_eq!(read(world, &world.anna, called.id, &[]).len(), 1);
    }

    fn what_is_known_is_not_read_again(world: &World) {
        let below = make(world, &world.anna, service("weather"));
        let called = make(world, &world.anna, tool("forecast", below.id));
        let alike = make(world, &world.bert, service("weather"));
        let (executor, id) = (world.anna.owner(), called.id);
        let known = RecordRevision { id, version: called.version, hash: called.hash };
        let others = [below.id, alike.id];
        let found = world.read(move |tx| tx.call_dependencies(&SYSTEM, executor, id, &others, |read| *read == known));
        assert!(find(&found, &called).record.is_none());
        assert_eq!(find(&found, &called).edition, known);
        assert_eq!(find(&found, &below).edition.hash, find(&found, &alike).edition.hash, "they say the same");
        assert_eq!(find(&found, &alike).record.as_ref(), Some(&alike), "and are not the same");
    }

    fn what_is_put_off_comes_before_whatever_could_tell(world: &World) {
        let (anna, holder) = (world.anna.clone(), world.store.holder("w", 1_000));
        world.write(move |tx| {
            let job = tx.enqueue_leased(&anna, &JobDraft::new("llm_call", "{}".into()), &holder)?;
            assert_eq!(tx.held_jobs(&SYSTEM, std::slice::from_ref(&job))?.len(), 1, "it is there");
            let job = tx.complete_and_enqueue(&SYSTEM, &job, &JobDraft::new("rest_call", "{}".into()), &holder)?;
            tx.hold_job(&SYSTEM, &job)?;
            tx.complete_job(&SYSTEM, &job)?;
            assert!(tx.held_jobs(&SYSTEM, std::slice::from_ref(&job))?.is_empty(), "it is gone");
            Ok(())
        });
    }
}
