//! `skein-bench locomo DATA OUT`: how many of the turns that answer a question are found, through the product itself.
//!
//! Each sample is a user of its own, its two speakers are actors, each session is a conversation at its date. What was said is
//! ingested by the workers and asked for through the engine's recall with default options, without a language model. OUT gets
//! the rankings, best first, by question; what is printed is recall: of the turns named as evidence, the part among the first k,
//! averaged over the questions that name any.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Map, Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::account::{Role, Scope};
use skein_core::catalog::entry::Entry as _;
use skein_core::garden::project::Project;
use skein_core::tree::actor::{Actor, ActorId, AuthorType};
use skein_core::tree::conversation::Conversation;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, Digest, Millis, NodeId, PathId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::memory::{RecallQuery, Weights};
use skein_engine::{Caller, Engine, KeyText, Worker};
use skein_store::blobs::Blobs;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};
use skein_store::{Location, Store, StoreOptions, Tx};

use crate::appends::two_threads;

const CUTS: [usize; 4] = [5, 10, 25, 50];
/// Questions of this category have no answer; their evidence is where the trap is laid.
const UNANSWERABLE: u64 = 5;
const NONE: Weights = Weights { words: 0.0, likeness: 0.0, meaning: 0.0, speaker: 0.0, neighbours: 0.0 };

/// A sample that was told to Skein.
struct IngestedSample {
    caller: Caller,
    /// What the data calls each turn.
    names: HashMap<NodeId, String>,
}

/// Measures, prints the table and writes the rankings.
pub(crate) fn run(folder: &Path, data: &Path, out: &Path) -> Result<()> {
    two_threads()?.block_on(measure(folder, data, out))
}

async fn measure(folder: &Path, data: &Path, out: &Path) -> Result<()> {
    let samples: Value = serde_json::from_str(&std::fs::read_to_string(data).context("cannot read DATA")?)?;
    let samples = samples.as_array().context("DATA is a list of samples")?;
    let (engine, store) = open(folder).await?;
    let worker = Worker::start(engine.clone(), "locomo".to_owned());
    let mut told = Vec::new();
    for sample in samples {
        told.push(tell(&engine, &store, sample).await?);
    }
    let turns = told.iter().map(|told| told.names.len()).sum::<usize>();
    println!("{turns} turns of {} samples", told.len());
    let began = Instant::now();
    let (rankings, found) = ask_all(&engine, samples, &told, Weights::default()).await?;
    println!("{} questions with evidence, {:.1} ms each", found.len(), millis_each(began, found.len()));
    std::fs::write(out, serde_json::to_string(&rankings)?).context("cannot write OUT")?;
    println!("\n| found by | @5 | @10 | @25 | @50 | answerable @10 |\n| --- | --: | --: | --: | --: | --: |");
    for (name, weights) in legs() {
        let (_, found) = ask_all(&engine, samples, &told, weights).await?;
        println!("| {name} | {} |", row(&found));
    }
    println!("| these and the speaker who is named: the default | {} |", row(&found));
    worker.stop(Duration::ZERO).await;
    Ok(())
}

fn millis_each(began: Instant, count: usize) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0 / number(count.max(1))
}

async fn open(folder: &Path) -> Result<(Engine, Store)> {
    let store = Store::open(StoreOptions::at(Location::Directory(folder.to_owned())))?;
    let gateway = Gateway::new(Box::new(EphemeralKeys::draw()?), Guard::default(), HttpOptions::default());
    let engine =
        Engine::new(store.clone(), Blobs::directory(&folder.join("blobs"))?, gateway.map_err(anyhow::Error::msg)?);
    engine.remember_in(folder.join("index"));
    engine.prepare().await?;
    Ok((engine, store))
}

