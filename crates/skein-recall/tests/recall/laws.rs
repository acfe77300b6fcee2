//! Laws: however it got there, an index answers as one built from scratch, and never with what may not be seen.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use skein_core::Millis;
use skein_recall::{BranchRange, Change, Episode, Hits, Index, Query, Visibility};

use crate::builders::{DAY_MS, at, branch, conversation, id, open, placed, question, upsert, user};

const WORDS: [&str; 8] = ["tea", "dog", "river", "music", "tax", "moon", "bread", "garden"];

#[derive(Debug, Clone)]
enum Step {
    Change(Change),
    Reopen,
    Compact,
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..6).prop_map(|words| words.join(" "))
}

fn episodes() -> impl Strategy<Value = Episode> {
    (0..12_u16, 1..3_u8, texts(), 1..3_u8, 1..4_u8, 1..4_i64, proptest::option::of(0..12_u16), 0..3_i64, any::<bool>())
        .prop_map(|(number, owner, text, talk, lane, depth, previous, day, has_vector)| {
            let placed = placed(number, &text, talk, lane, depth);
            Episode {
                owner: user(owner),
                previous: previous.filter(|previous| *previous != number).map(id),
                valid_at: Millis(day * DAY_MS),
                vector: placed.vector.clone().filter(|_| has_vector),
                ..placed
            }
        })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => episodes().prop_map(|episode| Step::Change(upsert(episode))),
        2 => (0..12_u16, 1..3_u8).prop_map(|(number, owner)| Step::Change(Change::Delete { owner: user(owner), id: id(number) })),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
    ];
    proptest::collection::vec(step, 1..14)
}

/// What should be there in the end.
fn expected(steps: &[Step]) -> Vec<Episode> {
    let mut living: Vec<Episode> = Vec::new();
    for step in steps {
        let Step::Change(change) = step else { continue };
        match change {
            Change::Upsert(episode) => {
                living.retain(|other| (other.owner, other.id) != (episode.owner, episode.id));
                living.push((**episode).clone());
            }
            Change::Delete { owner, id } => living.retain(|other| (other.owner, other.id) != (*owner, *id)),
        }
    }
    living
}

fn same(a: &Hits, b: &Hits) -> bool {
    let scores = |hits: &Hits| hits.hits.iter().map(|hit| (hit.id, hit.score)).collect::<HashMap<_, _>>();
    let (left, right) = (scores(a), scores(b));
    left.len() == right.len()
        && left.iter().all(|(id, score)| right.get(id).is_some_and(|other| (score - other).abs() < 1e-3))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_with_reopening_equals_a_rebuild(steps in steps(), text in texts()) {
        let (folder, fresh_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut index = Some(open(folder.path()));
        for (position, step) in (1..).zip(&steps) {
            match step {
                Step::Change(change) => {
                    let change = std::slice::from_ref(change);
                    index.as_ref().unwrap().apply(change, at(position)).unwrap();
                    index.as_ref().unwrap().apply(change, at(position)).unwrap();
                }
                Step::Reopen => {
                    drop(index.take());
                    index = Some(open(folder.path()));
                }
                Step::Compact => index.as_ref().unwrap().compact().unwrap(),
            }
        }
        let living = expected(&steps);
        let fresh = open(fresh_folder.path());
        fresh.apply(&living.iter().cloned().map(upsert).collect::<Vec<_>>(), at(1)).unwrap();
        prop_assert_eq!(index.as_ref().unwrap().totals(), fresh.totals());
        let waiting = |index: &Index| index.waiting(100, |_| false).unwrap().iter().map(|episode| episode.id).collect::<HashSet<_>>();
        prop_assert_eq!(waiting(index.as_ref().unwrap()), waiting(&fresh));
        for owner in [1, 2] {
            let query = Query { owner: user(owner), ..question(&text) };
            let (found, wanted) = (index.as_ref().unwrap().search(&query).unwrap(), fresh.search(&query).unwrap());
            prop_assert_eq!(found.visible, wanted.visible);
            prop_assert!(same(&found, &wanted), "{:?} {:?}", found, wanted);
        }
    }

    #[test]
    fn only_what_is_owned_and_visible_is_a_hit(
        episodes in proptest::collection::vec(episodes(), 1..24), text in texts(), lane in 1..4_u8, down_to in 0..4_i64
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let steps: Vec<Step> = episodes.into_iter().map(|episode| Step::Change(upsert(episode))).collect();
        let living = expected(&steps);
        let listed = HashMap::from([(conversation(1), vec![BranchRange { branch: branch(lane), down_to }])]);
        let shared = Query { visibility: Visibility { shared: Arc::new(listed.clone()), ..Visibility::default() }, ..question(&text) };
        let changes: Vec<Change> = living.iter().cloned().map(upsert).collect();
        let (first, rest) = changes.split_at(changes.len() / 2);
        index.apply(first, at(1)).unwrap();
        index.search(&shared).unwrap();
        index.apply(rest, at(2)).unwrap();
        let query = Query { visibility: Visibility { listed: listed.clone(), ..Visibility::default() }, ..question(&text) };
        let allowed = |episode: &Episode| {
            let place = episode.place.unwrap();
            let on_branch = place.label.branch == branch(lane) && place.label.depth <= down_to;
            episode.owner == user(1) && (place.conversation != conversation(1) || on_branch)
        };
        let allowed: HashSet<_> = living.iter().filter(|episode| allowed(episode)).map(|episode| episode.id).collect();
        let hits = index.search(&query).unwrap();
        prop_assert!(hits.hits.iter().all(|hit| allowed.contains(&hit.id)));
        prop_assert_eq!(hits.visible as usize, allowed.len());
        let again = index.search(&shared).unwrap();
        prop_assert!(same(&hits, &again) && again.visible == hits.visible, "what is shared holds alike, for rows that came later too");
        let other = Arc::new(HashMap::from([(conversation(1), Vec::new())]));
        let hidden = Query { visibility: Visibility { shared: Arc::clone(&other), ..Visibility::default() }, ..question(&text) };
        prop_assert!(index.search(&hidden).unwrap().hits.iter().all(|hit| hit.place.unwrap().conversation != conversation(1)));
        let own = Query { visibility: Visibility { listed, shared: other, ..Visibility::default() }, ..question(&text) };
        let own = index.search(&own).unwrap();
        prop_assert!(same(&hits, &own) && own.visible == hits.visible, "what holds for a question comes before what is shared");

        let seen: Vec<_> = living.iter().filter(|episode| episode.owner == user(1) && allowed.contains(&episode.id)).cloned().map(upsert).collect();
        let other_folder = tempfile::tempdir().unwrap();
        let only_seen = open(other_folder.path());
        only_seen.apply(&seen, at(1)).unwrap();
        let alone = only_seen.search(&question(&text)).unwrap();
        prop_assert!(same(&hits, &alone), "what is hidden moved a score: {:?} {:?}", hits, alone);
    }
}
