//! Tests hits, misses, and the description of a hit.

use std::collections::{HashMap, HashSet};

use skein_core::Millis;
use skein_core::tree::actor::ActorId;
use skein_recall::{
    BranchRange, Episode, Filter, Query, Recency, SearchError, UnlistedVisibility, Visibility, Weights, snippet,
};

use crate::builders::{DAY_MS, branch, conversation, episode, id, ids, index_of, placed, question, user};

#[test]
fn words_meaning_speaker_and_date_find_an_episode() {
    let spoken =
        Episode { speaker: "Melanie".to_owned(), valid_at: Millis(1_683_500_000_000), ..episode(1, "I ran a race") };
    let (index, _folder) = index_of(vec![spoken, episode(2, "Taxes are due"), episode(3, "A storm is coming")]);
    for text in ["race", "races", "melanie", "What happened in May 2023?", "jogging marathon"] {
        assert_eq!(ids(&index.search(&question(text)).unwrap())[0], id(1), "{text}");
    }
}

#[test]
fn forms_of_a_word_find_each_other_in_the_language_of_the_text() {
    let bare = |number, text| Episode { vector: None, ..episode(number, text) };
    let texts = [
        "Die alten Bäume am See sind für die Reiher wie gemacht.",
        "Les enfants ont mangé l\u{2019}orange dans le jardin.",
        "Las garzas anidan en los árboles del lago.",
        "Старые деревья не растут на этом берегу.",
        "The herons nest in the old trees by the lake.",
    ];
    let (index, _folder) = index_of((1..).zip(texts).map(|(number, text)| bare(number, text)).collect());
    for (asked, number, marked) in [
        ("Baum", 1, "Bäume"),
        ("mange", 2, "mangé"),
        ("oranges", 2, "l\u{2019}orange"),
        ("anidar", 3, "anidan"),
        ("дерево", 4, "деревья"),
        ("nesting", 5, "nest"),
    ] {
        let hits = index.search(&Query { vector: None, ..question(asked) }).unwrap();
        let found: Vec<_> = hits.hits.iter().filter(|hit| hit.has_words).map(|hit| hit.id).collect();
        assert_eq!(found, [id(number)], "{asked}");
        let shown = snippet(texts[usize::from(number) - 1], &hits.terms);
        assert_eq!(&shown.text[shown.highlights[0].clone()], marked, "{asked}");
    }
}

#[test]
fn without_vectors_words_answer_alone() {
    let bare = |number, text| Episode { vector: None, ..episode(number, text) };
    let (index, _folder) = index_of(vec![bare(1, "the red fox"), bare(2, "the blue whale")]);
    assert_eq!(ids(&index.search(&question("whale")).unwrap()), [id(2)]);
    assert_eq!(ids(&index.search(&Query { vector: None, ..question("fox") }).unwrap()), [id(1)]);
}

#[test]
fn a_neighbour_of_what_matches_is_found_too() {
    let follows = |number, text, previous| Episode { previous: Some(id(previous)), ..placed(number, text, 1, 1, 2) };
    let (index, _folder) = index_of(vec![
        placed(1, "Which pottery class did you take?", 1, 1, 1),
        follows(2, "Wednesday at seven", 1),
        placed(3, "Something else entirely", 2, 2, 1),
    ]);
    let query = Query { vector: None, ..question("pottery") };
    let hits = index.search(&query).unwrap();
    assert_eq!(ids(&hits), [id(1), id(2)]);
    assert!(hits.hits[1].parts.neighbours > 0.0 && hits.hits[1].parts.words <= 0.0);
    let alone = Query { weights: Weights { neighbours: 0.0, ..Weights::default() }, ..query };
    assert!(index.search(&alone).unwrap().hits[1].score <= 0.0);
}

#[test]
fn a_sibling_branch_is_neither_a_hit_nor_a_neighbour_nor_counted() {
    let (index, _folder) = index_of(vec![
        placed(1, "the secret is plum", 1, 1, 1),
        placed(2, "the secret is pear", 1, 1, 2),
        Episode { previous: Some(id(1)), ..placed(3, "the secret is fig", 1, 3, 2) },
    ]);
    let listed = HashMap::from([(
        conversation(1),
        vec![BranchRange { branch: branch(1), down_to: 1 }, BranchRange { branch: branch(3), down_to: 2 }],
    )]);
    let visibility = Visibility { listed, ..Visibility::default() };
    let hits = index.search(&Query { visibility: visibility.clone(), ..question("secret") }).unwrap();
    assert_eq!(ids(&hits).into_iter().collect::<HashSet<_>>(), HashSet::from([id(1), id(3)]));
    assert_eq!(hits.visible, 2);
    let pinned = Visibility { pinned: HashSet::from([id(2)]), hidden: HashSet::from([id(1)]), ..visibility };
    let hits = index.search(&Query { visibility: pinned, ..question("secret") }).unwrap();
    assert_eq!(ids(&hits).into_iter().collect::<HashSet<_>>(), HashSet::from([id(2), id(3)]));
    let nothing = Visibility { unlisted: UnlistedVisibility::Hidden, ..Visibility::default() };
    assert!(index.search(&Query { visibility: nothing, ..question("secret") }).unwrap().hits.is_empty());
}

