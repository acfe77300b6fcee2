//! Where there is no index, words are looked for in the store itself.

use serde_json::json;
use skein_core::NodeId;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
use skein_engine::memory::{HitLocation, RecallQuery, SearchedBy};
use skein_store::tree::append::NodePosition;

use crate::engine_fixture::{EngineFixture, FixtureStore, both};

async fn bring_to(world: &EngineFixture, node: Option<NodeId>, text: &str) {
    let (source, speaker) = (EpisodeSource::Text, Some("Ada".to_owned()));
    world.bring_it(ImportedEpisode { source, content: json!(text), speaker, node_id: node }).await;
}

both! {
    async fn without_an_index_words_find_what_was_said_and_what_was_brought(place: FixtureStore) {
        let world = place.forgetful().await;
        let id = world.conversation("Birds").await;
        let left = world.say(id, None, "Where does the heron stand?", None).await;
        let here = world.say_at(id, NodePosition::EditOf(left), "And the heron?", None).await;
        bring_to(&world, None, "Once upon a time the herons nested in May.").await;
        bring_to(&world, Some(here), "A heron of this branch.").await;
        bring_to(&world, Some(left), "A heron of the other branch.").await;
        let ask = async |query: RecallQuery| world.engine.recall(&world.caller, RecallQuery { limit: 10, ..query }).await.unwrap();
        let text = "heron".to_owned();
        let all = ask(RecallQuery { text: text.clone(), node: Some(here), ..RecallQuery::default() }).await;
        assert_eq!(all.searched.by, SearchedBy::Words);
        let mut found: Vec<(&str, HitLocation)> = all.page.rows.iter().map(|row| (row.snippet.text.as_str(), row.found)).collect();
        found.sort_by_key(|(text, _)| *text);
        let expected = [
            ("A heron of this branch.", HitLocation::Path),
            ("And the heron?", HitLocation::Path),
            ("Once upon a time the herons nested in May.", HitLocation::Anywhere),
        ];
        assert_eq!(found, expected);
        let marked = |row: &skein_engine::memory::FoundEpisode| row.snippet.highlights.iter().map(|at| row.snippet.text[at.clone()].to_owned()).collect::<Vec<_>>();
        assert!(all.page.rows.iter().all(|row| marked(row).concat().starts_with("heron")), "{:?}", all.page.rows);
        let sources = vec![EpisodeSource::Text];
        let brought = ask(RecallQuery { text: text.clone(), sources, node: Some(here), elsewhere: true, ..RecallQuery::default() }).await;
        let [only] = &brought.page.rows[..] else { panic!("{:?}", brought.page.rows) };
        assert_eq!((only.found, only.said_by.as_deref()), (HitLocation::Anywhere, Some("Ada")));
        let nowhere = ask(RecallQuery { text, within: vec![world.conversation("Empty").await], ..RecallQuery::default() }).await;
        assert_eq!(nowhere.page.rows, [], "what has no place is in no conversation");
    }
}
