//! Vectors that come later than their words.

use skein_recall::{Change, Episode, StaticTable, embedded_text};

use crate::builders::{at, episode, id, ids, index_of, open, question, upsert, user};

fn without(number: u16, text: &str) -> Episode {
    Episode { vector: None, ..episode(number, text) }
}

fn with_vector(episode: Episode) -> (Episode, Vec<f32>) {
    let vector = StaticTable.vector(&embedded_text(&episode.speaker, &episode.text)).unwrap();
    (episode, vector)
}

#[test]
fn those_without_a_vector_wait_and_answer_like_all_others_once_they_have_one() {
    let texts = ["the heron fishes", "a violin concerto", "taxes are due"];
    let all = || texts.iter().zip(1..).map(|(text, number)| (number, *text));
    let (whole, _folder) = index_of(all().map(|(number, text)| episode(number, text)).collect());
    let (late, folder) = index_of(all().map(|(number, text)| without(number, text)).collect());
    let waiting = late.waiting(10, |_| false).unwrap();
    assert_eq!(waiting.iter().map(|episode| episode.id).collect::<Vec<_>>(), [id(1), id(2), id(3)]);
    assert_eq!(
        (late.waiting(2, |_| false).unwrap().len(), late.waiting(10, |other| other != id(2)).unwrap().len()),
        (2, 1)
    );
    assert_eq!(late.fill(waiting.into_iter().map(with_vector).collect()).unwrap(), 3);
    drop(late);
    let late = open(folder.path());
    assert!(late.waiting(10, |_| false).unwrap().is_empty());
    assert_eq!((late.cursor(), late.status().owners[0].with_vector), (at(1), 3));
    for text in ["bird", "music", "taxes"] {
        let (expected, found) = (whole.search(&question(text)).unwrap(), late.search(&question(text)).unwrap());
        assert_eq!(ids(&expected), ids(&found));
    }
}

#[test]
fn what_changed_or_went_meanwhile_is_left_alone() {
    let (index, _folder) = index_of((1..=4).map(|number| without(number, "the heron fishes")).collect());
    let waiting = index.waiting(10, |_| false).unwrap();
    let changes = [
        Change::Delete { owner: user(1), id: id(1) },
        upsert(without(2, "the heron sleeps")),
        upsert(episode(3, "the heron fishes")),
    ];
    index.apply(&changes, at(2)).unwrap();
    let stranger = Episode { owner: user(2), ..without(9, "the heron fishes") };
    let made = waiting.into_iter().chain([stranger]).map(with_vector).collect();
    assert_eq!(index.fill(made).unwrap(), 1, "only the fourth still waits for that");
    let status = &index.status().owners[0];
    assert_eq!((status.episodes, status.with_vector), (3, 2), "nothing came back to life");
    assert_eq!(index.waiting(10, |_| false).unwrap()[0].text, "the heron sleeps");
}

#[test]
fn who_says_nothing_waits_for_nothing() {
    let (index, _folder) = index_of(vec![without(1, " \n"), without(2, "")]);
    assert!(index.waiting(10, |_| false).unwrap().is_empty());
}
