//! However memory got where it is, it finds what one finds that is built from scratch.

use std::collections::HashMap;

use proptest::prelude::*;
use skein_core::{EpisodeId, ItemId, Millis, NodeId};
use skein_engine::memory::{EmbedStep, Embedding, RecallQuery};
use skein_store::tree::append::NodePosition;

use crate::conversations::Model;
use crate::engine_fixture::{EngineFixture, FixtureStore, Server, fresh};

const WORDS: [&str; 8] = ["heron", "tax", "violin", "tea", "reeds", "bittern", "garden", "Magnolia"];
const NAMES: [&str; 3] = ["Magnolia", "Hyacinth", "Narcissus"];
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

#[derive(Debug, Clone)]
enum Step {
    /// In one of two conversations, by a person or by the model; or in place of what was said last.
    Say {
        talk: usize,
        words: String,
        is_model: bool,
        is_edit: bool,
    },
    Bring(String),
    Rename(usize),
    Correct {
        which: usize,
        day: Option<i64>,
    },
    Redact(usize),
    /// So many steps of remembering and of embedding.
    Work(usize, usize),
    /// The process goes without a word, and another begins, with vectors made by somebody else or by the same.
    Die {
        maker: usize,
    },
}

fn words() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..5).prop_map(|words| words.join(" "))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let say = (0..2_usize, words(), any::<bool>(), prop_oneof![3 => Just(false), 1 => Just(true)])
        .prop_map(|(talk, words, is_model, is_edit)| Step::Say { talk, words, is_model, is_edit });
    let step = prop_oneof![
        6 => say,
        2 => words().prop_map(Step::Bring),
        2 => (0..NAMES.len()).prop_map(Step::Rename),
        2 => (0..16_usize, proptest::option::of(0..4_000_i64)).prop_map(|(which, day)| Step::Correct { which, day }),
        2 => (0..16_usize).prop_map(Step::Redact),
        4 => (0..4_usize, 0..4_usize).prop_map(|(remembering, embedding)| Step::Work(remembering, embedding)),
        2 => (0..3_usize).prop_map(|maker| Step::Die { maker }),
    ];
    proptest::collection::vec(step, 6..20)
}

/// What was said so far, and who can say more.
struct Story {
    talks: Vec<(skein_core::ConversationId, Option<NodeId>)>,
    model: Model,
    items: Vec<ItemId>,
    redacted: Vec<ItemId>,
}

impl Story {
    async fn begin(world: &EngineFixture) -> Self {
        let model = world.model(NAMES[0]).await;
        let talks = vec![(world.conversation("One").await, None), (world.conversation("Two").await, None)];
        Self { talks, model, items: Vec::new(), redacted: Vec::new() }
    }

    fn living(&self, which: usize) -> Option<ItemId> {
        let living: Vec<ItemId> = self.items.iter().copied().filter(|item| !self.redacted.contains(item)).collect();
        (!living.is_empty()).then(|| living[which % living.len()])
    }

    async fn go_on(&mut self, world: &EngineFixture, step: Step) {
        match step {
            Step::Say { talk, words, is_model, is_edit } => {
                let (conversation, last) = self.talks[talk];
                let by = Some(&self.model).filter(|_| is_model && last.is_some() && !is_edit);
                let node = match last.filter(|_| is_edit) {
                    Some(last) => world.say_at(conversation, NodePosition::EditOf(last), &words, None).await,
                    None => world.say(conversation, last, &words, by).await,
                };
                self.talks[talk].1 = Some(node);
                self.items.push(ItemId::from_bytes(*node.as_bytes()));
            }
            Step::Bring(words) => self.items.push(world.bring(&words).await),
            Step::Rename(name) => world.rename(&mut self.model, NAMES[name]).await,
            Step::Correct { which, day } => {
                if let Some(item) = self.living(which) {
                    let at = day.map(|day| Millis(day * DAY_MS));
                    world.engine.correct_time(&world.caller, fresh(&world.caller), item, at).await.unwrap();
                }
            }
            Step::Redact(which) => {
                if let Some(item) = self.living(which) {
                    let request = fresh(&world.caller);
                    world.engine.redact_item(&world.caller, request, item, "asked to".to_owned()).await.unwrap();
                    self.redacted.push(item);
                }
            }
            Step::Work(remembering, embedding) => {
                for _ in 0..remembering {
                    world.engine.remember_next().await.unwrap();
                }
                for _ in 0..embedding {
                    world.engine.embed_next().await.unwrap();
                }
            }
            Step::Die { .. } => unreachable!("whoever dies takes no step"),
        }
    }
}

type Scores = HashMap<EpisodeId, (String, f32)>;

/// What is found for each word, everywhere and from the end of each conversation.
async fn found(world: &EngineFixture, story: &Story) -> Vec<Scores> {
    let places = story.talks.iter().filter_map(|(_, last)| *last).map(Some).chain([None]);
    let mut found = Vec::new();
    for (node, text) in places.flat_map(|node| WORDS.iter().chain(&NAMES).map(move |word| (node, *word))) {
        let all_branches = node.is_none();
        let query = RecallQuery { text: text.to_owned(), node, all_branches, limit: 100, ..RecallQuery::default() };
        let rows = world.engine.recall_now(&world.caller, query).await.unwrap().page.rows;
        found.push(rows.into_iter().map(|row| (row.episode.id, (row.snippet.text, row.score))).collect());
    }
    found
}

fn same(a: &Scores, b: &Scores) -> bool {
    let is_in = |(id, (text, score)): (&EpisodeId, &(String, f32))| {
        b.get(id).is_some_and(|(other, of)| text == other && (score - of).abs() < 1e-3)
    };
    a.len() == b.len() && a.iter().all(is_in)
}

async fn equals_a_rebuild(place: FixtureStore, steps: Vec<Step>) {
    let server = Server::start();
    let maker = |maker: usize| match maker {
        0 => Embedding::BuiltIn,
        1 => server.embedding("first"),
        _ => server.embedding("second"),
    };
    let (mut made_by, mut world) = (0, place.open(maker(0)).await);
    let mut story = Story::begin(&world).await;
    for step in steps {
        if let Step::Die { maker: next } = step {
            drop(world);
            made_by = next;
            world = place.open(maker(made_by)).await;
        } else {
            story.go_on(&world, step).await;
        }
    }
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    let state = world.index().await;
    // While nothing was said there is nothing to make a vector of, and nobody else's serve.
    let is_switched = state.embedder == state.configured || state.episodes == 0;
    assert_eq!((is_switched, state.is_retelling), (true, false), "{state:?}");
    let fresh = place.elsewhere(maker(made_by)).await;
    assert_eq!(fresh.settle().await, EmbedStep::Nothing);
    let of_scratch = fresh.index().await;
    assert_eq!((state.episodes, state.with_vector), (of_scratch.episodes, of_scratch.with_vector));
    let (grown, built) = (found(&world, &story).await, found(&fresh, &story).await);
    for (grown, built) in grown.iter().zip(&built) {
        assert!(same(grown, built), "{grown:?}\n{built:?}");
    }
    assert!(
        grown.iter().all(|found| story
            .redacted
            .iter()
            .all(|gone| !found.contains_key(&EpisodeId::from_bytes(*gone.as_bytes()))))
    );
}

fn run(law: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(law);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_what_is_found_equals_a_rebuild_on_sqlite(steps in steps()) {
        run(equals_a_rebuild(FixtureStore::sqlite(), steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 16, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_what_is_found_equals_a_rebuild_on_postgres(steps in steps()) {
        run(equals_a_rebuild(FixtureStore::postgres(), steps));
    }
}
