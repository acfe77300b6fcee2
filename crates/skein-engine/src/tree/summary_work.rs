//! Summaries made in the background: what grew becomes a job, and a job a batch of summaries.
//!
//! A job names a conversation and the first node that may lack a summary. Doing it twice makes nothing twice.

use std::time::Duration;

use serde_json::{Value, json};
use skein_core::setting::SUMMARY_TREE_NODES;
use skein_core::tree::summary::{Occasion, is_tree_due};
use skein_core::{ConversationId, NodeId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::tree::gather::UNSUMMARISED_MAX;
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::request::referred;
use crate::tree::summaries::{Subject, kept, make};

const QUEUE: &str = "summaries";
const LEASE_MS: i64 = 60_000;
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RETRY_AFTER_MS: i64 = 60_000;
/// How often a job is tried before a person has to look.
const ATTEMPTS_MAX: i64 = 5;
const SYSTEM: Viewer = Viewer::System("summaries");

/// Turns growth into jobs and carries jobs out, for as long as it is polled.
pub(crate) async fn work(engine: Engine, name: String) {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        queue_growth(&engine).await;
        loop {
            match engine.parts().store.claim_job(QUEUE, &name, LEASE_MS).await {
                Ok(Some(job)) => carry_out(&engine, job).await,
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, "could not look for summaries to make");
                    break;
                }
            }
        }
    }
}

/// Puts a job on the queue for every conversation that grew.
pub(super) async fn queue_growth(engine: &Engine) {
    for ((owner, conversation), from) in engine.parts().growth.take() {
        let queued = engine.parts().store.write(move |tx| enqueue(tx, &Viewer::User(owner), conversation, from));
        if let Err(error) = queued.await {
            tracing::debug!(%error, %conversation, "summaries will be made when they are asked for");
        }
    }
}

fn enqueue(tx: &mut Tx<'_>, owner: &Viewer, conversation: ConversationId, from: NodeId) -> Result<(), StoreError> {
    let payload = json!({ "conversation": conversation, "from": from }).to_string();
    tx.enqueue(owner, &JobDraft::new(QUEUE, payload)).map(drop)
}

async fn carry_out(engine: &Engine, job: Job) {
    let payload: Value = serde_json::from_str(&job.payload).unwrap_or_default();
    let (conversation, from) = (referred(&payload, "conversation"), referred(&payload, "from"));
    let done = match (conversation, from) {
        (Ok(conversation), Ok(from)) => summarise(engine, &job, conversation, from).await,
        _ => Err(StoreError::Damaged("the payload of a job cannot be read".to_owned())),
    };
    let Err(error) = done else { return };
    tracing::debug!(%error, job = %job.id, "summaries could not be made");
    let words = error.to_string();
    let failed = engine.parts().store.write(move |tx| {
        let retry = AfterFailure::RetryAt(tx.now().plus(RETRY_AFTER_MS));
        let then = if job.attempts < ATTEMPTS_MAX { retry } else { AfterFailure::Bury };
        tx.fail_job(&SYSTEM, &job, &words, then)
    });
    // Whoever took it over has it now.
    let _ = failed.await;
}

/// Summarises a batch of nodes, each in a transaction of its own, then the tree if it is due.
async fn summarise(engine: &Engine, job: &Job, conversation: ConversationId, from: NodeId) -> Result<(), StoreError> {
    let owner = Viewer::User(job.owner);
    let store = &engine.parts().store;
    let viewer = owner.clone();
    let waiting = store.read(move |tx| tx.unsummarised(&viewer, conversation, from)).await?;
    for node in &waiting {
        let (viewer, subject) = (owner.clone(), Subject::Node(*node));
        store.write(move |tx| make_missing(tx, &viewer, subject)).await?;
    }
    let every = engine.setting(SUMMARY_TREE_NODES.name).await.map(|state| state.value);
    let every = u64::try_from(every.unwrap_or(SUMMARY_TREE_NODES.default)).unwrap_or(1);
    let (job, last) = (job.clone(), waiting.last().copied().filter(|_| waiting.len() == UNSUMMARISED_MAX));
    store.write(move |tx| end(tx, &owner, &job, conversation, last, every)).await.map(drop)
}

fn make_missing(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<(), StoreError> {
    if kept(tx, viewer, subject)?.is_some() { Ok(()) } else { make(tx, viewer, subject) }
}

/// Takes the job off the queue; what is left goes on as another.
fn end(
    tx: &mut Tx<'_>,
    owner: &Viewer,
    job: &Job,
    conversation: ConversationId,
    last: Option<NodeId>,
    every: u64,
) -> Result<(), StoreError> {
    tx.complete_job(&SYSTEM, job)?;
    if let Some(last) = last {
        return enqueue(tx, owner, conversation, last);
    }
    let nodes = tx.conversation(owner, conversation)?.nodes;
    let before = tx.summary(owner, conversation, None)?.map_or(0, |summary| summary.nodes);
    let grown = u64::try_from(nodes - before).unwrap_or_default();
    if is_tree_due(Occasion::Grown, grown, every) { make(tx, owner, Subject::Tree(conversation)) } else { Ok(()) }
}
