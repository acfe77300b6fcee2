//! Episodes: made behind whoever talks, once, and never changed; and what a path may see of them.

use serde_json::json;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode, episode_of};
use skein_core::tree::turn::Speaker;
use skein_core::{EpisodeId, ItemId, Millis, NodeId, Viewer};
use skein_store::memory::{EpisodeState, IndexChange};
use skein_store::tree::append::NodePosition;

use crate::fixtures::{World, both, wait_until};
use crate::tree::{after, conversation, lived, placing, said, say};

const SYSTEM: Viewer = Viewer::System("test");

/// Ingests all there is; how many items that were.
fn ingest(world: &World) -> usize {
    let mut items = 0;
    wait_until("everything is ingested", || {
        while let Some(step) = world.write(|tx| tx.ingest(&SYSTEM)) {
            items += step.items;
        }
        world.read(|tx| Ok(tx.ingested(&SYSTEM)? == tx.end(&SYSTEM)?))
    });
    items
}

fn episodes(world: &World) -> Vec<EpisodeState> {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.episodes(&viewer, None, None, 100)).rows
}

fn import_episode(world: &World, brought: &ImportedEpisode, said_at: Option<Millis>) -> EpisodeId {
    let (viewer, draft) = (world.anna.clone(), brought.to_draft(said_at).unwrap());
    let item = world.write(move |tx| tx.append_item(&viewer, &draft));
    EpisodeId::from_bytes(*item.item.header.id.as_bytes())
}

fn text(content: &str) -> ImportedEpisode {
    ImportedEpisode { source: EpisodeSource::Text, content: json!(content), speaker: None, node_id: None }
}

