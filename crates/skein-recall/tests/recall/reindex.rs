//! Tests that the episodes of a renamed author are reindexed page by page, across restarts.

use skein_core::tree::actor::ActorId;
use skein_recall::{Episode, Reindexing};

use crate::builders::{at, episode, id, index_of, open, upsert, user};

const ADA: ActorId = ActorId::from_bytes([7; 16]);

fn said(number: u16, speaker: &str) -> Episode {
    Episode { actor: Some(ADA), speaker: speaker.to_owned(), ..episode(number, "tea") }
}

#[test]
fn who_is_told_anew_and_how_far_is_known_after_a_restart() {
    let (index, folder) = index_of(vec![said(1, "Ada"), said(2, "Ada")]);
    let is_named = |index: &skein_recall::Index, name: &str| index.is_named(user(1), ADA, name).unwrap();
    assert!(is_named(&index, "Ada") && !is_named(&index, "Countess"));
    index.reindex(&[(user(1), ADA)]).unwrap();
    let told = index.reindexing().unwrap();
    assert_eq!(told, Reindexing { owner: user(1), actor: ADA, after: None });
    index.apply_reindexed(told, &[upsert(said(1, "Countess"))], Some(id(1))).unwrap();
    drop(index);

    let index = open(folder.path());
    assert_eq!((index.reindexing(), index.cursor()), (Some(Reindexing { after: Some(id(1)), ..told }), at(1)));
    assert!(!is_named(&index, "Countess") && !is_named(&index, "Ada"));
    index.reindex(&[(user(1), ADA)]).unwrap();
    assert_eq!(index.reindexing(), Some(told), "another name begins from the beginning");
    index.apply_reindexed(told, &[upsert(said(2, "Countess"))], Some(id(2))).unwrap();
    index.apply_reindexed(told, &[], None).unwrap();
    assert_eq!(index.reindexing(), None);
    assert!(is_named(&index, "Countess"));
    drop(index);
    assert_eq!(open(folder.path()).reindexing(), None);
}
