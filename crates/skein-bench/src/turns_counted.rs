//! Counts what a turn takes on PostgreSQL: statements, and transactions that collided and were run again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use serde_json::json;
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::tree::conversation::ConversationDraft;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::tree::NewTurn;
use skein_engine::{Caller, Engine, KeyText, Request};
use skein_store::blobs::Blobs;
use skein_store::store::Statistics;
use skein_store::{Location, Store, StoreOptions};
use tokio::task::JoinSet;

use crate::Setting;
use crate::appends::{rate, two_threads};
use crate::client::uuid;
use crate::postgres::Server;
use crate::report::{Line, Target, Unit};

const WRITERS: usize = 16;
const TURNS_PER_WRITER: usize = 50;

/// What one turn took.
struct Counted {
    statements: f64,
    collisions: f64,
}

/// The figures of 16 writers in 16 conversations, then in one.
pub(crate) fn lines(setting: &Setting, databases: &Server) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (conversations, place) in [(WRITERS, "16 conversations"), (1, "one conversation")] {
        let (mut statements, mut collisions) = (Vec::new(), Vec::new());
        for _ in 0..setting.rounds {
            let database = databases.fresh_database("skein_bench_turns")?;
            let counted =
                two_threads()?.block_on(count(&database, &setting.folder.make("turns_counted")?, conversations))?;
            statements.push(counted.statements);
            collisions.push(counted.collisions);
        }
        let what = |of: &str| format!("postgres: {of} per turn, 16 writers in {place}");
        lines.push(Line::limited(&what("statements"), Unit::Each, &statements, Target::None));
        lines.push(Line::limited(&what("collisions"), Unit::Each, &collisions, Target::None));
    }
    Ok(lines)
}

async fn count(database: &str, directory: &Path, conversations: usize) -> Result<Counted> {
    let store = Store::open(StoreOptions::at(Location::Postgres(database.to_owned())))?;
    let gateway = Gateway::new(Box::new(EphemeralKeys::draw()?), Guard::default(), HttpOptions::default())
        .map_err(anyhow::Error::msg)?;
    let engine = Engine::new(store, Blobs::directory(&directory.join("blobs"))?, gateway);
    engine.prepare().await?;
    let key = KeyText::draw();
    engine.admit_start_key(&key).await?;
    let caller = Arc::new(engine.authenticate(&PresentedCredential::Key(key), None).await?);
    let mut places = Vec::new();
    for _ in 0..conversations {
        let made = engine.create_conversation(&caller, request(&caller)?, ConversationDraft::default()).await?;
        let id = made.value.row.id;
        places.push((id, say(&engine, &caller, id, None).await?));
    }
    // What is prepared once for each connection is not counted.
    write(&engine, &caller, &places, 1).await?;
    let before = engine.statistics();
    write(&engine, &caller, &places, TURNS_PER_WRITER).await?;
    Ok(per_turn(before, engine.statistics()))
}

fn per_turn(before: Statistics, after: Statistics) -> Counted {
    let turns = rate(WRITERS * TURNS_PER_WRITER, 1.0);
    let each = |before: u64, after: u64| rate(usize::try_from(after - before).unwrap_or(usize::MAX), turns);
    Counted {
        statements: each(before.statements, after.statements),
        collisions: each(before.collisions, after.collisions),
    }
}

/// So many turns of every writer, each after its own last one.
async fn write(engine: &Engine, caller: &Arc<Caller>, places: &[(ConversationId, NodeId)], turns: usize) -> Result<()> {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (engine, caller, (id, mut parent)) = (engine.clone(), Arc::clone(caller), places[writer % places.len()]);
        writers.spawn(async move {
            for _ in 0..turns {
                parent = say(&engine, &caller, id, Some(parent)).await?;
            }
            Ok(())
        });
    }
    writers.join_all().await.into_iter().collect()
}

async fn say(engine: &Engine, caller: &Caller, id: ConversationId, parent: Option<NodeId>) -> Result<NodeId> {
    let new = NewTurn {
        parent,
        parent_turn: None,
        speaker: Speaker::User,
        turn_type: None,
        content: json!({ "type": "text", "text": "something to be said" }),
        sources: Vec::new(),
        make_active: true,
        process: None,
    };
    Ok(engine.append_turn(caller, request(caller)?, id, new).await?.value.node.seen.row.id)
}

fn request(caller: &Caller) -> Result<Request> {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = uuid(u128::from(DRAWN.fetch_add(1, Ordering::Relaxed))).parse()?;
    Ok(Request::new(caller, &key, "POST", "/bench", b""))
}
