//! Recall by meaning, time and person: on the right branch, with its source, for its owner only.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::memory::episode::episode_of;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::NodeMarked;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, Millis, NodeId, PathId, Viewer};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};

use crate::server_fixture::{START, ServerFixture, both};
use crate::tree_fixture::{By, conversation, say, say_at};

/// Remembers everything that was said so far, however long that takes here.
pub(crate) async fn remember(world: &ServerFixture) {
    let end = world.store.read(|tx| tx.end(&Viewer::System("test"))).await.unwrap();
    while world.engine.remember_next().await.unwrap().is_some_and(|step| step.is_more || step.cursor < end) {
        skein_testkit::wait::moment().await;
    }
}

pub(crate) async fn search(world: &ServerFixture, body: Value) -> Value {
    remember(world).await;
    let request = world.request("POST", "/api/v1/search").header("content-type", "application/json");
    let answer = world.send(request.body(body.to_string().into()).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

pub(crate) fn nodes(answer: &Value) -> Vec<&str> {
    answer["data"].as_array().unwrap().iter().map(|found| found["nodeId"].as_str().unwrap_or("nowhere")).collect()
}

/// Says the same again and again, at once.
async fn say_many(world: &ServerFixture, id: ConversationId, after: NodeId, text: &str, times: usize) -> Vec<NodeId> {
    let (viewer, content) = (world.admin.clone(), json!({ "type": "text", "text": text }));
    let say = move |tx: &mut skein_store::Tx<'_>| {
        let mut said = vec![after];
        for _ in 0..times {
            let position = NodePosition::After {
                parent: said.last().copied(),
                speaker: Speaker::User,
                turn_type: TurnType::Message,
            };
            let placing = NodePlacement {
                conversation: id,
                position,
                author: ActorId::from(viewer.owner()),
                author_type: AuthorType::Human,
                sources: Vec::new(),
                executed_by: None,
                leads: Some(PathId::main_of(id)),
            };
            let words = NodeBody { content: content.clone(), created_at: None, raw: None };
            said.push(tx.append_node(&viewer, &placing, &words)?.0.id);
        }
        said.remove(0);
        Ok(said)
    };
    world.store.write(say).await.unwrap().value
}

/// Something said at a time of its own.
async fn say_then(world: &ServerFixture, at: Millis, text: &str) -> NodeId {
    let id = conversation(world, &world.admin, text).await;
    let (viewer, author) = (world.admin.clone(), ActorId::from(world.admin.owner()));
    let position = NodePosition::After { parent: None, speaker: Speaker::User, turn_type: TurnType::Message };
    let leads = Some(PathId::main_of(id));
    let (author_type, sources, executed_by) = (AuthorType::Human, Vec::new(), None);
    let placing = NodePlacement { conversation: id, position, author, author_type, sources, executed_by, leads };
    let said = NodeBody { content: json!({ "type": "text", "text": text }), created_at: Some(at), raw: None };
    world.store.write(move |tx| tx.append_node(&viewer, &placing, &said)).await.unwrap().value.0.id
}

/// Whether any file under a folder holds these bytes.
fn holds(folder: &std::path::Path, wanted: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            holds(&path, wanted)
        } else {
            std::fs::read(&path).unwrap().windows(wanted.len()).any(|bytes| bytes == wanted)
        }
    })
}

