//! A conversation as a whole: its skeleton, from the store and over HTTP, and proving it unaltered.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use skein_core::tree::verify::Verdict;
use skein_core::{ConversationId, NodeId, UserId};
use skein_store::tree::proof::PROOFS_PER_PIECE_MAX;

use crate::appends::{rate, two_threads};
use crate::client::{self, Connection};
use crate::comparison::Comparison;
use crate::notes::OWNER;
use crate::process::{Server, create_key, skein};
use crate::report::{Line, Target, Unit, grouped};
use crate::tree_fixture::Tree;
use crate::{Setting, tree_bare};

const SKELETON_MS_MAX: f64 = 300.0;
const SHARE: f64 = 0.5;
const MEASURED_PER_ROUND: u32 = 4;

/// A directory that can be served, and to whom it belongs.
pub(crate) struct Served {
    pub(crate) directory: PathBuf,
    pub(crate) owner: UserId,
    door: Option<ApiClient>,
}

struct ApiClient {
    program: PathBuf,
    key: String,
}

impl Served {
    /// Asks a server that is started for this alone who the owner of the key is.
    pub(crate) fn prepare(directory: PathBuf) -> Result<Self> {
        let Some(program) = skein()? else { return Ok(Self { directory, owner: OWNER, door: None }) };
        let server = Server::skein(&program, &directory)?;
        let key = create_key(&program, &directory)?;
        let owner = two_threads()?.block_on(async {
            let mut connection = Connection::open(&server.address).await?;
            let account = connection.ask(&client::get(&server.address, "/api/v1/account", &key), "200").await?;
            let account: Value = serde_json::from_slice(account).context("the answer is not JSON")?;
            let id = account["user"]["id"].as_str().context("an account has an id")?;
            Ok::<UserId, anyhow::Error>(id.parse()?)
        })?;
        server.stop()?;
        Ok(Self { directory, owner, door: Some(ApiClient { program, key }) })
    }
}

pub(crate) fn measure(setting: &Setting, tree: Tree, served: &Served) -> Result<Vec<Line>> {
    let (id, count) = (tree.id, tree.nodes.len());
    let size = grouped(&count.to_string());
    let what = format!("conversation: skeleton of {size} nodes, from the store");
    let measured = (0..setting.rounds * MEASURED_PER_ROUND).map(|_| skeleton(&tree)).collect::<Result<Vec<f64>>>()?;
    let from_store = Line::limited(&what, Unit::Milliseconds, &measured, Target::None);
    let verified = verified(setting, &tree)?;
    // A server takes the directory for itself.
    drop(tree);
    let what = format!("conversation: skeleton of {size} nodes over HTTP, the whole reply");
    let over_http = match &served.door {
        None => Line::unavailable(&what, "no skein beside this program"),
        Some(door) => {
            let measured = door.skeletons(served, id, count, setting.rounds * MEASURED_PER_ROUND)?;
            Line::limited(&what, Unit::Milliseconds, &measured, Target::AtMost(SKELETON_MS_MAX))
        }
    };
    Ok(vec![from_store, over_http, verified])
}

impl ApiClient {
    /// Milliseconds from asking for a skeleton until its last byte, so many times.
    fn skeletons(&self, served: &Served, id: ConversationId, nodes: usize, times: u32) -> Result<Vec<f64>> {
        let running = Server::skein(&self.program, &served.directory)?;
        let request = client::get(&running.address, &format!("/api/v1/conversations/{id}/tree"), &self.key);
        let measured = two_threads()?.block_on(async {
            let mut connection = Connection::open(&running.address).await?;
            let mut measured = Vec::new();
            for _ in 0..times {
                let started = Instant::now();
                let reply = connection.ask(&request, "200").await?;
                measured.push(started.elapsed().as_secs_f64() * 1_000.0);
                let reply: Value = serde_json::from_slice(reply).context("the answer is not JSON")?;
                let is_whole = reply["nodes"]["createdAt"].as_array().is_some_and(|column| column.len() == nodes);
                ensure!(is_whole, "the skeleton is not whole");
            }
            Ok::<Vec<f64>, anyhow::Error>(measured)
        })?;
        running.stop()?;
        Ok(measured)
    }
}

/// Milliseconds for the skeleton of a tree.
fn skeleton(tree: &Tree) -> Result<f64> {
    let (viewer, path, id) = (tree.viewer(), tree.path(), tree.id);
    let started = Instant::now();
    let bones = tree.store.read_blocking(move |tx| tx.skeleton(&viewer, path, id))?;
    ensure!(bones.len() == tree.nodes.len(), "the skeleton is not whole");
    Ok(started.elapsed().as_secs_f64() * 1_000.0)
}

fn verified(setting: &Setting, tree: &Tree) -> Result<Line> {
    let sides = Comparison::alternate(
        setting.rounds,
        || judged(tree),
        || {
            let started = Instant::now();
            let nodes = tree_bare::hash_nodes(&tree.directory, tree.id)?;
            ensure!(nodes == tree.nodes.len(), "{nodes} nodes are unaltered");
            Ok(rate(nodes, started.elapsed().as_secs_f64()))
        },
    )?;
    let size = grouped(&tree.nodes.len().to_string());
    let what = format!("conversation: verify {size} nodes; bare: read the same rows and hash them");
    Ok(Line::compared(&what, Unit::PerSecond, &sides, Target::AtLeast(SHARE)))
}

/// Nodes judged per second, a piece at a time, as a server does it.
fn judged(tree: &Tree) -> Result<f64> {
    let (mut after, mut right) = (None::<NodeId>, 0);
    let started = Instant::now();
    loop {
        let (viewer, id) = (tree.viewer(), tree.id);
        let piece = tree.store.read_blocking(move |tx| tx.verify_tree(&viewer, id, after, PROOFS_PER_PIECE_MAX))?;
        let is_right = |verdict: &Option<Verdict>| matches!(verdict, Some(Verdict::Valid | Verdict::Imported));
        right += piece.iter().filter(|(_, verdict)| is_right(verdict)).count();
        after = piece.last().map(|(last, _)| *last);
        if piece.len() < PROOFS_PER_PIECE_MAX {
            break;
        }
    }
    let took = started.elapsed().as_secs_f64();
    ensure!(right == tree.nodes.len(), "{right} nodes were found unaltered");
    Ok(rate(right, took))
}
