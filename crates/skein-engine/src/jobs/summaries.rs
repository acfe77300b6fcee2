//! Summaries made in the background: what grew becomes a job, and a job a batch of summaries.
//!
//! A job names a conversation, the first node that may lack a summary, and what gave the occasion. Doing it twice makes
//! nothing twice. The built-in model writes a batch at once. A model that does not answer is not asked again in the same batch.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use skein_core::setting::SUMMARY_TREE_NODES;
use skein_core::tree::summary::{SummaryTrigger, is_tree_due};
use skein_core::{ConversationId, NodeId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::tree::tree_read::UNSUMMARISED_MAX;
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::flow::told;
use crate::request::referred;
use crate::tree::summaries::{ComposedSummary, Subject, make_missing};
use crate::tree::summary_input::{Material, drafts};

const QUEUE: &str = "summaries";
const LEASE_MS: i64 = 60_000;
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RETRY_AFTER_MS: i64 = 60_000;
/// Jobs carried out at once: a model that answers slowly does not keep the other conversations waiting.
const AT_ONCE_MAX: usize = 4;
/// How often a job is tried before a person has to look.
const ATTEMPTS_MAX: i64 = 5;
const SYSTEM: Viewer = Viewer::System("summaries");
/// After every node.
const LAST: NodeId = NodeId::from_bytes([255; 16]);

/// Turns growth into jobs and carries jobs out, for as long as it is polled.
pub(crate) async fn work(engine: Engine, name: String) {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        queue_growth(&engine).await;
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < AT_ONCE_MAX
                && let Some(job) = next_job(&engine, &name).await
            {
                under_way.push(carry_out(&engine, job));
            }
            if under_way.next().await.is_none() {
                break;
            }
        }
    }
}

async fn next_job(engine: &Engine, name: &str) -> Option<Job> {
    match engine.parts().store.claim_job(QUEUE, name, LEASE_MS).await {
        Ok(job) => job,
        Err(error) => {
            tracing::debug!(%error, "could not look for summaries to make");
            None
        }
    }
}

/// Puts a job on the queue for every conversation that grew.
pub(crate) async fn queue_growth(engine: &Engine) {
    for ((owner, conversation), from) in engine.parts().growth.take(Instant::now()) {
        let queued = engine.parts().store.write(move |tx| enqueue(tx, &Viewer::User(owner), conversation, from));
        if let Err(error) = queued.await {
            tracing::debug!(%error, %conversation, "summaries will be made when they are asked for");
        }
    }
}

fn enqueue(tx: &mut Tx<'_>, owner: &Viewer, conversation: ConversationId, from: NodeId) -> Result<(), StoreError> {
    queue(tx, owner, &json!({ "conversation": conversation, "from": from }))
}

/// Has the summary of a tree renewed because it was closed (rule AG-SUM-004).
pub(crate) fn enqueue_closed(tx: &mut Tx<'_>, owner: &Viewer, conversation: ConversationId) -> Result<(), StoreError> {
    queue(tx, owner, &json!({ "conversation": conversation, "from": LAST, "closed": true }))
}

fn queue(tx: &mut Tx<'_>, owner: &Viewer, payload: &Value) -> Result<(), StoreError> {
    tx.enqueue(owner, &JobDraft::new(QUEUE, payload.to_string())).map(drop)
}

async fn carry_out(engine: &Engine, job: Job) {
    let payload: Value = serde_json::from_str(&job.payload).unwrap_or_default();
    let (conversation, from) = (referred(&payload, "conversation"), referred(&payload, "from"));
    let done = match (conversation, from) {
        (Ok(conversation), Ok(from)) => {
            let occasion = if payload["closed"] == true { SummaryTrigger::Closed } else { SummaryTrigger::Grown };
            summarise(engine, &job, conversation, from, occasion).await
        }
        _ => Err(StoreError::Damaged("the payload of a job cannot be read".to_owned())),
    };
    let Err(error) = done else { return };
    tracing::debug!(%error, job = %job.id, "summaries could not be made");
    let words = told(&error);
    let failed = engine.parts().store.write(move |tx| {
        let retry = AfterFailure::RetryAt(tx.now().plus(RETRY_AFTER_MS));
        let then = if job.attempts < ATTEMPTS_MAX { retry } else { AfterFailure::Bury };
        tx.fail_job(&SYSTEM, &job, &words, then)
    });
    // Another worker may have taken it over.
    let _ = failed.await;
}