both! {
    async fn what_means_the_same_is_found_and_every_hit_says_why(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Health").await;
        let node = say(world, &world.admin, id, None, "My doctor told me to stop eating peanuts.").await;
        let other = conversation(world, &world.admin, "Cars").await;
        say(world, &world.admin, other, None, "The gearbox makes a strange noise in third gear.").await;
        let answer = search(world, json!({ "text": "physician nuts" })).await;
        assert_eq!(nodes(&answer)[..1], [node.to_string()], "{answer}");
        let hit = &answer["data"][0];
        assert!(hit["parts"]["meaning"].as_f64().unwrap() > 0.0 && hit["score"].is_f64(), "{hit}");
        assert_eq!((&hit["conversationId"], &hit["episodeId"]), (&json!(id), &json!(episode_of(node))));
        assert_eq!((&hit["found"], &hit["source"], &hit["depth"]), (&json!("elsewhere"), &json!("message"), &json!(1)));
        let searched = &answer["searched"];
        assert_eq!((&searched["by"], &searched["indexBehind"]), (&json!("index"), &json!(false)), "{searched}");
        assert!(searched["indexCursor"].is_string() && searched["visible"] == 2, "{searched}");
        let nothing = search(world, json!({ "text": "xylophone orchestra" })).await;
        assert_eq!(nothing["data"], json!([]), "something is always nearest, and that is no answer");
    }

    async fn br_episode_002_a_search_stays_inside_its_user_refuses(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Secret").await;
        let node = say(world, &world.admin, id, None, "The kingfisher nests by the mill.").await;
        let brought = world.made("/api/v1/episodes", &json!({ "source": "text", "content": "Kingfishers again." })).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(search(&bert, json!({ "text": "kingfisher" })).await["data"], json!([]));
        let episode = format!("/api/v1/episodes/{}", brought["id"].as_str().unwrap());
        for path in [&episode, &format!("/api/v1/nodes/{node}/similar"), &format!("/api/v1/episodes/{}", episode_of(node))] {
            assert_eq!(bert.get(path).await.status, 404, "{path}");
        }
        assert_eq!(bert.get("/api/v1/episodes").await.json()["data"], json!([]));
        let tied = json!({ "source": "text", "content": "Mine.", "nodeId": node });
        assert_eq!(bert.post("/api/v1/episodes", tied.to_string()).await.breaks(), (422, "Z34".to_owned()));
    }

    async fn br_episode_002_an_episode_belongs_to_the_owner_of_its_conversation_holds(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let node = say(world, &world.admin, id, None, "Herons nest in May.").await;
        search(world, json!({ "text": "heron" })).await;
        let episode = world.get(&format!("/api/v1/episodes/{}", episode_of(node))).await.json();
        assert_eq!(episode["groupId"], json!(world.admin.owner()), "{episode}");
        assert_eq!((&episode["conversationId"], &episode["content"]), (&json!(id), &json!("Herons nest in May.")));
        let name = episode["name"].as_str().unwrap();
        assert!(name.starts_with("Turn:") && name.contains(&node.bare()) && name.ends_with("Herons nest in May."), "{name}");
        let listed = world.get(&format!("/api/v1/episodes?conversation={id}")).await.json();
        assert_eq!(listed["data"], json!([episode]));
    }

    async fn what_is_on_a_sibling_branch_is_not_remembered_here(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Plans").await;
        let ask = say(world, &world.admin, id, None, "Where do we go on holiday?").await;
        let left = say(world, &world.admin, id, Some(ask), "We travel to Portugal by train.").await;
        let right = say_at(world, &world.admin, (id, NodePosition::EditOf(left)), json!({ "type": "text", "text": "We travel to Norway by boat." }), By::Viewer).await;
        let from = async |node: NodeId| search(world, json!({ "text": "travel", "nodeId": node })).await;
        let (on_left, on_right) = (from(left).await, from(right).await);
        assert!(nodes(&on_left).contains(&left.to_string().as_str()), "{on_left}");
        assert!(!nodes(&on_left).contains(&right.to_string().as_str()), "{on_left}");
        assert!(nodes(&on_right).contains(&right.to_string().as_str()), "{on_right}");
        assert!(!nodes(&on_right).contains(&left.to_string().as_str()), "{on_right}");
        assert_eq!(on_right["data"][0]["found"], "path");
        let elsewhere = conversation(world, &world.admin, "Later").await;
        let stands = say(world, &world.admin, elsewhere, None, "What did we decide?").await;
        let seen = search(world, json!({ "text": "travel", "nodeId": stands, "strict": true })).await;
        assert_eq!(nodes(&seen), [right.to_string()], "from elsewhere the main path is seen: {seen}");
    }

    async fn whatever_decides_what_is_seen_is_known_to_the_very_next_question(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Plans").await;
        let elsewhere = conversation(world, &world.admin, "Later").await;
        let stands = say(world, &world.admin, elsewhere, None, "What did we decide?").await;
        let shown = async || {
            let answer = search(world, json!({ "text": "travel", "nodeId": stands, "strict": true })).await;
            assert_eq!(answer["searched"]["by"], "index", "{answer}");
            nodes(&answer).into_iter().map(|node| node.parse().unwrap()).collect::<BTreeSet<NodeId>>()
        };
        let mark = async |node: NodeId, marks: Value| {
            assert_eq!(world.change("PUT", &format!("/api/v1/nodes/{node}/marks"), marks.to_string()).await.status, 200);
        };
        let turn_to = async |node: NodeId| {
            let turn = world.get(&format!("/api/v1/nodes/{node}")).await.json()["turnId"].as_str().unwrap().to_owned();
            let path = format!("/api/v1/conversations/{id}/turns/{turn}/alternatives/{node}/activate");
            assert_eq!(world.change("PUT", &path, "{}").await.status, 200);
        };
        assert_eq!(shown().await, [].into());
        let ask = say(world, &world.admin, id, None, "Where do we go on holiday?").await;
        let left = say(world, &world.admin, id, Some(ask), "We travel to Portugal by train.").await;
        assert_eq!(shown().await, [left].into(), "said");
        let norway = json!({ "type": "text", "text": "We travel to Norway by boat." });
        let right = say_at(world, &world.admin, (id, NodePosition::EditOf(left)), norway, By::Viewer).await;
        assert_eq!(shown().await, [right].into(), "edited");
        turn_to(left).await;
        assert_eq!(shown().await, [left].into(), "switched");
        let below = say(world, &world.admin, id, Some(left), "Then we travel on to Lisbon.").await;
        assert_eq!(shown().await, [left, below].into(), "said on the branch");
        mark(left, json!({ "pruned": true })).await;
        assert_eq!(shown().await, [].into(), "pruned");
        mark(left, json!({ "pruned": false })).await;
        assert_eq!(shown().await, [left, below].into(), "restored");
        mark(below, json!({ "excluded": true })).await;
        assert_eq!(shown().await, [left].into(), "excluded");
        mark(below, json!({ "excluded": false })).await;
        assert_eq!(shown().await, [left, below].into(), "included");
        let fork = world.made(&format!("/api/v1/conversations/{id}/fork"), &json!({ "nodeId": right })).await;
        let fork = fork["id"].as_str().unwrap().parse().unwrap();
        let forked = say(world, &world.admin, fork, None, "Or shall we travel by bicycle?").await;
        assert_eq!(shown().await, [left, below, forked].into(), "forked");
        assert_eq!(world.post(&format!("/api/v1/items/{left}/redact"), r#"{"reason":"asked to"}"#).await.status, 200);
        assert_eq!(shown().await, [below, forked].into(), "redacted");
        turn_to(right).await;
        assert_eq!(shown().await, [right, forked].into(), "switched back");
    }

    async fn branches_that_no_path_shows_are_found_when_asked_for(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Plans").await;
        let ask = say(world, &world.admin, id, None, "Where do we go on holiday?").await;
        let left = say(world, &world.admin, id, Some(ask), "We travel to Portugal by train.").await;
        let below = say(world, &world.admin, id, Some(left), "Then we travel on to Lisbon.").await;
        let right = say_at(world, &world.admin, (id, NodePosition::EditOf(left)), json!({ "type": "text", "text": "We travel to Norway by boat." }), By::Viewer).await;
        let shown = search(world, json!({ "text": "travel", "strict": true })).await;
        assert_eq!((nodes(&shown), &shown["searched"]["allBranches"]), (vec![&*right.to_string()], &json!(false)), "{shown}");
        let all = search(world, json!({ "text": "travel", "strict": true, "allBranches": true })).await;
        let place = |node: NodeId| all["data"].as_array().unwrap().iter().find(|hit| hit["nodeId"] == json!(node)).map(|hit| &hit["found"]);
        assert_eq!([left, below, right].map(place), [Some(&json!("aside")), Some(&json!("aside")), Some(&json!("elsewhere"))], "{all}");
        assert_eq!(all["searched"]["allBranches"], true);
        let standing = search(world, json!({ "text": "travel", "strict": true, "allBranches": true, "nodeId": left })).await;
        let found: Vec<_> = standing["data"].as_array().unwrap().iter().map(|hit| (&hit["nodeId"], &hit["found"])).collect();
        assert!(found.contains(&(&json!(left), &json!("path"))) && found.contains(&(&json!(right), &json!("aside"))), "{standing}");
        let mark: NodeMarked = serde_json::from_value(json!({ "nodeId": left, "pruned": true })).unwrap();
        let admin = world.admin.clone();
        world.store.write(move |tx| tx.mark_node(&admin, &mark)).await.unwrap();
        let pruned = search(world, json!({ "text": "travel", "strict": true, "allBranches": true })).await;
        assert_eq!(nodes(&pruned), [right.to_string()], "what was pruned stays unfound: {pruned}");
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(search(&bert, json!({ "text": "travel", "allBranches": true })).await["data"], json!([]));
    }

    async fn both_clocks_are_asked(world: &ServerFixture) {
        let old = say_then(world, Millis(1_000_000_000_000), "The cat is called Mimi.").await;
        world.clock.advance(1_000_000);
        let new = say_then(world, Millis(1_600_000_000_000), "The cat is called Tiger.").await;
        let found = async |narrowed: Value| {
            let mut body = json!({ "text": "the cat" });
            body.as_object_mut().unwrap().extend(narrowed.as_object().unwrap().clone());
            let answer = search(world, body).await;
            let mut found: Vec<String> = nodes(&answer).into_iter().map(str::to_owned).collect();
            found.sort();
            found
        };
        let (old, new) = (vec![old.to_string()], vec![new.to_string()]);
        assert_eq!(found(json!({})).await, [&old[..], &new].concat());
        assert_eq!(found(json!({ "asOf": "2010-01-01T00:00:00Z" })).await, old);
        assert_eq!(found(json!({ "knownAt": START.plus(500_000) })).await, old, "it was not known yet");
        assert_eq!(found(json!({ "from": "2010-01-01T00:00:00Z" })).await, new);
        assert_eq!(found(json!({ "until": "2010-01-01T00:00:00Z" })).await, old);
        assert_eq!(found(json!({ "asOf": "1990-01-01T00:00:00Z" })).await, Vec::<String>::new());
        let me = json!(ActorId::from(world.admin.owner()));
        assert_eq!(found(json!({ "actorIds": [me] })).await.len(), 2);
        assert_eq!(found(json!({ "sources": ["text"] })).await, Vec::<String>::new());
        let refused = world.post("/api/v1/search", json!({ "text": "cat", "atLeast": "soon" }).to_string()).await;
        assert_eq!(refused.refused(), (400, "invalid_body".to_owned()));
        assert_eq!(search(world, json!({ "text": "the cat", "atLeast": "latest", "asOf": "2010-01-01T00:00:00Z" })).await["searched"]["asOf"], "2010-01-01T00:00:00.000Z");
    }

    async fn content_that_is_brought_is_seen_from_everywhere_or_from_its_node(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Trees").await;
        let root = say(world, &world.admin, id, None, "What grows here?").await;
        let branch = say(world, &world.admin, id, Some(root), "Oaks do.").await;
        let beside = say_at(world, &world.admin, (id, NodePosition::EditOf(branch)), json!({ "type": "text", "text": "Elms do." }), By::Viewer).await;
        let message = json!({ "source": "message", "content": "Larch wood resists rain.", "speaker": "Ada", "validAt": "2020-05-01T00:00:00Z" });
        let free = world.made("/api/v1/episodes", &message).await;
        let tied = json!({ "source": "json", "content": { "wood": "larch", "grows": ["fast"] }, "nodeId": branch });
        let tied = world.made("/api/v1/episodes", &tied).await;
        let ids = |answer: &Value| answer["data"].as_array().unwrap().iter().map(|hit| hit["episodeId"].clone()).collect::<Vec<_>>();
        let from_branch = search(world, json!({ "text": "larch", "nodeId": branch })).await;
        assert!(ids(&from_branch).contains(&free["id"]) && ids(&from_branch).contains(&tied["id"]), "{from_branch}");
        let from_beside = search(world, json!({ "text": "larch", "nodeId": beside })).await;
        assert_eq!(ids(&from_beside), [free["id"].clone()], "{from_beside}");
        assert_eq!(from_beside["data"][0]["found"], "anywhere");
        let shown = world.get(&format!("/api/v1/episodes/{}", free["id"].as_str().unwrap())).await.json();
        assert_eq!((&shown["speaker"], &shown["validAt"]), (&json!("Ada"), &json!("2020-05-01T00:00:00.000Z")));
        assert_eq!((&from_beside["data"][0]["saidBy"], &from_beside["data"][0]["speaker"]), (&json!("Ada"), &json!(null)));
        for bad in [json!({ "source": "text", "content": "" }), json!({ "source": "summary", "content": "x" }), json!({ "source": "json", "content": 1 })] {
            assert_eq!(world.post("/api/v1/episodes", bad.to_string()).await.refused().0, 422, "{bad}");
        }
    }

    async fn br_turn_episode_001_what_was_said_stays_whatever_becomes_of_its_episode_holds(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let node = say(world, &world.admin, id, None, "Herons nest in May.").await;
        search(world, json!({ "text": "heron" })).await;
        world.engine.forget_index().await.unwrap();
        let shown = world.get(&format!("/api/v1/nodes/{node}")).await.json();
        assert_eq!(shown["content"]["text"], "Herons nest in May.", "what is shown is the turn's own content");
        let again = search(world, json!({ "text": "heron" })).await;
        assert_eq!((nodes(&again)[0], &again["searched"]["by"]), (node.to_string().as_str(), &json!("index")), "{again}");
    }

    async fn br_turn_episode_003_an_index_that_knows_what_was_destroyed_tells_nothing_refuses(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let node = say(world, &world.admin, id, None, "The bittern booms at dusk.").await;
        let kept = say(world, &world.admin, id, Some(node), "A bittern is shy.").await;
        assert_eq!(search(world, json!({ "text": "bittern" })).await["data"].as_array().unwrap().len(), 2);
        let admin = world.admin.clone();
        let item = world.store.read(move |tx| Ok(tx.node(&admin, node)?.content)).await.unwrap().unwrap();
        let redacted = world.post(&format!("/api/v1/items/{item}/redact"), r#"{"reason":"asked to"}"#).await;
        assert_eq!(redacted.status, 200, "{}", redacted.text);
        let left = search(world, json!({ "text": "bittern booms dusk" })).await;
        assert_eq!(nodes(&left), [kept.to_string()], "{left}");
        assert_eq!(world.get(&format!("/api/v1/episodes/{}", episode_of(node))).await.json()["content"], Value::Null);
        assert!(!left.to_string().contains("booms at dusk"));
        assert!(!holds(&world.index_folder(), b"booms"), "what was destroyed lies in no file of the index");
        assert!(holds(&world.index_folder(), b"shy"), "the files are looked at");
    }

    async fn an_index_that_is_damaged_is_built_again(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let node = say(world, &world.admin, id, None, "Herons nest in May.").await;
        std::fs::create_dir_all(world.index_folder()).unwrap();
        std::fs::write(world.index_folder().join("index.json"), "rubbish").unwrap();
        let found = search(world, json!({ "text": "heron" })).await;
        assert_eq!((nodes(&found), &found["searched"]["by"]), (vec![node.to_string().as_str()], &json!("index")), "{found}");
    }

    async fn what_resembles_a_node_is_told(world: &ServerFixture) {
        let first = conversation(world, &world.admin, "Cooking").await;
        let soup = say(world, &world.admin, first, None, "I cook tomato soup with basil and garlic.").await;
        let second = conversation(world, &world.admin, "Dinner").await;
        let sauce = say(world, &world.admin, second, None, "Garlic and basil go into the tomato sauce.").await;
        let third = conversation(world, &world.admin, "Cars").await;
        say(world, &world.admin, third, None, "The clutch slips on steep hills.").await;
        search(world, json!({ "text": "anything" })).await;
        let alike = world.get(&format!("/api/v1/nodes/{soup}/similar?limit=5")).await.json();
        assert_eq!(nodes(&alike), [sauce.to_string()], "{alike}");
        assert_eq!(world.get(&format!("/api/v1/nodes/{soup}/similar?limit=0")).await.status, 400);
    }

    async fn what_models_are_not_shown_crowds_nothing_out(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Herons").await;
        let first = say(world, &world.admin, id, None, "Where do birds nest?").await;
        let excluded = say_many(world, id, first, "Heron heron heron.", 300).await;
        let last = excluded.last().copied();
        let shown = say(world, &world.admin, id, last, "Long ago, on a cold morning far from here, somebody saw one heron.").await;
        let admin = world.admin.clone();
        let exclude = move |tx: &mut skein_store::Tx<'_>| {
            excluded.iter().try_for_each(|node| {
                let mark: NodeMarked = serde_json::from_value(json!({ "nodeId": node, "excluded": true })).unwrap();
                tx.mark_node(&admin, &mark).map(drop)
            })
        };
        world.store.write(exclude).await.unwrap();
        let found = search(world, json!({ "text": "heron", "strict": true })).await;
        assert_eq!((nodes(&found), &found["searched"]["by"]), (vec![shown.to_string().as_str()], &json!("index")), "{found}");
    }

    async fn how_the_index_stands_is_for_administrators(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let node = say(world, &world.admin, id, None, "Herons nest in May.").await;
        let before = world.get("/api/v1/index").await.json();
        let unbound = &before["unbound"][0];
        assert_eq!((&before["episodes"], &unbound["id"]), (&json!(0), &json!(episode_of(node))), "{before}");
        assert_eq!((&unbound["ownerId"], &unbound["reason"]), (&json!(world.admin.owner()), &json!("no episode is made of it yet")));
        assert!(before["behind"].as_u64().unwrap() > 0, "{before}");
        search(world, json!({ "text": "heron" })).await;
        let after = world.get("/api/v1/index").await.json();
        assert_eq!((&after["available"], &after["episodes"], &after["withVector"]), (&json!(true), &json!(1), &json!(1)), "{after}");
        assert_eq!((&after["unbound"], &after["behind"]), (&json!([]), &json!(0)), "{after}");
        let bert = world.joined_by("bert", Role::User, Scope::Admin).await;
        assert_eq!(bert.get("/api/v1/index").await.status, 403);
    }
}