fn legs() -> [(&'static str, Weights); 5] {
    let all = Weights::default();
    [
        ("words", Weights { words: all.words, ..NONE }),
        ("meaning, and words that are alike", Weights { meaning: all.meaning, likeness: all.likeness, ..NONE }),
        ("words and neighbours", Weights { words: all.words, neighbours: all.neighbours, ..NONE }),
        ("words, meaning, words that are alike", Weights { neighbours: 0.0, speaker: 0.0, ..all }),
        ("these and neighbours", Weights { speaker: 0.0, ..all }),
    ]
}

/// Makes a user of a sample and says everything that was said in it.
async fn tell(engine: &Engine, store: &Store, sample: &Value) -> Result<IngestedSample> {
    let name = text(&sample["sample_id"])?.to_owned();
    let create = move |tx: &mut Tx<'_>| tx.create_user(&Viewer::System("locomo"), &name, Role::User);
    let viewer = Viewer::User(store.write(create).await?.value);
    let (key, own) = (KeyText::draw(), viewer.clone());
    let hash = Digest::of(key.reveal().as_bytes());
    store.write(move |tx| tx.create_key(&own, "locomo", Scope::Write, hash)).await?;
    let caller = engine.authenticate(&PresentedCredential::Key(key), None).await?;
    let spoken = &sample["conversation"];
    let mut actors = HashMap::new();
    for who in ["speaker_a", "speaker_b"] {
        let name = text(&spoken[who])?.to_owned();
        let draft = serde_json::from_value(json!({ "name": name, "type": "human" }))?;
        let content = Actor::create(draft)?.to_content(false);
        let own = viewer.clone();
        let actor = store.write(move |tx| tx.create_of_tree(&own, content.clone())).await?.value.id;
        actors.insert(name, ActorId::from_bytes(*actor.as_bytes()));
    }
    let mut names = HashMap::new();
    for session in 1.. {
        let Some(turns) = spoken[format!("session_{session}")].as_array() else {
            if session > 100 {
                break;
            }
            continue;
        };
        let at = moment(text(&spoken[format!("session_{session}_date_time")])?)?;
        tell_session(store, &viewer, &actors, (at, turns), &mut names).await?;
    }
    Ok(IngestedSample { caller, names })
}

async fn tell_session(
    store: &Store,
    viewer: &Viewer,
    actors: &HashMap<String, ActorId>,
    (at, turns): (Millis, &[Value]),
    names: &mut HashMap<NodeId, String>,
) -> Result<()> {
    let own = viewer.clone();
    let project = Project::create(serde_json::from_value(json!({ "name": format!("of {at}") }))?).to_content(false);
    let begin = move |tx: &mut Tx<'_>| {
        let project = tx.create_of_tree(&own, project.clone())?.id;
        let draft =
            serde_json::from_value(json!({})).map_err(|error| skein_store::StoreError::Damaged(error.to_string()))?;
        let content = Conversation::create(draft, None).to_content(false);
        let record = tx.create_conversation(&own, content, project, ActorId::from(own.owner()))?;
        Ok(ConversationId::from_bytes(*record.id.as_bytes()))
    };
    let conversation = store.write(begin).await?.value;
    let mut parent = None;
    for turn in turns {
        let caption = turn["blip_caption"].as_str().map(|caption| format!("\n{caption}")).unwrap_or_default();
        let words = format!("{}{caption}", text(&turn["text"])?);
        let author = *actors.get(text(&turn["speaker"])?).context("nobody of that name speaks")?;
        let placing = NodePlacement {
            conversation,
            position: NodePosition::After { parent, speaker: Speaker::User, turn_type: TurnType::Message },
            author,
            author_type: AuthorType::Human,
            sources: Vec::new(),
            executed_by: None,
            leads: Some(PathId::main_of(conversation)),
        };
        let said = NodeBody { content: json!({ "type": "text", "text": words }), created_at: Some(at), raw: None };
        let own = viewer.clone();
        let node = store.write(move |tx| tx.append_node(&own, &placing, &said)).await?.value.0.id;
        names.insert(node, text(&turn["dia_id"])?.to_owned());
        parent = Some(node);
    }
    Ok(())
}