/// Summarises a batch of nodes, then the tree if it is due.
async fn summarise(
    engine: &Engine,
    job: &Job,
    conversation: ConversationId,
    from: NodeId,
    occasion: SummaryTrigger,
) -> Result<(), StoreError> {
    let owner = Viewer::User(job.owner);
    let store = &engine.parts().store;
    let viewer = owner.clone();
    let waiting = store.read(move |tx| tx.unsummarised(&viewer, conversation, from)).await?;
    let is_answered = if engine.summary_tool().await.is_some() {
        ask_about_nodes(engine, job, &waiting).await?
    } else {
        quote_nodes(engine, job, conversation, waiting.clone()).await?;
        true
    };
    if let Some(last) = waiting.last().copied().filter(|_| waiting.len() == UNSUMMARISED_MAX) {
        let job = job.clone();
        let hand_on = move |tx: &mut Tx<'_>| {
            tx.complete_job(&SYSTEM, &job)?;
            enqueue(tx, &owner, conversation, last)
        };
        return store.write(hand_on).await.map(drop);
    }
    summarise_tree(engine, job, conversation, occasion, is_answered).await
}

/// Keeps what the built-in model writes of these nodes. It is written before the transaction that keeps it: a transaction that
/// read whole messages would collide with everybody who writes in the conversation.
async fn quote_nodes(
    engine: &Engine,
    job: &Job,
    conversation: ConversationId,
    nodes: Vec<NodeId>,
) -> Result<(), StoreError> {
    if nodes.is_empty() {
        return Ok(());
    }
    let owner = Viewer::User(job.owner);
    let (store, viewer) = (&engine.parts().store, owner.clone());
    let drafts = store.read(move |tx| drafts(tx, &viewer, conversation, &nodes)).await?;
    let held = job.clone();
    let keep = move |tx: &mut Tx<'_>| {
        tx.keep_missing_summaries(&owner, conversation, &drafts)?;
        tx.heartbeat(&SYSTEM, &held, LEASE_MS)
    };
    store.write(keep).await.map(drop)
}

/// Asks the model that is set about each of these nodes, until it does not answer; says whether it did. Each is kept at once.
async fn ask_about_nodes(engine: &Engine, job: &Job, nodes: &[NodeId]) -> Result<bool, StoreError> {
    let owner = Viewer::User(job.owner);
    let mut is_answered = true;
    for node in nodes {
        let (viewer, subject, held) = (owner.clone(), Subject::Node(*node), job.clone());
        let composed = composed(engine, &owner, subject, is_answered).await;
        is_answered = composed.is_answered();
        let keep = move |tx: &mut Tx<'_>| {
            make_missing(tx, &viewer, subject, &composed)?;
            tx.heartbeat(&SYSTEM, &held, LEASE_MS)
        };
        engine.parts().store.write(keep).await?;
    }
    Ok(is_answered)
}

/// Renews the summary of a tree if it is due, and ends the job.
async fn summarise_tree(
    engine: &Engine,
    job: &Job,
    conversation: ConversationId,
    occasion: SummaryTrigger,
    is_answered: bool,
) -> Result<(), StoreError> {
    let (store, owner, job) = (&engine.parts().store, Viewer::User(job.owner), job.clone());
    let every = u64::try_from(engine.number(&SUMMARY_TREE_NODES).await).unwrap_or(1);
    let subject = Subject::Tree(conversation);
    let viewer = owner.clone();
    let look = move |tx: &mut Tx<'_>| {
        let is_due = is_due(tx, &viewer, conversation, occasion, every)?;
        is_due.then(|| Material::of(tx, &viewer, subject)).transpose()
    };
    let Some(material) = store.read(look).await? else {
        return store.write(move |tx| tx.complete_job(&SYSTEM, &job)).await.map(drop);
    };
    let composed = composed(engine, &owner, subject, is_answered).await;
    let draft = material.and_then(Material::draft);
    let end = move |tx: &mut Tx<'_>| {
        tx.complete_job(&SYSTEM, &job)?;
        // Another job may have made it meanwhile.
        if !is_due(tx, &owner, conversation, occasion, every)? {
            return composed.conclude(tx, None);
        }
        composed.keep_or(tx, &owner, draft.as_ref())
    };
    store.write(end).await.map(drop)
}

/// What the model that is set says, unless it did not answer just before.
async fn composed(engine: &Engine, owner: &Viewer, subject: Subject, is_asked: bool) -> ComposedSummary {
    if is_asked { engine.compose(owner, subject).await } else { ComposedSummary::default() }
}

fn is_due(
    tx: &mut Tx<'_>,
    owner: &Viewer,
    conversation: ConversationId,
    occasion: SummaryTrigger,
    every: u64,
) -> Result<bool, StoreError> {
    let nodes = tx.conversation(owner, conversation)?.nodes;
    let before = tx.summary(owner, conversation, None)?.map_or(0, |summary| summary.nodes);
    Ok(is_tree_due(occasion, u64::try_from(nodes - before).unwrap_or_default(), every))
}