both! {
    fn br_sec_003_audit_entries_of_every_kind_refuse_change_and_deletion(world: &World) {
        lived(world);
        import_episode(world, &text("Herons nest in May."), None);
        ingest(world);
        world.seal();
        crate::bundle::history(world);
        let mut kinds = 0;
        for item_type in ItemType::system() {
            let changed = world.tamper(&format!("UPDATE items SET type = type || 'x' WHERE type = '{item_type}'"));
            let deleted = world.tamper(&format!("DELETE FROM items WHERE type = '{item_type}'"));
            // Of some kinds nothing happened here.
            let is_there = changed != Ok(0);
            kinds += usize::from(is_there);
            for refused in [changed, deleted].into_iter().filter(|_| is_there) {
                assert!(refused.unwrap_err().contains("MG-SOIL-001"), "{item_type}");
            }
        }
        assert!(kinds >= 14, "{kinds} of {}", ItemType::system().len());
        for sql in ["UPDATE episodes SET valid_at = 0", "DELETE FROM episodes"] {
            assert!(world.tamper(sql).unwrap_err().contains("episode is never"), "{sql}");
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_sec_003_a_turn_altered_behind_the_store_is_reported_refuses(world: &World) {
        lived(world);
        for sql in ["UPDATE nodes SET created_at = created_at + 1", "DELETE FROM tree_summaries"] {
            assert!(world.tamper_unguarded(sql).unwrap() > 0, "{sql}");
            assert_ne!(world.verify(true).breaks, [], "{sql}");
        }
    }

    fn br_turn_006_an_alternative_has_one_episode_of_its_user_content_and_time_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Herons nest in May.");
        assert_eq!(episodes(world), [], "until it is ingested there is none");
        ingest(world);
        let [state] = &episodes(world)[..] else { panic!("one node has one episode") };
        let place = state.episode.place.unwrap();
        assert_eq!((place.node, place.turn, place.conversation), (first.id, first.turn(), id));
        assert_eq!((state.episode.id, Some(place.label)), (episode_of(first.id), first.label()));
        assert_eq!(state.episode.owner, world.anna.owner());
        assert_eq!(state.text.as_deref(), Some("Herons nest in May."));
        assert_eq!((state.episode.valid_at, Some(state.episode.item)), (first.created_at, first.content));
        let edited = say(world, id, NodePosition::EditOf(first.id), "Herons nest in April.");
        ingest(world);
        let named: Vec<NodeId> = episodes(world).iter().map(|state| state.episode.place.unwrap().node).collect();
        assert_eq!(named, [edited.id, first.id], "each alternative has its own");
    }

    fn br_turn_006_a_second_episode_or_one_of_what_came_to_nothing_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Herons nest in May.");
        let (viewer, place) = (world.anna.clone(), placing(world, id, after(Some(first.id), Speaker::Agent)));
        let pending = world.write(move |tx| tx.reserve_node(&viewer, &place)).0.id;
        assert!(ingest(world) > 0);
        assert_eq!(episodes(world).len(), 1, "what is still being generated is no episode");
        world.tamper("UPDATE cursors SET tx = 0, position = 0 WHERE name = 'episodes'").unwrap();
        ingest(world);
        assert_eq!(episodes(world).len(), 1, "ingesting again adds nothing");
        let viewer = world.anna.clone();
        world.write(move |tx| tx.fail_node(&viewer, pending, "no answer"));
        ingest(world);
        assert_eq!(episodes(world).len(), 1);
    }

    fn br_cross_004_an_episode_is_valid_when_its_node_was_said_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let long_ago = Millis(1_000_000_000_000);
        let (viewer, place) = (world.anna.clone(), placing(world, id, after(None, Speaker::User)));
        let old = skein_store::tree::append::NodeBody { created_at: Some(long_ago), ..said("Said long ago.") };
        world.write(move |tx| tx.append_node(&viewer, &place, &old));
        let brought = import_episode(world, &text("Brought along."), Some(long_ago));
        ingest(world);
        for state in episodes(world) {
            assert_eq!(state.episode.valid_at, long_ago);
            assert!(state.episode.created_at > long_ago, "when it became known here is another time");
        }
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.episode(&viewer, brought)).text.as_deref(), Some("Brought along."));
    }

    fn br_cross_004_a_time_of_its_own_for_an_episode_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let node = say(world, id, after(None, Speaker::User), "Herons nest in May.");
        ingest(world);
        assert!(world.tamper("UPDATE episodes SET valid_at = 0").is_err());
        let viewer = world.anna.clone();
        let valid_at = move |world: &World| {
            let viewer = viewer.clone();
            world.read(move |tx| tx.episode(&viewer, episode_of(node.id))).episode.valid_at
        };
        let correct = |item: ItemId, at: Option<Millis>| {
            let viewer = world.anna.clone();
            world.write(move |tx| tx.override_canonical_time(&viewer, item, at));
        };
        let (words, place) = (node.content.unwrap(), ItemId::from_bytes(*node.id.as_bytes()));
        correct(words, Some(Millis(5)));
        assert_eq!(valid_at(world), node.created_at, "its node says when it was said, nothing else");
        correct(place, Some(Millis(7)));
        assert_eq!(valid_at(world), Millis(7));
        correct(place, None);
        assert_eq!(valid_at(world), node.created_at);
        let bert = world.bert.clone();
        let refused = world.try_write(move |tx| tx.override_canonical_time(&bert, place, Some(Millis(9))));
        assert!(refused.is_err(), "nobody else says when it was");
    }

    fn what_changes_later_is_told_along_the_timeline(world: &World) {
        let id = conversation(world, "dialogue");
        let node = say(world, id, after(None, Speaker::User), "Herons nest in May.");
        ingest(world);
        let reached = world.read(|tx| tx.follow_episodes(&SYSTEM, Cursor::START, 1_000)).1;
        let (viewer, place) = (world.anna.clone(), ItemId::from_bytes(*node.id.as_bytes()));
        world.write(move |tx| tx.override_canonical_time(&viewer, place, Some(Millis(7))));
        ingest(world);
        let told = world.read(move |tx| tx.follow_episodes(&SYSTEM, reached, 1_000)).0;
        let [IndexChange::Made(made)] = &told[..] else { panic!("{told:?}") };
        assert_eq!((made.state.episode.id, made.state.episode.valid_at), (episode_of(node.id), Millis(7)));
    }

    fn an_index_is_told_no_more_than_a_page_of_words_at_once(world: &World) {
        for number in 0..24 {
            import_episode(world, &text(&format!("{number} {}", "heron ".repeat(170_000))), None);
        }
        ingest(world);
        let (mut told, mut reached, mut pages) = (0, Cursor::START, 0);
        loop {
            let (some, next) = world.read(move |tx| tx.follow_episodes(&SYSTEM, reached, 1_000));
            let bytes = |told: &IndexChange| match told {
                IndexChange::Made(made) => made.state.text.as_ref().map_or(0, String::len),
                _ => 0,
            };
            assert!(some.iter().map(bytes).sum::<usize>() <= (16 + 3) << 20);
            told += some.len();
            if next == reached {
                break;
            }
            (reached, pages) = (next, pages + 1);
        }
        assert_eq!((told, pages), (24, 2), "nothing is left out and nothing comes twice");
    }

    fn br_cross_005_what_is_remembered_of_others_is_not_there_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let node = say(world, id, after(None, Speaker::User), "Herons nest in May.").id;
        let brought = import_episode(world, &ImportedEpisode { node_id: Some(node), ..text("Of the node.") }, None);
        ingest(world);
        let bert = world.bert.clone();
        let seen = world.read(move |tx| {
            let page = tx.episodes(&bert, Some(id), None, 100)?.rows;
            Ok((page, tx.episodes_of(&bert, &[episode_of(node), brought])?, tx.ancestry(&bert, node).is_err()))
        });
        assert_eq!(seen, (Vec::new(), Vec::new(), true));
        assert_eq!(episodes(world).iter().filter(|state| state.episode.place.is_some()).count(), 2);
    }

    fn br_episode_001_a_redacted_episode_stays_without_its_words_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let node = say(world, id, after(None, Speaker::User), "Herons nest in May.");
        ingest(world);
        let (viewer, item) = (world.anna.clone(), node.content.unwrap());
        world.write(move |tx| tx.redact_item(&viewer, item, "asked to"));
        ingest(world);
        let [state] = &episodes(world)[..] else { panic!("the episode is gone") };
        assert_eq!((state.episode.id, state.text.as_deref()), (episode_of(node.id), None));
        let told = world.read(|tx| tx.follow_episodes(&SYSTEM, Cursor::START, 1_000)).0;
        let destroyed = IndexChange::Destroyed { owner: world.anna.owner(), id: episode_of(node.id) };
        assert_eq!(told.last(), Some(&destroyed));
    }

    fn br_episode_001_changing_or_deleting_one_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        say(world, id, after(None, Speaker::User), "Herons nest in May.");
        ingest(world);
        for change in ["UPDATE episodes SET valid_at = 0", "DELETE FROM episodes"] {
            assert!(world.tamper(change).is_err(), "{change}");
        }
        assert_eq!(episodes(world).len(), 1);
    }

    fn a_fact_that_was_altered_keeps_nobody_from_being_remembered(world: &World) {
        let id = conversation(world, "dialogue");
        import_episode(world, &text("This will be altered."), None);
        world.tamper_unguarded("UPDATE items SET payload = NULL, hash = payload_hash WHERE type = 'Episode'").unwrap();
        say(world, id, after(None, Speaker::User), "Herons nest in May.");
        ingest(world);
        assert!(episodes(world).iter().any(|state| state.text.as_deref() == Some("Herons nest in May.")));
    }

    fn an_index_is_never_told_more_than_is_ingested(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "First.");
        ingest(world);
        let second = say(world, id, after(Some(first.id), Speaker::User), "Second.");
        let (told, reached) = world.read(|tx| tx.follow_episodes(&SYSTEM, Cursor::START, 1_000));
        assert_eq!(told.len(), 1);
        let unmade = |world: &World| -> Vec<EpisodeId> {
            world.read(|tx| tx.unmade_episodes(&SYSTEM, 100)).iter().map(|unmade| unmade.id).collect()
        };
        assert_eq!(unmade(world), [episode_of(second.id)]);
        ingest(world);
        let (told, _) = world.read(move |tx| tx.follow_episodes(&SYSTEM, reached, 1_000));
        let Some(IndexChange::Made(made)) = told.first() else { panic!("{told:?}") };
        assert_eq!(made.state.episode.place.and_then(|place| place.previous), Some(episode_of(first.id)));
        assert_eq!(unmade(world), []);
    }

    fn what_nothing_can_be_made_of_is_listed_with_its_reason(world: &World) {
        let nowhere = NodeId::from_bytes([9; 16]);
        let mut lost: Vec<EpisodeId> = (0..3)
            .map(|number| import_episode(world, &ImportedEpisode { node_id: Some(nowhere), ..text(&format!("Lost {number}.")) }, None))
            .collect();
        lost.sort_unstable();
        import_episode(world, &text("Bound to nothing and seen from everywhere."), None);
        assert_eq!(world.read(|tx| tx.unindexable_episodes(&SYSTEM, None, 10)).rows, [], "nobody has looked yet");
        ingest(world);
        let first = world.read(|tx| tx.unindexable_episodes(&SYSTEM, None, 2));
        let rest = world.read(move |tx| tx.unindexable_episodes(&SYSTEM, first.next, 2));
        assert_eq!((first.rows.len(), rest.next), (2, None));
        let listed: Vec<_> = first.rows.iter().chain(&rest.rows).collect();
        assert_eq!(listed.iter().map(|unbound| unbound.id).collect::<Vec<_>>(), lost);
        assert!(listed.iter().all(|unbound| unbound.owner == world.anna.owner() && unbound.reason.contains("names a node")));
        world.tamper("UPDATE cursors SET tx = 0, position = 0 WHERE name = 'episodes'").unwrap();
        ingest(world);
        assert_eq!(world.read(|tx| tx.unindexable_episodes(&SYSTEM, None, 10)).rows.len(), 3, "each is there once");
        let (viewer, item) = (world.anna.clone(), ItemId::from_bytes(*lost[0].as_bytes()));
        world.write(move |tx| tx.redact_item(&viewer, item, "asked to"));
        assert_eq!(world.read(|tx| tx.unindexable_episodes(&SYSTEM, None, 10)).rows.len(), 2, "what is destroyed is not missed");
        let anna = world.anna.clone();
        assert!(world.store.read_blocking(move |tx| tx.unindexable_episodes(&anna, None, 10)).is_err(), "it is for operators");
    }
}
