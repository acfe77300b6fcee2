//! Conversations over HTTP, on both databases: what is said, turned about, forked, folded; and what is refused.

use axum::body::Body;
use serde_json::{Value, json};
use skein_core::ConversationId;
use skein_core::account::{Role, Scope};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::ExecutedBy;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource, ReceivedResponse};

use crate::blobs::PNG;
use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, activation, id, ids, turn_path};
use crate::server_fixture::{Answer, ServerFixture, both, fresh_key};

/// A change on condition that its record is as it was looked at.
async fn if_match(world: &ServerFixture, method: &str, path: &str, looked_at: &Value, body: &Value) -> Answer {
    let tag = format!("\"{}\"", looked_at["hash"].as_str().unwrap());
    let request = world.request(method, path).header("if-match", tag).header("idempotency-key", fresh_key());
    world.send(request.body(Body::from(if body.is_null() { String::new() } else { body.to_string() })).unwrap()).await
}

both! {
    async fn mg_core_002_an_act_that_names_a_hash_is_refused_once_the_record_has_another_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.shown().await;
        let now = world.changed("PUT", &talk.path, &json!({ "title": "Birds", "basedOnHash": before["hash"] })).await;
        let secret = world.made("/api/v1/secrets", &json!({ "name": "s", "type": "api_key", "value": "k-12" })).await;
        let secret_path = format!("/api/v1/secrets/{}", id(&secret));
        let renamed = world.changed("PUT", &secret_path, &json!({ "name": "t", "basedOnHash": secret["hash"] })).await;
        let fold = format!("{}/fold", talk.path);
        let summary = json!({ "summary": "Nothing came of it." });
        let both = json!({ "title": "Fish", "basedOnHash": now["hash"] });
        let mark = world.mark().await;
        for (method, path, looked_at, body) in [
            ("POST", &fold, &before, &summary),
            ("PUT", &talk.path, &before, &both),
            ("DELETE", &secret_path, &secret, &Value::Null),
        ] {
            let refused = if_match(world, method, path, looked_at, body).await;
            assert_eq!(refused.breaks(), (409, "MG-CORE-002".to_owned()), "{method} {path}");
            assert_eq!(refused.json()["error"]["details"]["basedOnHash"], looked_at["hash"]);
        }
        assert_eq!(world.written_since(mark).await, 0);
        assert_eq!(if_match(world, "DELETE", &secret_path, &renamed, &Value::Null).await.status, 200);
        assert_eq!(if_match(world, "POST", &fold, &now, &summary).await.json()["folded"], true);
        let malformed = world.request("POST", &fold).header("if-match", "v1").header("idempotency-key", fresh_key());
        let malformed = world.send(malformed.body(Body::from(summary.to_string())).unwrap()).await;
        assert_eq!(malformed.refused(), (400, "invalid_body".to_owned()));
    }

    async fn a_conversation_is_begun_read_changed_and_listed_by_what_was_last_said(world: &ServerFixture) {
        let empty = world.made(CONVERSATIONS, &json!({})).await;
        assert_eq!((&empty["title"], &empty["mode"], &empty["kind"]), (&json!("Loom Tree 1"), &json!("dialogue"), &json!("main")));
        assert_eq!((&empty["rootTurnId"], &empty["nodes"], &empty["userId"]), (&Value::Null, &json!(0), &empty["ownerId"]));
        world.clock.advance(1);
        let talk = ConversationFixture::new(world).await;
        world.clock.advance(1);
        let first = ConversationFixture::of(world, &empty);
        let said = first.say(None, "Herons stand in the lake.").await;
        let shown = first.shown().await;
        assert_eq!((&shown["title"], &shown["nodes"]), (&json!("Herons stand in the lake."), &json!(1)));
        assert_eq!((&shown["rootNodeId"], &shown["cursorNodeId"]), (&said["node"]["id"], &said["node"]["id"]));
        let listed = world.get(CONVERSATIONS).await.json();
        assert_eq!(ids(&listed), [id(&empty), id(&talk.shown().await)]);
        let page = world.get(&format!("{CONVERSATIONS}?limit=1")).await.json();
        let next = page["pagination"]["next"].as_str().unwrap();
        assert_eq!(ids(&world.get(&format!("{CONVERSATIONS}?limit=1&cursor={next}")).await.json()), ids(&listed)[1..]);
        let change = json!({ "title": "Birds", "tags": ["lake"], "contextBudget": 4096, "basedOnHash": shown["hash"] });
        let changed = world.changed("PUT", &first.path, &change).await;
        assert_eq!((&changed["title"], &changed["tags"], &changed["contextBudget"]), (&json!("Birds"), &json!(["lake"]), &json!(4096)));
        let again = first.ask("PUT", "", &change).await;
        assert_eq!(again.breaks(), (409, "MG-CORE-002".to_owned()));
        let of_project = format!("{CONVERSATIONS}?projectId={}", empty["projectId"].as_str().unwrap());
        assert_eq!(ids(&world.get(&of_project).await.json()).len(), 2);
        let elsewhere = world.get(&format!("{CONVERSATIONS}?projectId=entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A")).await.json();
        assert!(ids(&elsewhere).is_empty());
        for query in ["status=gone", "projectId=x", "limit=0", "shared=true"] {
            assert_eq!(world.get(&format!("{CONVERSATIONS}?{query}")).await.refused(), (400, "invalid_query".to_owned()), "{query}");
        }
        assert_eq!(world.get(&format!("{CONVERSATIONS}?cursor=x")).await.refused(), (400, "invalid_cursor".to_owned()));
    }

    async fn ag_tree_002_a_root_without_words_leaves_the_number_holds(world: &ServerFixture) {
        ConversationFixture::new(world).await;
        world.clock.advance(1);
        let talk = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({})).await);
        let attached = world.upload("/api/v1/blobs", "image/png", PNG).await.json();
        let image = json!({ "type": "image", "ref": attached["itemId"], "mimeType": "image/png", "width": 400, "height": 2 });
        talk.made("/turns", &json!({ "content": image })).await;
        assert_eq!(talk.shown().await["title"], "Loom Tree 2");
        world.clock.advance(1);
        let fork = talk.made("/fork", &json!({})).await;
        assert_eq!(fork["title"], "Fork of Loom Tree 2");
        let listed = world.get(CONVERSATIONS).await.json();
        let titles: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|of| &of["title"]).collect();
        assert!(titles.contains(&&json!("Loom Tree 2")) && titles.contains(&&fork["title"]), "{titles:?}");
    }

    async fn br_conv_005_an_archived_conversation_wakes_when_something_is_said_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "Good night.").await;
        let archive = json!({ "status": "archived", "basedOnHash": talk.shown().await["hash"] });
        world.changed("PUT", &talk.path, &archive).await;
        assert!(ids(&world.get(CONVERSATIONS).await.json()).is_empty());
        let archived = format!("{CONVERSATIONS}?status=archived");
        assert_eq!(ids(&world.get(&archived).await.json()).len(), 1);
        talk.say(Some(&said), "Good morning.").await;
        assert_eq!(talk.shown().await["status"], "active");
        assert!(ids(&world.get(&archived).await.json()).is_empty());
    }

    async fn br_conv_006_deleting_a_conversation_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        talk.say(None, "For ever.").await;
        let mark = world.mark().await;
        let refused = talk.ask("DELETE", "", &json!({})).await;
        assert_eq!(refused.breaks(), (405, "BR-CONV-006".to_owned()));
        assert_eq!(refused.header("allow"), "GET,HEAD,PUT");
        assert_eq!(world.written_since(mark).await, 0);
        assert_eq!(talk.shown().await["nodes"], 1);
    }

    async fn br_turn_003_a_turn_follows_a_node_or_what_a_turn_shows_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        assert_eq!((&first["turn"]["sequence"], &first["turn"]["parentTurnId"]), (&json!(1), &Value::Null));
        assert_eq!((&first["node"]["speaker"], &first["node"]["turnType"]), (&json!("user"), &json!("message")));
        assert_eq!(first["node"]["content"], json!({ "type": "text", "text": "How many?" }));
        assert_eq!((&first["node"]["isActive"], &first["node"]["onPath"]), (&json!(true), &json!(true)));
        assert_eq!((&first["node"]["authorId"], &first["node"]["authorType"]), (&json!(world.admin.owner()), &json!("human")));
        let content = json!({ "type": "mixed", "blocks": [{ "type": "text", "text": "Eleven." }] });
        let second = talk.made("/turns", &json!({ "parentTurnId": first["turn"]["id"], "content": content })).await;
        assert_eq!((&second["node"]["parentAlternativeId"], &second["turn"]["sequence"]), (&first["node"]["id"], &json!(2)));
        assert_eq!(second["node"]["content"], content);
        assert_eq!(talk.get(&turn_path(&second)).await, second["turn"]);
        assert_eq!(talk.shown().await["cursorNodeId"], second["node"]["id"]);
        // Whoever goes on from the same node says it at the same turn (rule BR-ALT-005).
        let other = talk.say(Some(&first), "Twelve.").await;
        assert_eq!((id(&other["turn"]), &other["node"]["ordinal"]), (id(&second["turn"]), &json!(2)));
        let roles = json!([{ "nodeId": first["node"]["id"], "role": "context" }]);
        let body = json!({ "parentAlternativeId": other["node"]["id"], "text": "Sure?", "sources": roles });
        talk.made("/turns", &body).await;
    }

    async fn br_turn_003_second_roots_and_strange_parents_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let other = ConversationFixture::new(world).await;
        let foreign = other.say(None, "Elsewhere.").await;
        let (own, theirs) = (&first["node"]["id"], &foreign["node"]["id"]);
        talk.refuses("/turns", &json!({ "text": "Again from the start." }), 422, "BR-TURN-003").await;
        let listed = json!({ "text": "a", "parentAlternativeId": own, "sources": [[own, "context"]] });
        talk.refuses("/turns", &listed, 400, "").await;
        talk.refuses("/turns", &json!({ "text": "a", "parentAlternativeId": theirs }), 422, "AG-EDGE-003").await;
        let mixed = json!({ "text": "a", "parentAlternativeId": theirs, "parentTurnId": first["turn"]["id"] });
        talk.refuses("/turns", &mixed, 422, "BR-TURN-003").await;
        talk.refuses("/turns", &json!({ "text": "a", "parentTurnId": foreign["turn"]["id"] }), 422, "BR-TURN-003").await;
        let source = json!({ "text": "a", "parentAlternativeId": own, "sources": [{ "nodeId": theirs, "role": "context" }] });
        talk.refuses("/turns", &source, 422, "AG-EDGE-003").await;
        let missing = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
        talk.refuses("/turns", &json!({ "text": "a", "parentAlternativeId": missing }), 422, "AG-EDGE-003").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        talk.refuses(&beside, &json!({ "text": "a", "parentAlternativeId": own }), 422, "BR-TURN-009").await;
    }

    async fn ag_edit_004_saying_nothing_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        let after = |more: Value| {
            let mut body = json!({ "parentAlternativeId": first["node"]["id"] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        for empty in [json!({ "text": "" }), json!({ "text": " \n" }), json!({ "content": { "type": "text", "text": "" } })] {
            talk.refuses("/turns", &after(empty.clone()), 422, "AG-EDIT-004").await;
            let mut edit = empty;
            edit["editedFrom"] = first["node"]["id"].clone();
            talk.refuses(&beside, &edit, 422, "AG-EDIT-004").await;
        }
        talk.refuses("/turns", &after(json!({})), 400, "").await;
        talk.refuses("/turns", &after(json!({ "text": "a", "content": { "type": "text", "text": "a" } })), 400, "").await;
        talk.refuses("/turns", &after(json!({ "text": "a", "author": "me" })), 400, "").await;
        talk.refuses("/turns", &after(json!({ "text": "a", "sources": [{ "nodeId": first["node"]["id"], "role": "context", "why": 1 }] })), 400, "").await;
        talk.refuses("/turns", &after(json!({ "content": { "type": "poem" } })), 422, "AG-CONTENT-001").await;
        let picture = json!({ "type": "image", "ref": first["node"]["id"], "mimeType": "image/png", "width": 1, "height": 1 });
        let answer = talk.ask("POST", "/turns", &after(json!({ "content": picture }))).await;
        assert_eq!(answer.breaks(), (422, "AG-CONTENT-004".to_owned()), "{}", answer.text);
        talk.refuses(&beside, &json!({}), 422, "BR-TURN-010").await;
    }

    async fn br_turn_010_what_people_say_has_its_time_and_no_process_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        let edit = talk.made(&beside, &json!({ "text": "How many herons?", "editedFrom": first["node"]["id"] })).await;
        for said in [&first, &edit] {
            let node = &said["node"];
            assert!(node["createdAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{node}");
            let chain = world.get(&format!("/api/v1/nodes/{}/provenance", id(node))).await.json();
            assert_eq!(chain["data"][0]["executedBy"], Value::Null, "{chain}");
            assert_eq!((&node["authorType"], &node["status"]), (&json!("human"), &json!("complete")));
        }
        // What was generated keeps the process that did it, in the version that ran.
        let (conversation, parent) = (talk.path.rsplit('/').next().unwrap(), id(&first["node"]).parse().unwrap());
        let process_id = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A".parse().unwrap();
        let placing = NodePlacement {
            conversation: conversation.parse().unwrap(),
            position: NodePosition::After { parent: Some(parent), speaker: Speaker::Agent, turn_type: TurnType::Message },
            author: ActorId::from_bytes([9; 16]),
            author_type: AuthorType::Model,
            sources: Vec::new(),
            executed_by: Some(ExecutedBy { process_id, version: 3 }),
            leads: None,
        };
        let raw = Some(RawResponseSource::New(ReceivedResponse { headers: json!({}), body: b"{}".to_vec() }));
        let said = NodeBody { content: json!({ "type": "text", "text": "Eleven." }), created_at: None, raw };
        let admin = world.admin.clone();
        let generated = world.store.write(move |tx| {
            let pending = tx.reserve_node(&admin, &placing)?.0.id;
            tx.complete_node(&admin, pending, &said)
        });
        let generated = generated.await.unwrap().value;
        let chain = world.get(&format!("/api/v1/nodes/{}/provenance", generated.id)).await.json();
        let executed = &chain["data"][0]["executedBy"];
        assert_eq!((&executed["processId"], &executed["version"]), (&json!("entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"), &json!(3)), "{chain}");
    }

    async fn br_turn_episode_003_a_turn_shows_its_own_words_whatever_was_made_of_them_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let words = "  Eleven pairs nest here.\n\tTwelve, if one counts the one that only visits.  ";
        let said = talk.say(None, words).await;
        let node = id(&said["node"]);
        world.changed("POST", &format!("/api/v1/nodes/{node}/summary"), &json!({})).await;
        world.made("/api/v1/episodes", &json!({ "source": "text", "content": "Nine.", "nodeId": node })).await;
        world.engine.remember_all().await.unwrap();
        let shown = [
            world.get(&format!("/api/v1/nodes/{node}")).await.json(),
            talk.get(&turn_path(&said)).await["alternatives"][0].clone(),
            talk.get("/path").await["data"][0].clone(),
        ];
        for shown in shown {
            assert_eq!(shown["content"], json!({ "type": "text", "text": words }), "{shown}");
        }
        assert_eq!(talk.shown().await["nodes"], 1);
    }

    async fn br_turn_episode_003_what_was_destroyed_is_not_shown_by_what_was_made_of_it_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "Eleven pairs nest here.").await;
        let node = id(&said["node"]);
        world.changed("POST", &format!("/api/v1/nodes/{node}/summary"), &json!({})).await;
        world.changed("POST", &format!("{}/summary", talk.path), &json!({})).await;
        world.changed("POST", &format!("/api/v1/items/{node}/redact"), &json!({ "reason": "asked to" })).await;
        for end in ["/path", &turn_path(&said), "/summary", "/export", ""] {
            let shown = world.get(&format!("{}{end}", talk.path)).await;
            assert!(!shown.text.contains("Eleven"), "{end}: {}", shown.text);
        }
        let shown = world.get(&format!("/api/v1/nodes/{node}")).await.json();
        assert_eq!((&shown["content"], &shown["isRedacted"]), (&Value::Null, &json!(true)), "{shown}");
    }

    async fn br_turn_010_what_an_agent_says_and_nothing_generated_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let after = |speaker: &str| json!({ "parentAlternativeId": first["node"]["id"], "text": "a", "speaker": speaker });
        talk.refuses("/turns", &after("agent"), 422, "BR-TURN-010").await;
        talk.refuses("/turns", &json!({ "speaker": "agent" }), 422, "BR-TURN-010").await;
        talk.refuses("/turns", &after("system"), 422, "BR-TURN-005").await;
        talk.refuses("/turns", &after("nobody"), 400, "").await;
        let mut run = after("user");
        run["processId"] = json!("entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A");
        talk.refuses("/turns", &run, 422, "BR-TURN-010").await;
        let again = format!("{}/alternatives/{}/regenerate", turn_path(&first), id(&first["node"]));
        talk.refuses(&again, &json!({}), 422, "BR-TURN-013").await;
        let hint = json!({ "processId": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A" });
        assert_eq!(world.post(CONVERSATIONS, hint.to_string()).await.breaks(), (422, "BR-CONV-001".to_owned()));
    }

    async fn br_turn_012_an_alternative_or_an_edit_is_added_and_shown_only_when_asked_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        let edit = talk.made(&beside, &json!({ "text": "How many herons?", "editedFrom": first["node"]["id"] })).await;
        assert_eq!((&edit["node"]["editedFrom"], &edit["node"]["isActive"]), (&first["node"]["id"], &json!(false)));
        assert_eq!(edit["affectedTurns"], json!([]));
        world.clock.advance(1);
        let other = talk.made(&beside, &json!({ "text": "Where?", "makeActive": true })).await;
        assert_eq!(other["node"]["isActive"], true);
        assert_eq!(other["affectedTurns"][0]["turnId"], first["turn"]["id"]);
        // The active one first, then the newest (rule BR-ALT-006).
        let listed = talk.get(&turn_path(&first)).await;
        let order: Vec<&str> = listed["alternatives"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(order[0], id(&other["node"]));
        assert_eq!(order.len(), 3);
    }

    async fn br_alt_006_many_alternatives_come_in_pages_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        for number in 2..=5 {
            world.clock.advance(1);
            talk.made(&beside, &json!({ "text": format!("How many, {number}?") })).await;
        }
        let said = |turn: &Value| -> Vec<i64> {
            turn["alternatives"].as_array().unwrap().iter().map(|node| node["ordinal"].as_i64().unwrap()).collect()
        };
        let page = talk.get(&format!("{}?limit=2", turn_path(&first))).await;
        // The active one, however old it is.
        assert_eq!((said(&page), &page["alternativesCount"]), (vec![1, 5], &json!(5)));
        let page = talk.get(&format!("{}?limit=2&cursor={}", turn_path(&first), page["next"].as_str().unwrap())).await;
        assert_eq!(said(&page), [4, 3]);
        let page = talk.get(&format!("{}?limit=2&cursor={}", turn_path(&first), page["next"].as_str().unwrap())).await;
        assert_eq!((said(&page), &page["next"]), (vec![2], &Value::Null));
        let page = talk.get(&format!("{}?limit=1", turn_path(&first))).await;
        assert_eq!(said(&page), [1]);
        let page = talk.get(&format!("{}?limit=1&cursor={}", turn_path(&first), page["next"].as_str().unwrap())).await;
        assert_eq!(said(&page), [5]);
        let whole = talk.get(&turn_path(&first)).await;
        assert_eq!((said(&whole), &whole["next"]), (vec![1, 5, 4, 3, 2], &Value::Null));
    }

    async fn ag_edit_001_an_edit_of_another_turn_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let second = talk.say(Some(&first), "Eleven.").await;
        let beside = format!("{}/alternatives", turn_path(&first));
        talk.refuses(&beside, &json!({ "text": "a", "editedFrom": second["node"]["id"] }), 422, "AG-EDIT-001").await;
        let elsewhere = ConversationFixture::new(world).await;
        elsewhere.refuses(&beside, &json!({ "text": "a" }), 404, "").await;
    }

    async fn br_alt_002_turning_to_an_alternative_answers_with_every_affected_turn_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let question = talk.say(None, "How many?").await;
        let eleven = talk.say(Some(&question), "Eleven.").await;
        let sure = talk.say(Some(&eleven), "Sure?").await;
        let where_ = talk.made(&format!("{}/alternatives", turn_path(&question)), &json!({ "text": "Where?" })).await;
        let lake = talk.say(Some(&where_), "In the lake.").await;
        assert_ne!(lake["turn"]["id"], eleven["turn"]["id"]);
        let turned = world.changed("PUT", &format!("{}{}", talk.path, activation(&sure)), &json!({})).await;
        assert_eq!((&turned["turnId"], &turned["alternativeId"]), (&sure["turn"]["id"], &sure["node"]["id"]));
        let affected = turned["affectedTurns"].as_array().unwrap();
        let turns: Vec<&Value> = affected.iter().map(|turn| &turn["turnId"]).collect();
        // The first turn shows another alternative, and two turns follow it.
        assert_eq!(turns[0], &question["turn"]["id"]);
        assert!(turns.contains(&&eleven["turn"]["id"]) && turns.contains(&&lake["turn"]["id"]), "{turned}");
        let of = |turn: &Value| affected.iter().find(|one| one["turnId"] == turn["turn"]["id"]).unwrap()["updatedAlternatives"].clone();
        let standing = |node: &Value| json!({ "id": node["node"]["id"], "isActive": true, "cacheStatus": "valid", "onPath": true });
        assert_eq!(of(&eleven), json!([standing(&eleven)]));
        assert_eq!(of(&lake)[0]["onPath"], false);
        assert_eq!((&of(&question)[0], of(&question).as_array().unwrap().len()), (&standing(&question), 2));
        assert_eq!(talk.shown().await["cursorNodeId"], sure["node"]["id"]);
        let again = world.changed("PUT", &format!("{}{}", talk.path, activation(&sure)), &json!({})).await;
        assert_eq!(again["affectedTurns"], json!([]));
    }

    async fn br_alt_002_turning_to_a_node_of_another_turn_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let second = talk.say(Some(&first), "Eleven.").await;
        let crossed = format!("{}/alternatives/{}/activate", turn_path(&first), id(&second["node"]));
        let refused = talk.ask("PUT", &crossed, &json!({})).await;
        assert_eq!(refused.breaks(), (422, "BR-ALT-002".to_owned()));
        let elsewhere = ConversationFixture::new(world).await;
        assert_eq!(elsewhere.ask("PUT", &activation(&first), &json!({})).await.status, 404);
        assert_eq!(talk.shown().await["cursorNodeId"], second["node"]["id"]);
    }

    async fn a_path_is_read_from_its_end_up_to_the_root_and_through_forks(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        assert_eq!(talk.get("/path").await["data"], json!([]));
        let mut said = vec![talk.say(None, "0").await];
        for n in 1..13 {
            said.push(talk.say(said.last(), &n.to_string()).await);
        }
        let texts = |page: &Value| -> Vec<String> {
            let nodes = page["data"].as_array().unwrap().iter();
            nodes.map(|node| node["content"]["text"].as_str().unwrap().to_owned()).collect()
        };
        let last = talk.get("/path").await;
        assert_eq!(texts(&last), (3..13).map(|n| n.to_string()).collect::<Vec<_>>());
        let above = talk.get(&format!("/path?cursor={}", last["pagination"]["next"].as_str().unwrap())).await;
        assert_eq!((texts(&above), &above["pagination"]["next"]), (["0", "1", "2"].map(str::to_owned).to_vec(), &Value::Null));
        let part = talk.get(&format!("/path?limit=2&nodeId={}", id(&said[4]["node"]))).await;
        assert_eq!(texts(&part), ["3", "4"]);
        let fork = talk.made("/fork", &json!({ "nodeId": said[1]["node"]["id"] })).await;
        let fork = ConversationFixture::of(world, &fork);
        assert_eq!(texts(&fork.get("/path").await), ["0", "1"]);
        fork.say(None, "another way").await;
        let path = fork.get("/path").await;
        assert_eq!(texts(&path), ["0", "1", "another way"]);
        assert!(path["data"].as_array().unwrap().iter().all(|node| node["onPath"] == true && node["isActive"] == true), "{path}");
        let stranger = ConversationFixture::new(world).await;
        let foreign = world.get(&format!("{}/path?nodeId={}", stranger.path, id(&said[0]["node"]))).await;
        assert_eq!(foreign.refused(), (404, "not_found".to_owned()));
        for bad in ["limit=0", "nodeId=x", "depth=1"] {
            assert_eq!(world.get(&format!("{}/path?{bad}", talk.path)).await.refused(), (400, "invalid_query".to_owned()));
        }
    }

    async fn the_tree_is_read_in_columns(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let empty = talk.get("/tree").await;
        assert_eq!((&empty["turns"], &empty["nodes"]["id"], &empty["cursorNodeId"]), (&json!([]), &json!([]), &Value::Null));
        let first = talk.say(None, "How many?").await;
        world.clock.advance(1);
        let second = talk.say(Some(&first), "Eleven.").await;
        world.clock.advance(1);
        let other = talk.made(&format!("{}/alternatives", turn_path(&second)), &json!({ "text": "Twelve." })).await;
        let tree = talk.get("/tree").await;
        assert_eq!(tree["turns"], json!([first["turn"]["id"], second["turn"]["id"]]));
        assert_eq!(tree["cursorNodeId"], second["node"]["id"]);
        let nodes = &tree["nodes"];
        assert_eq!(nodes["id"], json!([first["node"]["id"], second["node"]["id"], other["node"]["id"]]));
        let expected = json!({ "parent": [-1, 0, 0], "turn": [0, 1, 1], "ordinal": [1, 1, 2], "depth": [1, 2, 2],
            "author": ["h", "h", "h"], "status": ["c", "c", "c"], "selected": [1, 1, 0], "stale": [0, 0, 0], "marks": [0, 0, 0] });
        for (name, column) in expected.as_object().unwrap() {
            assert_eq!(&nodes[name], column, "{name}");
        }
        assert!(nodes["createdAt"][0].as_i64().unwrap() < nodes["createdAt"][2].as_i64().unwrap());
    }

    async fn br_conv_003_a_conversation_is_forked_at_a_node_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let other = talk.made(&format!("{}/alternatives", turn_path(&first)), &json!({ "text": "Where?" })).await;
        let at_cursor = talk.made("/fork", &json!({})).await;
        assert_eq!((&at_cursor["kind"], &at_cursor["title"]), (&json!("fork"), &json!("Fork of Herons")));
        assert_eq!((&at_cursor["parentConversationId"], &at_cursor["forkOriginTurnId"]), (&talk.shown().await["id"], &first["turn"]["id"]));
        assert_eq!(at_cursor["forkOriginAlternativeId"], first["node"]["id"]);
        let at_turn = talk.made(&format!("{}/fork", turn_path(&first)), &json!({ "title": "Other" })).await;
        assert_eq!((&at_turn["forkOriginAlternativeId"], &at_turn["title"]), (&first["node"]["id"], &json!("Other")));
        let named = json!({ "alternativeId": other["node"]["id"] });
        let at_alternative = talk.made(&format!("{}/fork", turn_path(&first)), &named).await;
        assert_eq!(at_alternative["forkOriginAlternativeId"], other["node"]["id"]);
        let forks = talk.get("/forks?limit=2").await;
        let rest = talk.get(&format!("/forks?cursor={}", forks["pagination"]["next"].as_str().unwrap())).await;
        let mut all: Vec<&str> = [ids(&forks), ids(&rest)].concat();
        let mut made = [&at_cursor, &at_turn, &at_alternative].map(id);
        all.sort_unstable();
        made.sort_unstable();
        assert_eq!(all, made);
    }

    async fn ag_tree_003_every_way_of_changing_the_mode_refuses(world: &ServerFixture) {
        for (mode, other) in [("dialogue", "buffer"), ("buffer", "dialogue")] {
            let made = world.made(CONVERSATIONS, &json!({ "title": "Herons", "mode": mode })).await;
            let talk = ConversationFixture::of(world, &made);
            talk.say(None, "How many?").await;
            let hash = talk.shown().await["hash"].clone();
            for wanted in [json!(other), json!(mode), json!(null), json!("tree")] {
                let change = json!({ "mode": wanted, "basedOnHash": hash });
                assert_eq!(talk.ask("PUT", "", &change).await.breaks(), (422, "AG-TREE-003".to_owned()), "{wanted}");
            }
            let fork = talk.made("/fork", &json!({})).await;
            assert_eq!((&talk.shown().await["mode"], &fork["mode"]), (&json!(mode), &json!(mode)));
            assert!(talk.ask("POST", "/fork", &json!({ "mode": other })).await.status.is_client_error());
        }
    }

    async fn br_conv_003_a_fork_elsewhere_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        talk.refuses("/fork", &json!({}), 422, "BR-CONV-003").await;
        let first = talk.say(None, "How many?").await;
        let second = talk.say(Some(&first), "Eleven.").await;
        let other = ConversationFixture::new(world).await;
        other.refuses("/fork", &json!({ "nodeId": first["node"]["id"] }), 422, "BR-CONV-003").await;
        other.refuses(&format!("{}/fork", turn_path(&first)), &json!({}), 404, "").await;
        let crossed = json!({ "alternativeId": second["node"]["id"] });
        talk.refuses(&format!("{}/fork", turn_path(&first)), &crossed, 422, "BR-ALT-002").await;
        let fixed = json!({ "forkedFrom": null, "basedOnHash": talk.shown().await["hash"] });
        assert_eq!(talk.ask("PUT", "", &fixed).await.breaks(), (422, "BR-CONV-003".to_owned()));
    }

    async fn mg_conv_005_a_folded_conversation_takes_nothing_more_and_goes_on_in_another_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let fork = talk.made("/fork", &json!({})).await;
        let fold = json!({ "summary": "Eleven.", "cites": [first["node"]["id"]] });
        talk.refuses("/fold", &fold, 422, "MG-CONV-003").await;
        let fork = ConversationFixture::of(world, &fork);
        world.changed("POST", &format!("{}/fold", fork.path), &json!({ "summary": "Nothing." })).await;
        let folded = world.changed("POST", &format!("{}/fold", talk.path), &fold).await;
        assert_eq!((&folded["folded"], &folded["summary"]["text"]), (&json!(true), &json!("Eleven.")));
        assert_eq!(folded["summary"]["cites"], fold["cites"]);
        let after = json!({ "parentAlternativeId": first["node"]["id"], "text": "And now?" });
        talk.refuses("/turns", &after, 409, "MG-CONV-005").await;
        talk.refuses(&format!("{}/alternatives", turn_path(&first)), &json!({ "text": "a" }), 409, "MG-CONV-005").await;
        talk.refuses("/fold", &fold, 422, "MG-CONV-006").await;
        let reopened = talk.made("/reopen", &json!({})).await;
        assert_eq!((&reopened["continues"], &reopened["title"]), (&folded["id"], &json!("Continues Herons")));
        let reopened = ConversationFixture::of(world, &reopened);
        reopened.say(None, "And now?").await;
        assert_eq!(reopened.get("/path").await["data"].as_array().unwrap().len(), 2);
        assert_eq!(talk.shown().await["nodes"], 1);
    }

    async fn mg_conv_003_what_is_archived_keeps_nothing_open_and_folding_leaves_every_node_to_fork_at_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        talk.say(Some(&first), "Eleven.").await;
        let fork = ConversationFixture::of(world, &talk.made("/fork", &json!({})).await);
        talk.refuses("/fold", &json!({ "summary": "Eleven." }), 422, "MG-CONV-003").await;
        let hash = fork.shown().await["hash"].clone();
        fork.ask("PUT", "", &json!({ "status": "archived", "basedOnHash": hash })).await;
        world.changed("POST", &format!("{}/fold", talk.path), &json!({ "summary": "Eleven." })).await;
        // Nothing is added to what is folded: every message stays a place where things could have gone otherwise.
        let before = talk.shown().await;
        let at = json!({ "nodeId": first["node"]["id"], "copyActiveEntities": false });
        let other = ConversationFixture::of(world, &talk.made("/fork", &at).await);
        other.say(None, "How many storks?").await;
        assert_eq!(other.get("/path").await["data"].as_array().unwrap().len(), 2);
        assert_eq!((talk.shown().await, &before["folded"]), (before.clone(), &json!(true)));
        let at_turn = format!("{}/fork", turn_path(&first));
        talk.made(&at_turn, &json!({ "copyActiveEntities": false })).await;
        for end in ["/fork", &at_turn] {
            talk.refuses(end, &json!({ "copyActiveEntities": true }), 422, "BR-CONV-003").await;
            talk.refuses(end, &json!({ "copyActiveEntities": "yes" }), 400, "").await;
        }
    }

    async fn mg_conv_003_folding_what_is_still_being_generated_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "How many?").await;
        let conversation: ConversationId = talk.path.rsplit('/').next().unwrap().parse().unwrap();
        let parent = Some(id(&first["node"]).parse().unwrap());
        let placing = NodePlacement {
            conversation,
            position: NodePosition::After { parent, speaker: Speaker::Agent, turn_type: TurnType::Message },
            author: ActorId::from_bytes([9; 16]),
            author_type: AuthorType::Model,
            sources: Vec::new(),
            executed_by: None,
            leads: None,
        };
        let admin = world.admin.clone();
        let pending = world.store.write(move |tx| tx.reserve_node(&admin, &placing)).await.unwrap().value.0.id;
        talk.refuses("/fold", &json!({ "summary": "Eleven." }), 409, "Z5").await;
        let admin = world.admin.clone();
        world.store.write(move |tx| tx.fail_node(&admin, pending, "no answer")).await.unwrap();
        world.changed("POST", &format!("{}/fold", talk.path), &json!({ "summary": "Eleven." })).await;
    }

    async fn mg_conv_006_reopening_what_is_open_refuses(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        talk.say(None, "How many?").await;
        talk.refuses("/reopen", &json!({}), 422, "MG-CONV-006").await;
        talk.refuses("/fold", &json!({ "summary": " " }), 422, "MG-CONV-004").await;
        talk.refuses("/fold", &json!({ "summary": "a", "cites": ["x"] }), 400, "").await;
        let foreign = ConversationFixture::new(world).await.say(None, "a").await;
        talk.refuses("/fold", &json!({ "summary": "a", "cites": [foreign["node"]["id"]] }), 422, "MG-CONV-004").await;
    }

    async fn br_sec_002_a_conversation_is_its_owners_and_an_administrator_reads_under_a_grant_holds(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let talk = ConversationFixture::new(&anna).await;
        let said = talk.say(None, "Between us.").await;
        for end in ["", "/tree", "/path", "/forks", &turn_path(&said)] {
            let path = format!("{}{end}", talk.path);
            assert_eq!(world.get(&path).await.refused(), (404, "not_found".to_owned()), "{end}");
        }
        let until = skein_core::Millis(crate::server_fixture::START.0 + 3_600_000);
        let grant = json!({ "ownerId": anna.admin.owner(), "name": "ticket", "reason": "asked", "until": until });
        let grant = world.made("/api/v1/grants", &grant).await;
        let under = |method: &str, end: &str| {
            world.request(method, &format!("{}{end}", talk.path)).header("skein-grant", id(&grant)).header("idempotency-key", fresh_key())
        };
        for end in ["", "/tree", "/path", "/forks", &turn_path(&said)] {
            let answer = world.send(under("GET", end).body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, 200, "{end}: {}", answer.text);
        }
        let after = json!({ "parentAlternativeId": said["node"]["id"], "text": "I too." }).to_string();
        let written = world.send(under("POST", "/turns").body(after.into()).unwrap()).await;
        assert_eq!(written.refused(), (403, "permission_denied".to_owned()));
        assert_eq!(talk.shown().await["nodes"], 1);
    }
}
