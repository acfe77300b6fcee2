//! Nodes over HTTP, on both databases: found again, marked, remarked about, linked; and what stands around them.

use futures::future::join_all;
use serde_json::{Value, json};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, Viewer};
use skein_store::tree::append::{NodePlacement, NodePosition};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, activation, id, ids, turn_path};
use crate::server_fixture::{ServerFixture, both};

const NODES: &str = "/api/v1/nodes";

fn path(said: &Value) -> String {
    format!("{NODES}/{}", id(&said["node"]))
}

async fn read(world: &ServerFixture, path: &str) -> Value {
    let answer = world.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn mark(world: &ServerFixture, said: &Value, marks: &Value) -> Value {
    world.changed("PUT", &format!("{}/marks", path(said)), marks).await
}

/// A place that is kept for what an agent will answer.
async fn reserve(world: &ServerFixture, conversation: &Value, parent: &Value) -> NodeId {
    let viewer: Viewer = world.admin.clone();
    let conversation: ConversationId = id(conversation).parse().unwrap();
    let parent: NodeId = id(&parent["node"]).parse().unwrap();
    let placing = NodePlacement {
        conversation,
        position: NodePosition::After { parent: Some(parent), speaker: Speaker::Agent, turn_type: TurnType::Message },
        author: ActorId::SYSTEM,
        author_type: AuthorType::Model,
        sources: Vec::new(),
        executed_by: None,
        leads: None,
    };
    world.store.write(move |tx| tx.reserve_node(&viewer, &placing).map(|(row, _)| row.id)).await.unwrap().value
}

both! {
    async fn ag_local_004_a_node_is_found_by_its_id_and_by_its_short_name_in_any_case_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many?").await;
        let local = said["node"]["localId"].as_str().unwrap();
        let node = read(world, &path(&said)).await;
        assert_eq!((&node["content"]["text"], &node["tags"]), (&json!("How many?"), &json!([])));
        assert_eq!(talk.get(&format!("/nodes/{local}")).await, node);
        assert_eq!(talk.get(&format!("/nodes/{}", local.to_lowercase())).await, node);
    }

    async fn ag_local_004_a_short_name_of_another_tree_refuses(world: &ServerFixture) {
        let (talk, other) = (ConversationFixture::new(world).await, ConversationFixture::new(world).await);
        let said = talk.say(None, "How many?").await;
        let local = said["node"]["localId"].as_str().unwrap();
        for name in [local, "ZZZZZZ", "short", "01HQ3K4N7Y8M2P5R6T9W0X1Z2A"] {
            let answer = world.get(&format!("{}/nodes/{name}", other.path)).await;
            assert_eq!(answer.refused(), (404, "not_found".to_owned()), "{name}");
        }
    }

    async fn what_follows_a_node_and_what_stands_beside_it(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let mut answers = Vec::new();
        for text in ["Ten.", "Eleven.", "Twelve."] {
            world.clock.advance(1);
            answers.push(talk.say(Some(&first), text).await);
        }
        let all: Vec<&str> = answers.iter().map(|answer| id(&answer["node"])).collect();
        assert_eq!(ids(&read(world, &format!("{}/children", path(&first))).await), all);
        let page = read(world, &format!("{}/children?limit=2", path(&first))).await;
        let next = page["pagination"]["next"].as_str().unwrap();
        let rest = read(world, &format!("{}/children?limit=2&cursor={next}", path(&first))).await;
        assert_eq!([ids(&page), ids(&rest)].concat(), all);
        assert_eq!(ids(&read(world, &format!("{}/siblings", path(&answers[1]))).await), [all[0], all[2]]);
        let root = talk.made(&format!("{}/alternatives", turn_path(&first)), &json!({ "text": "Where?" })).await;
        assert_eq!(ids(&read(world, &format!("{}/siblings", path(&root))).await), [id(&first["node"])]);
        assert!(ids(&read(world, &format!("{}/children", path(&root))).await).is_empty());
    }

    async fn what_grew_below_a_node_comes_in_pages_and_as_deep_as_asked_for(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let mut all = vec![id(&first["node"]).to_owned()];
        let mut last = first.clone();
        for text in ["Ten.", "Sure?", "Quite."] {
            for beside in ["", " Really."] {
                world.clock.advance(1);
                let said = talk.say(Some(&last), &format!("{text}{beside}")).await;
                all.push(id(&said["node"]).to_owned());
                if !beside.is_empty() {
                    last = said;
                }
            }
        }
        let below = format!("{}/subtree", path(&first));
        assert_eq!(ids(&read(world, &below).await), all);
        assert_eq!(ids(&read(world, &format!("{below}?depth=1")).await), all[..3]);
        assert_eq!(ids(&read(world, &format!("{below}?depth=0")).await), all[..1]);
        let page = read(world, &format!("{below}?limit=4")).await;
        let next = page["pagination"]["next"].as_str().unwrap();
        let rest = read(world, &format!("{below}?limit=4&cursor={next}")).await;
        assert_eq!([ids(&page), ids(&rest)].concat(), all);
        assert_eq!(world.get(&format!("{below}?depth=deep")).await.refused(), (400, "invalid_query".to_owned()));
    }

    async fn br_conv_003_a_fork_goes_on_showing_the_version_it_was_made_at_holds(world: &ServerFixture) {
        let conversation = world.made(CONVERSATIONS, &json!({ "mode": "buffer" })).await;
        let talk = ConversationFixture::of(world, &conversation);
        let first = talk.say(None, "Herons stand").await;
        world.clock.advance(1);
        let follows = talk.say(Some(&first), " in the lake.").await;
        world.clock.advance(1);
        let edit = json!({ "text": "Grey herons stand", "editedFrom": first["node"]["id"] });
        let version = talk.made(&format!("{}/alternatives", turn_path(&first)), &edit).await;
        let turn_to = async |said: &Value| assert_eq!(talk.ask("PUT", &activation(said), &json!({})).await.status, 200);
        turn_to(&version).await;
        turn_to(&follows).await;
        let made = talk.made("/fork", &json!({ "nodeId": follows["node"]["id"] })).await;
        let fork = ConversationFixture::of(world, &made);
        world.clock.advance(1);
        let said = fork.say(None, " And fish.").await;
        let shown = [&version, &follows, &said].map(|said| id(&said["node"]).to_owned());
        assert_eq!(ids(&fork.get("/path").await), shown);
        turn_to(&first).await;
        turn_to(&follows).await;
        assert_eq!(ids(&talk.get("/path").await)[0], id(&first["node"]));
        assert_eq!(ids(&fork.get("/path").await), shown);
        // So does what is forked from the fork, and what is read page by page.
        let nested = ConversationFixture::of(world, &fork.made("/fork", &json!({})).await);
        assert_eq!(ids(&nested.get("/path").await), shown);
        let page = fork.get("/path?limit=2").await;
        let above = fork.get(&format!("/path?limit=2&cursor={}", page["pagination"]["next"].as_str().unwrap())).await;
        assert_eq!([ids(&above), ids(&page)].concat(), shown);
    }

    async fn ag_path_004_versions_of_one_node_are_no_siblings_holds(world: &ServerFixture) {
        let conversation = world.made(CONVERSATIONS, &json!({ "mode": "buffer" })).await;
        let talk = ConversationFixture::of(world, &conversation);
        let first = talk.say(None, "Herons stand").await;
        world.clock.advance(1);
        let follows = talk.say(Some(&first), " in the lake.").await;
        world.clock.advance(1);
        let edit = json!({ "text": "Grey herons stand", "editedFrom": first["node"]["id"] });
        let version = talk.made(&format!("{}/alternatives", turn_path(&first)), &edit).await;
        world.clock.advance(1);
        let other = talk.say(Some(&version), " by the river.").await;
        assert!(ids(&read(world, &format!("{}/siblings", path(&version))).await).is_empty());
        assert_eq!(ids(&read(world, &format!("{}/siblings", path(&follows))).await), [id(&other["node"])]);
        // What followed the node follows its version too (rule AG-EDIT-003).
        let children = read(world, &format!("{}/children", path(&version))).await;
        assert_eq!(ids(&children), [id(&follows["node"]), id(&other["node"])]);
        let edges = read(world, &format!("{}/edges", path(&follows))).await;
        let sources = json!([
            { "nodeId": first["node"]["id"], "role": "primary", "isVersion": false },
            { "nodeId": version["node"]["id"], "role": "primary", "isVersion": true },
        ]);
        assert_eq!(edges["data"][0]["sources"], sources);
    }

    async fn ag_edit_001_the_history_of_edits_says_which_words_changed_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "Eleven herons stand there.").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        world.clock.advance(1);
        let edit = |text: &str, from: &Value| json!({ "text": text, "editedFrom": from["node"]["id"] });
        let second = talk.made(&beside, &edit("Eleven grey herons stand there.", &first)).await;
        world.clock.advance(1);
        let third = talk.made(&beside, &edit("Twelve grey herons stand there.", &second)).await;
        talk.made(&beside, &json!({ "text": "Something else." })).await;
        for said in [&first, &second, &third] {
            let history = read(world, &format!("{}/edits", path(said))).await;
            assert_eq!(ids(&history), [id(&first["node"]), id(&second["node"]), id(&third["node"])]);
        }
        let history = read(world, &format!("{}/edits?limit=1&cursor={}", path(&first), id(&first["node"]))).await;
        assert_eq!((ids(&history), &history["pagination"]["next"]), (vec![id(&second["node"])], &second["node"]["id"]));
        let diff = &history["data"][0]["diff"];
        assert_eq!(diff["precision"], "words");
        let added: Vec<&Value> = diff["runs"].as_array().unwrap().iter().filter(|run| run["kind"] != "equal").collect();
        assert_eq!(added.len(), 1);
        assert_eq!((&added[0]["kind"], added[0]["text"].as_str().unwrap().trim()), (&json!("added"), "grey"));
        let whole = read(world, &format!("{}/edits", path(&first))).await;
        assert_eq!(whole["data"][0]["diff"], Value::Null);
    }

    async fn the_edges_of_a_node_say_what_led_to_it_and_what_it_led_to(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        world.clock.advance(1);
        let second = talk.say(Some(&first), "Eleven.").await;
        world.clock.advance(1);
        let sources = json!([{ "nodeId": first["node"]["id"], "role": "instruction" }]);
        let body = json!({ "parentAlternativeId": second["node"]["id"], "text": "Sure?", "sources": sources });
        let third = talk.made("/turns", &body).await;
        let into = read(world, &format!("{}/edges", path(&third))).await;
        assert_eq!(into["data"].as_array().unwrap().len(), 1);
        let edge = &into["data"][0];
        assert_eq!((&edge["type"], &edge["targetId"]), (&json!("continuation"), &third["node"]["id"]));
        let expected = json!([
            { "nodeId": second["node"]["id"], "role": "primary", "isVersion": false },
            { "nodeId": first["node"]["id"], "role": "instruction", "isVersion": false },
        ]);
        assert_eq!(edge["sources"], expected);
        let around = read(world, &format!("{}/edges", path(&first))).await;
        let targets: Vec<&Value> = around["data"].as_array().unwrap().iter().map(|edge| &edge["targetId"]).collect();
        assert_eq!(targets, [&first["node"]["id"], &second["node"]["id"], &third["node"]["id"]]);
        assert_eq!(around["data"][0]["sources"], json!([]));
    }

    async fn ag_edge_004_a_remark_stands_beside_the_course_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "Eleven.").await;
        world.clock.advance(1);
        let remark = world.made(&format!("{}/annotations", path(&first)), &json!({ "text": "Counted twice." })).await;
        assert_eq!((&remark["turn"], &remark["node"]["depth"], &remark["node"]["turnId"]), (&Value::Null, &Value::Null, &Value::Null));
        let listed = read(world, &format!("{}/annotations", path(&first))).await;
        assert_eq!(ids(&listed), [id(&remark["node"])]);
        assert_eq!(listed["data"][0]["content"]["text"], "Counted twice.");
        assert_eq!(talk.get("/path").await["data"].as_array().unwrap().len(), 1);
        assert!(ids(&read(world, &format!("{}/children", path(&first))).await).is_empty());
        let tree = talk.get("/tree").await;
        assert_eq!((&tree["nodes"]["turn"][1], &tree["nodes"]["depth"][1]), (&json!(-1), &json!(0)));
        assert_eq!(tree["nodes"]["parent"][1], 0, "it hangs on what it is about");
        world.changed("PUT", &format!("{}/marks", path(&first)), &json!({ "tag": ["checked"] })).await;
        assert_eq!(talk.get("/path").await["data"][0]["tags"], json!(["checked"]));
        let edges = read(world, &format!("{}/edges", path(&remark))).await;
        assert_eq!(edges["data"][0]["type"], "annotation");
        assert_eq!(edges["data"][0]["sources"][0]["nodeId"], first["node"]["id"]);
    }

    async fn ag_edge_004_going_on_from_a_remark_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "Eleven.").await;
        let annotations = format!("{}/annotations", path(&first));
        let remark = world.made(&annotations, &json!({ "text": "Counted twice." })).await;
        let after = json!({ "parentAlternativeId": remark["node"]["id"], "text": "Really?" });
        talk.refuses("/turns", &after, 422, "AG-EDGE-004").await;
        talk.refuses("/fork", &json!({ "nodeId": remark["node"]["id"] }), 422, "BR-CONV-003").await;
        let empty = world.post(&annotations, r#"{"text":" "}"#).await;
        assert_eq!(empty.breaks(), (422, "AG-EDIT-004".to_owned()));
        assert_eq!(world.post(&annotations, "{}").await.refused(), (400, "invalid_body".to_owned()));
        let missing = world.post(&format!("{NODES}/item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A/annotations"), r#"{"text":"a"}"#).await;
        assert_eq!(missing.refused(), (404, "not_found".to_owned()));
        // An item that is no node is no node.
        let note = world.note("a").await;
        assert_eq!(world.get(&format!("{NODES}/{}", id(&note))).await.refused(), (404, "not_found".to_owned()));
    }

    async fn the_forks_at_a_node_are_listed_there(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let second = talk.say(Some(&first), "Eleven.").await;
        let fork = talk.made("/fork", &json!({ "nodeId": first["node"]["id"] })).await;
        assert_eq!(ids(&read(world, &format!("{}/forks", path(&first))).await), [id(&fork)]);
        assert!(ids(&read(world, &format!("{}/forks", path(&second))).await).is_empty());
    }

    async fn ag_node_004_marks_stand_beside_a_node_and_leave_its_hash_alone_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        world.clock.advance(1);
        let second = talk.say(Some(&first), "Eleven.").await;
        let marked = mark(world, &first, &json!({ "bookmarked": true, "label": "the count", "tag": ["heron", "Lake"] })).await;
        assert_eq!((&marked["bookmarked"], &marked["label"], &marked["tags"]), (&json!(true), &json!("the count"), &json!(["Lake", "heron"])));
        assert_eq!(marked["contentHash"], first["node"]["contentHash"]);
        mark(world, &second, &json!({ "bookmarked": true, "tag": ["heron"], "excluded": true, "pruned": true })).await;
        let bookmarked = read(world, &format!("{NODES}?bookmarked=true")).await;
        assert_eq!(ids(&bookmarked), [id(&second["node"]), id(&first["node"])]);
        assert_eq!(bookmarked["data"][1]["tags"], json!(["Lake", "heron"]));
        assert_eq!(ids(&read(world, &format!("{NODES}?tag=Lake")).await), [id(&first["node"])]);
        assert!(ids(&read(world, &format!("{NODES}?tag=lake")).await).is_empty());
        let tags = read(world, "/api/v1/tags").await;
        assert_eq!(tags["data"], json!([{ "tag": "Lake", "nodes": 1 }, { "tag": "heron", "nodes": 2 }]));
        let page = read(world, "/api/v1/tags?limit=1").await;
        let rest = read(world, &format!("/api/v1/tags?cursor={}", page["pagination"]["next"].as_str().unwrap())).await;
        assert_eq!(rest["data"], json!([{ "tag": "heron", "nodes": 2 }]));
        assert_eq!(world.get("/api/v1/tags?cursor=%00").await.refused(), (400, "invalid_cursor".to_owned()));
        assert_eq!(talk.get("/tree").await["nodes"]["marks"], json!([1, 7]));
        let cleared = mark(world, &second, &json!({ "bookmarked": false, "pruned": false, "untag": ["heron"] })).await;
        assert_eq!((&cleared["pruned"], &cleared["excluded"], &cleared["tags"]), (&json!(false), &json!(true), &json!([])));
        let cleared = mark(world, &first, &json!({ "bookmarked": false })).await;
        assert_eq!(cleared["label"], Value::Null);
    }

    async fn ag_node_007_marks_that_say_nothing_or_two_things_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many?").await;
        let marks = format!("{}/marks", path(&said));
        let check = async |body: Value, status: u16, rule: &str| {
            let answer = world.change("PUT", &marks, body.to_string()).await;
            assert_eq!(answer.breaks(), (status, rule.to_owned()), "{body}: {}", answer.text);
        };
        check(json!({ "label": "the count" }), 422, "AG-NODE-004").await;
        check(json!({ "bookmarked": false, "label": "the count" }), 422, "AG-NODE-004").await;
        check(json!({ "tag": ["a"], "untag": ["a"] }), 422, "AG-NODE-007").await;
        let many: Vec<String> = (0..101).map(|n| format!("tag {n}")).collect();
        check(json!({ "tag": many }), 422, "AG-NODE-007").await;
        for bad in [json!({}), json!({ "tag": [" a"] }), json!({ "tag": "a" }), json!({ "label": "" }), json!({ "seen": true })] {
            check(bad, 400, "").await;
        }
        assert_eq!(read(world, &path(&said)).await["tags"], json!([]));
    }

    async fn nodes_are_listed_by_who_said_them(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        world.clock.advance(1);
        let second = talk.say(Some(&first), "Eleven.").await;
        let author = first["node"]["authorId"].as_str().unwrap();
        let page = read(world, &format!("{NODES}?author={author}&limit=1")).await;
        assert_eq!(ids(&page), [id(&second["node"])]);
        let next = page["pagination"]["next"].as_str().unwrap();
        assert_eq!(ids(&read(world, &format!("{NODES}?author={author}&cursor={next}")).await), [id(&first["node"])]);
        assert!(ids(&read(world, &format!("{NODES}?author=entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A")).await).is_empty());
        assert_eq!(ids(&read(world, NODES).await), [id(&second["node"]), id(&first["node"])]);
        for query in ["?tag=%00", "?tag=", "?author=x", "?bookmarked=false", "?bookmarked=x", "?bookmarked=true&tag=a", "?name=a"] {
            assert_eq!(world.get(&format!("{NODES}{query}")).await.refused(), (400, "invalid_query".to_owned()), "{query}");
        }
    }

    async fn ag_edge_003_nodes_of_two_trees_are_linked_and_found_from_both_ends_holds(world: &ServerFixture) {
        let (talk, other) = (ConversationFixture::new(world).await, ConversationFixture::new(world).await);
        let (here, there) = (talk.say(None, "Eleven.").await, other.say(None, "Herons eat frogs.").await);
        let ends = json!({ "kind": "linked_with", "source": here["node"]["id"], "target": there["node"]["id"] });
        let link = world.made("/api/v1/relations", &ends).await;
        for (end, side) in [(&here, "source"), (&there, "target")] {
            let found = read(world, &format!("/api/v1/relations?of={}&side={side}&kind=linked_with", id(&end["node"]))).await;
            assert_eq!(ids(&found), [id(&link)]);
        }
        let path = format!("/api/v1/relations/{}", id(&link));
        world.changed("PUT", &path, &json!({ "confidence": null, "metadata": { "why": "birds" } })).await;
        world.changed("DELETE", &path, &json!({})).await;
        assert_eq!(world.get(&path).await.refused(), (404, "not_found".to_owned()));
    }

    async fn z5_going_on_from_what_is_not_complete_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let conversation = talk.shown().await;
        world.clock.advance(1);
        let pending = reserve(world, &conversation, &first).await;
        let after = json!({ "parentAlternativeId": pending, "text": "And?" });
        talk.refuses("/turns", &after, 409, "Z5").await;
        talk.refuses("/fork", &json!({ "nodeId": pending }), 409, "Z5").await;
        let shown = read(world, &format!("{NODES}/{pending}")).await;
        assert_eq!((&shown["status"], &shown["cacheStatus"], &shown["content"]), (&json!("pending"), &json!("generating"), &Value::Null));
        let viewer = world.admin.clone();
        world.store.write(move |tx| tx.fail_node(&viewer, pending, "nothing came")).await.unwrap();
        talk.refuses("/turns", &after, 409, "Z5").await;
        assert_eq!(talk.ask("POST", "/turns", &after).await.code(), "node_not_complete");
        assert_eq!(read(world, &format!("{NODES}/{pending}")).await["status"], "failed");
        assert_eq!(talk.get("/tree").await["nodes"]["status"], json!(["c", "f"]));
    }

    async fn br_turn_008_people_who_say_and_turn_at_once_leave_one_node_shown_per_turn_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let other = talk.made(&format!("{}/alternatives", turn_path(&first)), &json!({ "text": "Where?" })).await;
        let asked = (0..12).map(|n| {
            let (world, path) = (world.clone(), talk.path.clone());
            let body = json!({ "parentAlternativeId": if n % 2 == 0 { &first } else { &other }["node"]["id"], "text": n.to_string() });
            let turning = activation(if n % 3 == 0 { &first } else { &other });
            tokio::spawn(async move {
                let said = world.post(&format!("{path}/turns"), body.to_string()).await;
                assert_eq!(said.status, 201, "{}", said.text);
                let turned = world.change("PUT", &format!("{path}{turning}"), "{}").await;
                assert_eq!(turned.status, 200, "{}", turned.text);
            })
        });
        join_all(asked).await.into_iter().for_each(|done| done.unwrap());
        let tree = talk.get("/tree").await;
        let (turns, selected) = (tree["nodes"]["turn"].as_array().unwrap(), tree["nodes"]["selected"].as_array().unwrap());
        assert_eq!(turns.len(), 14);
        for turn in 0..tree["turns"].as_array().unwrap().len() {
            let shown = turns.iter().zip(selected).filter(|(of, selected)| **of == json!(turn) && **selected == json!(1));
            assert_eq!(shown.count(), 1, "{tree}");
        }
    }
}
