//! How many of the turns that answer a question are found: `LoCoMo` conversations, no language model.
//!
//! `SKEIN_LOCOMO` names the data; arguments choose among the ways of finding. Each sample is an owner of its own, each session a conversation at its date. What is
//! told is recall: of the turns named as evidence, the part among the first k, averaged over the questions that name any.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use skein_core::garden::cursor::Cursor;
use skein_core::tree::place::Label;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, UserId};
use skein_recall::{Change, Episode, Index, Options, Place, Query, StaticTable, Weights, embedded_text};

const DATA: &str = "../shared/data/locomo-dev.json";
const CUTS: [usize; 4] = [5, 10, 25, 50];
const LEGS: [&str; 6] = ["words", "meaning", "words+neighbours", "words+meaning", "+neighbours", "all"];
/// Questions of this category have no answer; their evidence is where the trap is laid.
const UNANSWERABLE: u64 = 5;

type Names = HashMap<EpisodeId, String>;

fn main() {
    #[expect(clippy::disallowed_methods, reason = "where a developer's data is")]
    let path = std::env::var("SKEIN_LOCOMO").unwrap_or_else(|_| DATA.to_owned());
    let samples: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let samples = samples.as_array().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), &Options::of(&StaticTable)).unwrap();
    let mut names = Names::new();
    for (number, sample) in (1_u8..).zip(samples) {
        let owner = UserId::from_bytes([number; 16]);
        let episodes = episodes(owner, number, &sample["conversation"], &mut names);
        let changes: Vec<Change> = episodes.into_iter().map(|episode| Change::Upsert(Box::new(episode))).collect();
        index.apply(&changes, Cursor { tx: 0, position: i64::from(number) }).unwrap();
    }
    println!("{} turns", names.len());
    println!("| legs | @5 | @10 | @25 | @50 | answerable @10 | questions |");
    let asked: Vec<String> = std::env::args().skip(1).collect();
    for legs in LEGS.into_iter().filter(|legs| asked.is_empty() || asked.iter().any(|asked| asked == legs)) {
        let found = recalls(&index, samples, &names, weights(legs));
        let answerable = found.iter().filter(|(category, _)| *category != UNANSWERABLE);
        let cuts = mean(found.iter().map(|(_, recall)| recall)).map(|recall| format!("{recall:.1}")).join(" | ");
        let [_, answered, ..] = mean(answerable.map(|(_, recall)| recall));
        println!("| {legs} | {cuts} | {answered:.1} | {} |", found.len());
    }
}

/// For each question with evidence its category, and the part of the evidence found by each cut.
fn recalls(index: &Index, samples: &[Value], names: &Names, weights: Weights) -> Vec<(u64, [f64; 4])> {
    let mut found = Vec::new();
    for (number, sample) in (1_u8..).zip(samples) {
        for asked in sample["qa"].as_array().unwrap() {
            let evidence = evidence(&asked["evidence"]);
            if evidence.is_empty() {
                continue;
            }
            let text = asked["question"].as_str().unwrap();
            let mut query = Query::new(UserId::from_bytes([number; 16]), text);
            (query.limit, query.vector, query.weights) = (CUTS[3], StaticTable.vector(text), weights);
            let hits = index.search(&query).unwrap().hits;
            let part = |cut: usize| {
                let hit = hits.iter().take(cut).filter(|hit| evidence.contains(names[&hit.id].as_str()));
                number_of(hit.count()) / number_of(evidence.len())
            };
            found.push((asked["category"].as_u64().unwrap(), CUTS.map(part)));
        }
    }
    found
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

/// In percent.
fn mean<'a>(recalls: impl Iterator<Item = &'a [f64; 4]>) -> [f64; 4] {
    let (sums, count) = recalls.fold(([0.0; 4], 0), |(sums, count), recall| {
        (std::array::from_fn(|place| sums[place] + recall[place]), count + 1)
    });
    sums.map(|sum: f64| 100.0 * sum / number_of(count))
}

fn number_of(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

fn weights(legs: &str) -> Weights {
    let none = Weights { words: 0.0, likeness: 0.0, meaning: 0.0, speaker: 0.0, neighbours: 0.0 };
    let all = Weights::default();
    match legs {
        "words" => Weights { words: all.words, ..none },
        "meaning" => Weights { meaning: all.meaning, likeness: all.likeness, ..none },
        "words+meaning" => Weights { neighbours: 0.0, speaker: 0.0, ..all },
        "+neighbours" => Weights { speaker: 0.0, ..all },
        "words+neighbours" => Weights { words: all.words, neighbours: all.neighbours, ..none },
        _ => all,
    }
}

fn episodes(owner: UserId, number: u8, conversation: &Value, names: &mut Names) -> Vec<Episode> {
    let mut found = Vec::new();
    for session in 1_u8..100 {
        let Some(turns) = conversation[format!("session_{session}")].as_array() else { continue };
        let said_at = moment(conversation[format!("session_{session}_date_time")].as_str().unwrap());
        let mut previous = None;
        for (depth, turn) in (1_u8..).zip(turns) {
            let id = EpisodeId::from_bytes(std::array::from_fn(|place| [number, session, depth, 0][place.min(3)]));
            names.insert(id, turn["dia_id"].as_str().unwrap().to_owned());
            let speaker = turn["speaker"].as_str().unwrap().to_owned();
            let caption = turn["blip_caption"].as_str().map(|caption| format!("\n{caption}")).unwrap_or_default();
            let text = format!("{}{caption}", turn["text"].as_str().unwrap());
            let root = [number, session];
            let root: [u8; 16] = std::array::from_fn(|place| root[place.min(1)]);
            let label = Label { branch: NodeId::from_bytes(root), depth: i64::from(depth) };
            let place = Place { conversation: ConversationId::from_bytes(root), label };
            let vector = StaticTable.vector(&embedded_text(&speaker, &text));
            found.push(Episode {
                id,
                owner,
                place: Some(place),
                previous,
                actor: None,
                speaker,
                kind: "message".to_owned(),
                valid_at: said_at,
                created_at: said_at,
                text,
                vector,
            });
            previous = Some(id);
        }
    }
    found
}

/// `1:56 pm on 8 May, 2023`; only the day matters.
fn moment(text: &str) -> Millis {
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
    let (_, date) = text.split_once(" on ").unwrap();
    let words: Vec<&str> = date.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let month = MONTHS.iter().position(|month| *month == words[1]).unwrap() + 1;
    format!("{}-{month:02}-{:0>2}T12:00:00.000Z", words[2], words[0]).parse().unwrap()
}
