//! Times the index on made-up episodes, with SQLite's FTS5 on the same texts beside it: `speed COUNT FOLDER`.
//!
//! Words follow Zipf's law; a question has three of them. Every figure is of one owner.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]
#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures")]
#![expect(clippy::cast_possible_wrap, reason = "numbers of made-up episodes are small")]

use std::path::Path;
use std::time::{Duration, Instant};

use skein_core::garden::cursor::Cursor;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, UserId};
use skein_recall::{Change, Episode, EpisodePlace, Index, Options, Query, StaticTable, embed_checked, embedded_text};

const BATCH: usize = 5_000;
const QUESTIONS: usize = 300;
const WORDS: usize = 50_000;
const TURNS: usize = 40;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (count, folder) = (arguments[0].parse::<usize>().unwrap(), Path::new(&arguments[1]));
    let owner = UserId::from_bytes([1; 16]);
    Index::remove(folder).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let mut chance = Chance(7);
    let texts: Vec<String> = (0..count).map(|_| chance.text(12)).collect();
    let questions: Vec<String> = (0..QUESTIONS).map(|_| chance.text(3)).collect();

    let index = Index::open(&folder.join("index"), &Options::of(&StaticTable)).unwrap();
    let begun = Instant::now();
    for (number, batch) in texts.chunks(BATCH).enumerate() {
        let changes = changes(owner, number * BATCH, batch);
        index.apply(&changes, Cursor { tx: 0, position: number as i64 + 1 }).unwrap();
    }
    let took = begun.elapsed();
    println!("ingest {count}: {:.1} s, {:.0} per second", took.as_secs_f64(), count as f64 / took.as_secs_f64());
    let begun = Instant::now();
    index.compact().unwrap();
    println!("merge: {:.1} s; {} MB", begun.elapsed().as_secs_f64(), index.bytes() >> 20);
    drop(index);

    let begun = Instant::now();
    let index = Index::open(&folder.join("index"), &Options::of(&StaticTable)).unwrap();
    println!("open: {:.2} s", begun.elapsed().as_secs_f64());
    for round in ["first", "second"] {
        let times = questions.iter().map(|text| {
            let begun = Instant::now();
            let query = Query { vector: StaticTable.vector(text), ..Query::new(owner, text.as_str()) };
            assert!(!index.search(&query).unwrap().hits.is_empty());
            begun.elapsed()
        });
        tell(&format!("search, {round} round"), times.collect());
    }
    println!("memory: {}", memory());
    full_text(&folder.join("fts.db"), &texts, &questions);
}

fn changes(owner: UserId, first: usize, texts: &[String]) -> Vec<Change> {
    let embedded: Vec<String> = texts.iter().map(|text| embedded_text("Ann", text)).collect();
    let vectors = embed_checked(&StaticTable, &embedded.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let episode = |(number, (text, vector)): (usize, (&String, Result<Vec<f32>, _>))| {
        let bytes = |number: usize| (number as u128 + 1).to_be_bytes();
        let talk = bytes(number / TURNS);
        let label = NodeLabel { branch: NodeId::from_bytes(talk), depth: (number % TURNS) as i64 + 1 };
        let is_first = number.is_multiple_of(TURNS);
        Change::Upsert(Box::new(Episode {
            id: EpisodeId::from_bytes(bytes(number)),
            owner,
            place: Some(EpisodePlace { conversation: ConversationId::from_bytes(talk), label }),
            previous: (!is_first).then(|| EpisodeId::from_bytes(bytes(number - 1))),
            actor: None,
            speaker: "Ann".to_owned(),
            kind: "message".to_owned(),
            valid_at: Millis((number as i64) * 60_000),
            created_at: Millis((number as i64) * 60_000),
            text: text.clone(),
            vector: vector.ok(),
        }))
    };
    (first..).zip(texts.iter().zip(vectors)).map(episode).collect()
}

fn full_text(path: &Path, texts: &[String], questions: &[String]) {
    let mut database = rusqlite::Connection::open(path).unwrap();
    database.execute_batch("PRAGMA journal_mode=WAL; CREATE VIRTUAL TABLE t USING fts5(x, content='')").unwrap();
    let begun = Instant::now();
    for (place, batch) in texts.chunks(BATCH).enumerate() {
        let transaction = database.transaction().unwrap();
        for (text, row) in batch.iter().zip(place * BATCH..) {
            transaction
                .prepare_cached("INSERT INTO t(rowid, x) VALUES (?1, ?2)")
                .unwrap()
                .execute((i64::try_from(row).unwrap(), text))
                .unwrap();
        }
        transaction.commit().unwrap();
    }
    println!("FTS5 ingest: {:.1} s", begun.elapsed().as_secs_f64());
    let times = questions.iter().take(QUESTIONS / 3).map(|text| {
        let begun = Instant::now();
        let any = text.replace(' ', " OR ");
        let mut statement =
            database.prepare_cached("SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rank LIMIT 10").unwrap();
        let found: Vec<i64> = statement.query_map([any], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(!found.is_empty());
        begun.elapsed()
    });
    tell("FTS5 search", times.collect());
}

fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1_000.0;
    println!("{what}: p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms", at(0.5), at(0.9), at(0.99));
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let wanted = |line: &&str| ["VmHWM", "RssAnon", "RssFile"].iter().any(|name| line.starts_with(name));
    status
        .lines()
        .filter(wanted)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A word by Zipf's law: the logarithm of its rank is even.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "ka", "to", "mi", "ren", "sol", "va", "ner", "lin", "do", "pas", "ter", "ga", "hu", "bel", "ori", "sta",
            "wen", "fi", "lum", "cro", "yan", "dep", "ix", "quo",
        ];
        let even = self.next() as f64 / u64::MAX as f64;
        let mut rank = (WORDS as f64).powf(even) as usize;
        let mut word = String::new();
        while rank > 0 || word.is_empty() {
            word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
            rank /= SYLLABLES.len();
        }
        word
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}