#[test]
fn filters_and_clocks_narrow_what_is_found() {
    let actor = ActorId::from_bytes([7; 16]);
    let (index, _folder) = index_of(vec![
        Episode { actor: Some(actor), ..placed(1, "green tea", 1, 1, 1) },
        Episode { kind: "summary".to_owned(), valid_at: Millis(5 * DAY_MS), ..placed(2, "green tea again", 2, 2, 1) },
        Episode { created_at: Millis(9 * DAY_MS), ..episode(3, "more green tea") },
    ]);
    let check = |query: Query, expected: &[u16]| {
        let found: HashSet<_> = ids(&index.search(&query).unwrap()).into_iter().collect();
        assert_eq!(found, expected.iter().map(|number| id(*number)).collect(), "{query:?}");
    };
    let filtered = |filter| Query { filter, ..question("tea") };
    check(filtered(Filter { actors: Some(HashSet::from([actor])), ..Filter::default() }), &[1]);
    check(filtered(Filter { conversations: Some(HashSet::from([conversation(2)])), ..Filter::default() }), &[2]);
    check(filtered(Filter { kinds: Some(vec!["summary".to_owned()]), ..Filter::default() }), &[2]);
    check(filtered(Filter { valid_from: Some(Millis(2 * DAY_MS)), ..Filter::default() }), &[2]);
    check(Query { as_of: Some(Millis(DAY_MS)), ..question("tea") }, &[1, 3]);
    check(Query { known_at: Some(Millis(DAY_MS)), ..question("tea") }, &[1, 2]);
}

#[test]
fn what_was_told_already_is_left_out_and_moves_no_score() {
    let (index, _folder) =
        index_of((1..=5).map(|number| episode(number, &format!("tea {}", "leaf ".repeat(number.into())))).collect());
    let all = index.search(&question("tea")).unwrap();
    let besides: HashSet<_> = ids(&all)[..2].iter().copied().collect();
    let rest = index.search(&Query { filter: Filter { besides, ..Filter::default() }, ..question("tea") }).unwrap();
    assert_eq!((rest.hits.as_slice(), rest.visible), (&all.hits[2..], 5));
}

#[test]
fn recency_prefers_the_newer_of_two_equals_where_asked() {
    let newer = Episode { valid_at: Millis(100 * DAY_MS), ..episode(2, "green tea") };
    let (index, _folder) = index_of(vec![episode(1, "green tea"), newer]);
    let recency = Some(Recency { now: Millis(100 * DAY_MS), half_life: 30 * DAY_MS, weight: 1.0 });
    let hits = index.search(&Query { recency, ..question("tea") }).unwrap();
    assert_eq!(ids(&hits), [id(2), id(1)]);
    assert!((hits.hits[0].parts.recency - 1.0).abs() < 1e-6);
}

#[test]
fn a_hit_says_why_and_shows_the_place() {
    let (index, _folder) = index_of(vec![episode(1, "My dogs love the beach"), episode(2, "Nothing here")]);
    let hits = index.search(&question("dog on the beach")).unwrap();
    let best = &hits.hits[0];
    let snippet = snippet("My dogs love the beach", &hits.terms);
    let shown: Vec<&str> = snippet.highlights.iter().map(|at| &snippet.text[at.clone()]).collect();
    assert_eq!(shown, ["dogs", "beach"]);
    let parts = best.parts;
    assert!((best.score - parts.sum()).abs() < 1e-5);
    assert!(parts.similarity.unwrap() > 0.3);
}

#[test]
fn similar_finds_others_and_never_itself() {
    let (index, _folder) =
        index_of(vec![episode(1, "My dog barks"), episode(2, "The puppy barked at night"), episode(3, "Tax forms")]);
    assert_eq!(ids(&index.similar(id(1), &question("")).unwrap())[0], id(2));
    assert!(!ids(&index.similar(id(1), &question("")).unwrap()).contains(&id(1)));
    assert!(matches!(index.similar(id(9), &question("")), Err(SearchError::Unknown(_))));
}

#[test]
fn another_owner_sees_nothing() {
    let (index, _folder) = index_of(vec![episode(1, "my secret")]);
    let hits = index.search(&Query { owner: user(2), ..question("secret") }).unwrap();
    assert!(hits.hits.is_empty() && hits.visible == 0);
    assert!(index.similar(id(1), &Query { owner: user(2), ..question("") }).is_err());
}

#[test]
fn hostile_questions_and_texts_are_only_text() {
    let hostile = ["text:* OR 1=1", "\"", "(((", "a^10 AND NOT b", "\u{0}\u{202e}", "'; DROP TABLE x; --", "🙂🙂", ""];
    let mut episodes: Vec<_> = (1..).zip(hostile).map(|(number, text)| episode(number, text)).collect();
    episodes.push(episode(100, &"x".repeat(1 << 20)));
    let (index, _folder) = index_of(episodes);
    let megabyte = "word ".repeat(200_000);
    for text in hostile.into_iter().chain([megabyte.as_str()]) {
        index.search(&question(text)).unwrap();
    }
}

#[test]
fn a_question_with_a_bad_vector_is_refused() {
    let (index, _folder) = index_of(vec![episode(1, "tea")]);
    let with = |vector| index.search(&Query { vector: Some(vector), ..question("tea") });
    assert!(matches!(with(vec![1.0; 3]), Err(SearchError::Dimensions { wanted: 256, found: 3 })));
    assert!(matches!(with(vec![0.0; 256]), Err(SearchError::NoDirection)));
    assert!(matches!(with(vec![f32::NAN; 256]), Err(SearchError::NoDirection)));
}