/// The category of each question with evidence, and the part of the evidence found by each cut.
type Rankings = Vec<(u64, [f64; 4])>;

async fn ask_all(
    engine: &Engine,
    samples: &[Value],
    told: &[IngestedSample],
    weights: Weights,
) -> Result<(Value, Rankings)> {
    let (mut rankings, mut found) = (Map::new(), Vec::new());
    for (sample, told) in samples.iter().zip(told) {
        let known: HashSet<&str> = told.names.values().map(String::as_str).collect();
        let mut ranked = Map::new();
        for (number, asked) in sample["qa"].as_array().context("a sample has questions")?.iter().enumerate() {
            let ranking = ask(engine, told, text(&asked["question"])?, weights).await?;
            let evidence: HashSet<String> =
                evidence(&asked["evidence"]).into_iter().filter(|name| known.contains(name.as_str())).collect();
            if !evidence.is_empty() {
                let part = |cut: usize| {
                    let hits = ranking.iter().take(cut).filter(|name| evidence.contains(*name));
                    self::number(hits.count()) / self::number(evidence.len())
                };
                found.push((asked["category"].as_u64().unwrap_or_default(), CUTS.map(part)));
            }
            ranked.insert(number.to_string(), json!(ranking));
        }
        rankings.insert(text(&sample["sample_id"])?.to_owned(), Value::Object(ranked));
    }
    Ok((Value::Object(rankings), found))
}

async fn ask(engine: &Engine, told: &IngestedSample, question: &str, weights: Weights) -> Result<Vec<String>> {
    let query = RecallQuery { text: question.to_owned(), limit: CUTS[3], weights, ..RecallQuery::default() };
    let recalled = engine.recall_now(&told.caller, query).await?;
    let nodes = recalled.page.rows.iter().filter_map(|found| found.episode.place).map(|place| place.node);
    Ok(nodes.filter_map(|node| told.names.get(&node).cloned()).collect())
}

/// The names of turns; some are written as `D8:6; D9:17`, `D30:05` or `D:11:26`.
fn evidence(listed: &Value) -> HashSet<String> {
    let texts = listed.as_array().into_iter().flatten().filter_map(Value::as_str);
    let names = texts.flat_map(|text| text.split([';', ',', ' '])).filter_map(|name| {
        let (session, turn) = name.strip_prefix('D')?.trim_start_matches(':').split_once(':')?;
        Some(format!("D{}:{}", session.parse::<u32>().ok()?, turn.parse::<u32>().ok()?))
    });
    names.collect()
}

fn row(found: &Rankings) -> String {
    let all = mean(found.iter().map(|(_, recall)| recall));
    let answerable = found.iter().filter(|(category, _)| *category != UNANSWERABLE);
    let [_, answered, ..] = mean(answerable.map(|(_, recall)| recall));
    format!("{} | {answered:.1}", all.map(|recall| format!("{recall:.1}")).join(" | "))
}

/// In percent.
fn mean<'a>(recalls: impl Iterator<Item = &'a [f64; 4]>) -> [f64; 4] {
    let (sums, count) = recalls.fold(([0.0; 4], 0), |(sums, count), recall| {
        (std::array::from_fn(|place| sums[place] + recall[place]), count + 1)
    });
    sums.map(|sum: f64| 100.0 * sum / number(count))
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| anyhow!("{value} is not a text"))
}

/// `1:56 pm on 8 May, 2023`; only the day matters.
fn moment(text: &str) -> Result<Millis> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let date = text.split_once(" on ").map(|(_, date)| date);
    let words: Vec<&str> =
        date.into_iter().flat_map(|date| date.split([' ', ','])).filter(|word| !word.is_empty()).collect();
    let [day, month, year] = words[..] else { return Err(anyhow!("{text} is not a date")) };
    let month = MONTHS.iter().position(|name| *name == month).with_context(|| format!("{month} is no month"))? + 1;
    Ok(format!("{year}-{month:02}-{day:0>2}T12:00:00.000Z").parse()?)
}
