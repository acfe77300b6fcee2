//! Ranks the turns of LoCoMo conversations for their questions: `locomo DATA.json OUT.json [words|meaning|neighbours|all]`.
//!
//! Each sample is an owner of its own, each session a conversation at its date. The rankings are scored elsewhere.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde_json::Value;
use skein_core::garden::cursor::Cursor;
use skein_core::tree::place::Label;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, UserId};
use skein_recall::{Change, Episode, Index, Options, Place, Query, StaticTable, Weights, embedded_text};

const LIMIT: usize = 50;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let samples: Value = serde_json::from_str(&std::fs::read_to_string(&arguments[0]).unwrap()).unwrap();
    let weights = weights(arguments.get(2).map_or("all", String::as_str));
    let folder = PathBuf::from(format!("{}.index", arguments[1]));
    Index::remove(&folder).unwrap();
    let index = Index::open(&folder, &Options::of(&StaticTable)).unwrap();
    let mut names = HashMap::new();
    for (number, sample) in (1_u8..).zip(samples.as_array().unwrap()) {
        let owner = UserId::from_bytes([number; 16]);
        let episodes = episodes(owner, number, &sample["conversation"], &mut names);
        let changes: Vec<Change> = episodes.into_iter().map(|episode| Change::Upsert(Box::new(episode))).collect();
        index.apply(&changes, Cursor { tx: 0, position: i64::from(number) }).unwrap();
    }
    let mut rankings: BTreeMap<&str, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for (number, sample) in (1_u8..).zip(samples.as_array().unwrap()) {
        let answers = rankings.entry(sample["sample_id"].as_str().unwrap()).or_default();
        for (place, asked) in sample["qa"].as_array().unwrap().iter().enumerate() {
            let text = asked["question"].as_str().unwrap();
            let mut query = Query::new(UserId::from_bytes([number; 16]), text);
            (query.limit, query.vector, query.weights) = (LIMIT, StaticTable.vector(text), weights);
            let hits = index.search(&query).unwrap().hits;
            answers.insert(place.to_string(), hits.iter().map(|hit| names[&hit.id].as_str()).collect());
        }
    }
    std::fs::write(&arguments[1], serde_json::to_string(&rankings).unwrap()).unwrap();
    println!("{} episodes", names.len());
    drop(index);
    Index::remove(&folder).unwrap();
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

fn episodes(owner: UserId, number: u8, conversation: &Value, names: &mut HashMap<EpisodeId, String>) -> Vec<Episode> {
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
