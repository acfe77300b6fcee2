//! Proofs, comparisons, exports and summaries of conversations, and the content they accept.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::tree::actor::ActorId;
use skein_core::tree::node::NodeMarked;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId};
use skein_engine::Worker;
use skein_store::tree::append::NodePosition;

use crate::server_fixture::{ServerFixture, both};
use crate::tree_fixture::{By, conversation, say, say_at};

async fn read(world: &ServerFixture, path: &str) -> Value {
    let answer = world.get(&format!("/api/v1{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// What a model answers, with its raw response.
async fn answer(world: &ServerFixture, id: ConversationId, parent: NodeId, text: &str) -> NodeId {
    let position = NodePosition::After { parent: Some(parent), speaker: Speaker::Agent, turn_type: TurnType::Message };
    let content = json!({ "type": "text", "text": text });
    say_at(world, &world.admin, (id, position), content, By::Model(ActorId::from_bytes([9; 16]))).await
}

/// A question, an answer and a word of thanks.
async fn chat(world: &ServerFixture) -> (ConversationId, [NodeId; 3]) {
    let id = conversation(world, &world.admin, "Herons of the lake").await;
    let first = say(world, &world.admin, id, None, "How many herons nest at the lake?").await;
    let second = answer(world, id, first, "Eleven pairs nested at the lake this year.").await;
    let third = say(world, &world.admin, id, Some(second), "Thank you.").await;
    (id, [first, second, third])
}

async fn alternative(world: &ServerFixture, id: ConversationId, of: NodeId, text: &str) -> NodeId {
    let content = json!({ "type": "text", "text": text });
    say_at(world, &world.admin, (id, NodePosition::EditOf(of)), content, By::Viewer).await
}

async fn redact(world: &ServerFixture, node: NodeId) {
    let admin = world.admin.clone();
    let destroy = move |tx: &mut skein_store::Tx<'_>| {
        let content = tx.node(&admin, node)?.content.unwrap();
        tx.redact_item(&admin, content, "asked to")
    };
    world.store.write(destroy).await.unwrap();
}

async fn exclude(world: &ServerFixture, node_id: NodeId) {
    let (admin, mark) = (world.admin.clone(), json!({ "nodeId": node_id, "excluded": true }));
    let mark: NodeMarked = serde_json::from_value(mark).unwrap();
    world.store.write(move |tx| tx.mark_node(&admin, &mark)).await.unwrap();
}

async fn compare(world: &ServerFixture, left: NodeId, right: NodeId, kind: &str) -> Value {
    let body = json!({ "left": left, "right": right, "as": kind });
    let request = world.request("POST", "/api/v1/compare").header("content-type", "application/json");
    let answer = world.send(request.body(body.to_string().into()).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

both! {
    async fn ag_hash_003_a_node_a_path_and_a_tree_verify_holds(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        for path in [format!("/nodes/{}/verify", nodes[1]), format!("/conversations/{id}/verify")] {
            let found = read(world, &path).await;
            assert_eq!((&found["verdict"], &found["firstNodeId"]), (&json!("valid"), &Value::Null), "{found}");
        }
        assert_eq!(read(world, &format!("/conversations/{id}/verify")).await["counts"]["valid"], 3);
        let fork = world.made(&format!("/api/v1/conversations/{id}/fork"), &json!({ "nodeId": nodes[1] })).await;
        let fork: ConversationId = fork["id"].as_str().unwrap().parse().unwrap();
        let leaf = say(world, &world.admin, fork, None, "And last year?").await;
        let found = read(world, &format!("/conversations/{fork}/verify?nodeId={leaf}")).await;
        assert_eq!((&found["verdict"], &found["nodes"]), (&json!("valid"), &json!(3)), "the fork's path runs on: {found}");
        assert_eq!(read(world, &format!("/conversations/{fork}/verify")).await["nodes"], 1);
    }

    async fn ag_hash_003_what_was_destroyed_is_named_and_a_foreign_node_refuses(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        redact(world, nodes[0]).await;
        let found = read(world, &format!("/conversations/{id}/verify?nodeId={}", nodes[2])).await;
        assert_eq!((&found["verdict"], &found["firstNodeId"]), (&json!("redacted"), &json!(nodes[0])));
        assert_eq!((&found["counts"]["valid"], &found["counts"]["redacted"]), (&json!(2), &json!(1)));
        let (other, _) = chat(world).await;
        let foreign = world.get(&format!("/api/v1/conversations/{other}/verify?nodeId={}", nodes[2])).await;
        assert_eq!(foreign.status, 404);
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        for path in [format!("nodes/{}/verify", nodes[1]), format!("conversations/{id}/verify"), format!("nodes/{}/provenance", nodes[1])] {
            assert_eq!(bert.get(&format!("/api/v1/{path}")).await.status, 404, "{path}");
        }
    }

    async fn a_node_is_traced_to_the_root_page_by_page(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let edited = alternative(world, id, nodes[2], "Many thanks.").await;
        let found = read(world, &format!("/nodes/{edited}/provenance?limit=2")).await;
        assert_eq!(found["editLineage"], json!([nodes[2], edited]));
        let links = found["data"].as_array().unwrap();
        assert_eq!([&links[0]["nodeId"], &links[1]["nodeId"]], [&json!(edited), &json!(nodes[1])]);
        assert_eq!((&links[0]["editedFrom"], &links[0]["authorType"]), (&json!(nodes[2]), &json!("human")));
        assert_eq!((&links[1]["authorType"], &links[1]["verdict"]), (&json!("model"), &json!("valid")));
        assert!(links[1]["rawResponse"]["hash"].is_string() && links[1]["contentHash"].is_string(), "{found}");
        let next = found["pagination"]["next"].as_str().unwrap();
        let rest = read(world, &format!("/nodes/{edited}/provenance?limit=2&cursor={next}")).await;
        assert_eq!((&rest["data"][0]["nodeId"], &rest["pagination"]["next"]), (&json!(nodes[0]), &Value::Null));
    }

    async fn two_nodes_are_compared_word_by_word_and_two_paths_by_where_they_part(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let edited = alternative(world, id, nodes[1], "Twelve pairs nested at the lake this year.").await;
        let found = compare(world, nodes[1], edited, "nodes").await;
        let run = |kind: &str| found["runs"].as_array().unwrap().iter().find(|run| run["kind"] == kind).unwrap()["text"].clone();
        assert_eq!((&found["precision"], run("removed"), run("added")), (&json!("words"), json!("Eleven"), json!("Twelve")));
        let found = compare(world, nodes[2], edited, "paths").await;
        assert_eq!((&found["commonNodes"], &found["lastCommonNodeId"]), (&json!(1), &json!(nodes[0])));
        assert_eq!((&found["left"]["count"], &found["right"]["count"]), (&json!(2), &json!(1)));
        assert_eq!(found["right"]["nodes"][0]["nodeId"], json!(edited));
        let reader = world.with_key(world.new_key(Scope::Read).await);
        assert_eq!(compare(&reader, nodes[0], nodes[0], "nodes").await["as"], "nodes", "comparing is reading");
        let bad = world.post("/api/v1/compare", json!({ "left": nodes[0], "right": nodes[0], "as": "trees" }).to_string()).await;
        assert_eq!(bad.refused(), (400, "invalid_body".to_owned()));
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let asked = json!({ "left": nodes[0], "right": nodes[1] }).to_string();
        assert_eq!(bert.post("/api/v1/compare", asked).await.breaks(), (422, "Z34".to_owned()));
    }

    async fn ag_node_005_what_a_model_would_be_shown_is_told_holds(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let view = read(world, &format!("/conversations/{id}")).await;
        let change = json!({ "systemContext": "Speak of birds.", "basedOnHash": view["hash"] });
        world.changed("PUT", &format!("/api/v1/conversations/{id}"), &change).await;
        let model = json!({ "name": "Hugin", "type": "model", "modelRef": "local:x", "configuration": { "systemPrompt": "Be brief." } });
        let actor = world.made("/api/v1/actors", &model).await["id"].clone();
        let path = format!("/nodes/{}/context?format=messages&actorId={}", nodes[2], actor.as_str().unwrap());
        let shown = read(world, &path).await;
        assert_eq!((&shown["isEstimate"], &shown["truncated"], &shown["strategy"]), (&json!(true), &json!(false), &json!("truncateMiddle")));
        let said: Vec<(&str, &str)> = shown["messages"].as_array().unwrap().iter()
            .map(|message| (message["role"].as_str().unwrap(), message["text"].as_str().unwrap())).collect();
        assert_eq!(said, [
            ("system", "Be brief.\n\nSpeak of birds."),
            ("user", "How many herons nest at the lake?"),
            ("assistant", "Eleven pairs nested at the lake this year."),
            ("user", "Thank you."),
        ]);
        let kinds: Vec<&str> = shown["parts"].as_array().unwrap().iter().map(|part| part["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["agentPrompt", "systemContext", "node", "node", "node"]);
        assert!(read(world, &format!("/nodes/{}/context", nodes[2])).await.get("messages").is_none());
    }

    async fn ag_node_005_what_is_excluded_or_beyond_the_budget_refuses(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        exclude(world, nodes[1]).await;
        let shown = read(world, &format!("/nodes/{}/context", nodes[2])).await;
        let dropped = shown["parts"].as_array().unwrap().iter().find(|part| part["included"] == false).unwrap().clone();
        assert_eq!((&dropped["nodeId"], &dropped["droppedBecause"]), (&json!(nodes[1]), &json!("excluded")));
        let long = say(world, &world.admin, id, Some(nodes[2]), &"heron ".repeat(2_000)).await;
        let path = format!("/api/v1/nodes/{long}/context?budget=2048&strategy=stopAtLimit");
        assert_eq!(world.get(&path).await.status, 422);
        for query in ["budget=1", "budget=x", "strategy=none", "format=pdf", "actorId=me", "more=1"] {
            assert_eq!(world.get(&format!("/api/v1/nodes/{long}/context?{query}")).await.status, 400, "{query}");
        }
    }

    async fn what_is_pinned_stays_in_the_window(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let mut last = nodes[2];
        for _ in 0..6 {
            last = say(world, &world.admin, id, Some(last), &"heron ".repeat(300)).await;
        }
        let path = format!("/nodes/{last}/context?budget=3072");
        let part = |shown: &Value, node| shown["parts"].as_array().unwrap().iter().find(|part| part["nodeId"] == json!(node)).unwrap().clone();
        let before = read(world, &path).await;
        assert_eq!((&part(&before, nodes[1])["included"], &part(&before, nodes[1])["reason"]), (&json!(false), &Value::Null), "{before}");
        world.changed("PUT", &format!("/api/v1/nodes/{}/marks", nodes[1]), &json!({ "tag": ["pinned"] })).await;
        let pinned = read(world, &path).await;
        assert_eq!((&part(&pinned, nodes[1])["included"], &part(&pinned, nodes[1])["reason"]), (&json!(true), &json!("pinned")), "{pinned}");
        assert_eq!(part(&pinned, nodes[2])["included"], false, "{pinned}");
        world.changed("PUT", &format!("/api/v1/nodes/{}/marks", nodes[1]), &json!({ "untag": ["pinned"] })).await;
        assert_eq!(read(world, &path).await["parts"], before["parts"]);
    }

    async fn a_folded_branch_is_shown_where_it_left(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let fork = world.made(&format!("/api/v1/conversations/{id}/fork"), &json!({ "nodeId": nodes[1], "title": "Egrets" })).await;
        let path = format!("/api/v1/conversations/{}", fork["id"].as_str().unwrap());
        world.made(&format!("{path}/turns"), &json!({ "text": "And egrets?" })).await;
        world.changed("POST", &format!("{path}/fold"), &json!({ "summary": "No egrets." })).await;
        let shown = read(world, &format!("/nodes/{}/context?format=messages", nodes[2])).await;
        let last = shown["messages"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
        assert!(last.contains("Egrets") && last.contains("No egrets."), "{shown}");
    }

    async fn a_tree_or_a_path_is_read_elsewhere(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let edited = alternative(world, id, nodes[1], "<script>alert(1)</script>").await;
        let tree = world.get(&format!("/api/v1/conversations/{id}/export")).await;
        assert_eq!((tree.status.as_u16(), tree.header("content-type")), (200, "text/markdown; charset=utf-8"));
        assert_eq!(tree.header("content-disposition"), "attachment; filename=\"herons-of-the-lake.md\"");
        for said in ["# Herons of the lake", "How many herons", "Eleven pairs", "Thank you.", "Branch after", "2 of 2"] {
            assert!(tree.text.contains(said), "{said} is missing: {}", tree.text);
        }
        let page = world.get(&format!("/api/v1/conversations/{id}/export?format=html&nodeId={edited}")).await;
        assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(page.header("content-disposition").ends_with(".html\"") && page.text.ends_with("</html>\n"), "{}", page.text);
        assert!(page.text.contains("&lt;script&gt;") && !page.text.contains("<script") && !page.text.contains("Thank you"));
        assert_eq!(world.get(&format!("/api/v1/conversations/{id}/export?format=pdf")).await.status, 400);
        let (other, _) = chat(world).await;
        assert_eq!(world.get(&format!("/api/v1/conversations/{other}/export?nodeId={edited}")).await.status, 404);
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(bert.get(&format!("/api/v1/conversations/{id}/export")).await.status, 404);
    }

    async fn ag_sum_003_a_missing_summary_is_made_when_asked_for_holds(world: &ServerFixture) {
        let (id, nodes) = chat(world).await;
        let path = format!("/nodes/{}/summary", nodes[1]);
        let reader = world.with_key(world.new_key(Scope::Read).await);
        let before = world.count().await;
        let made = read(&reader, &path).await;
        assert_eq!(world.count().await, before, "a key for reading keeps nothing");
        let kept = read(world, &path).await;
        assert_eq!((&kept["text"], &kept["model"]), (&made["text"], &json!("skein-offline-1")));
        assert!(made["text"].as_str().unwrap().contains("Eleven pairs"), "{made}");
        assert_eq!(world.count().await, before + 1);
        assert_eq!(read(world, &path).await["text"], made["text"]);
        assert_eq!(world.count().await, before + 1, "it is kept once");
        let tree = read(world, &format!("/conversations/{id}/summary")).await;
        assert!(tree["text"].as_str().is_some_and(|text| !text.is_empty()), "{tree}");
        assert_eq!(tree["nodes"], 3);
        let renewed = world.changed("POST", &format!("/api/v1{path}"), &json!({})).await;
        assert!(renewed["itemId"].is_string(), "{renewed}");
    }

    async fn ag_sum_003_nothing_is_told_of_what_was_destroyed_refuses(world: &ServerFixture) {
        let (_, nodes) = chat(world).await;
        let path = format!("/nodes/{}/summary", nodes[0]);
        assert!(read(world, &path).await["text"].is_string());
        redact(world, nodes[0]).await;
        assert_eq!(read(world, &path).await["text"], Value::Null);
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(bert.get(&format!("/api/v1{path}")).await.status, 404);
    }

    async fn ag_sum_001_what_is_said_is_summarised_in_the_background_holds(world: &ServerFixture) {
        world.changed("PUT", "/api/v1/settings/summaries.treeNodes", &json!({ "value": 2 })).await;
        let talk = world.made("/api/v1/conversations", &json!({ "title": "Herons" })).await;
        let id: ConversationId = talk["id"].as_str().unwrap().parse().unwrap();
        let path = format!("/api/v1/conversations/{id}/turns");
        let first = world.made(&path, &json!({ "text": "How many herons nest here?" })).await;
        let parent = first["node"]["id"].clone();
        let second = world.made(&path, &json!({ "parentAlternativeId": parent, "text": "I counted eleven." })).await;
        let node: NodeId = second["node"]["id"].as_str().unwrap().parse().unwrap();
        let worker = Worker::start(world.engine.clone(), "test".to_owned());
        let admin = world.admin.clone();
        loop {
            let admin = admin.clone();
            let look = move |tx: &mut skein_store::Tx<'_>| {
                Ok((tx.summary(&admin, id, Some(node))?, tx.summary(&admin, id, None)?))
            };
            if let (Some(of_node), Some(of_tree)) = world.store.read(look).await.unwrap() {
                assert!(of_node.text.contains("eleven"), "{of_node:?}");
                assert_eq!(of_tree.nodes, 2);
                break;
            }
            // The worker looks once in a second of the real clock.
            world.clock.advance(1);
            skein_testkit::wait::moment().await;
        }
        drop(worker);
    }

    async fn ag_content_002_an_image_is_what_it_says_holds(world: &ServerFixture) {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &640_u32.to_be_bytes(), &480_u32.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
        let blob = world.upload("/api/v1/blobs", "image/png", png).await.json()["itemId"].clone();
        let talk = world.made("/api/v1/conversations", &json!({})).await;
        let path = format!("/api/v1/conversations/{}/turns", talk["id"].as_str().unwrap());
        let image = json!({ "type": "image", "ref": blob, "mimeType": "image/png", "width": 640, "height": 480, "altText": "a heron" });
        let mixed = json!({ "type": "mixed", "blocks": [{ "type": "text", "text": "Look:" }, image] });
        let said = world.made(&path, &json!({ "content": mixed })).await;
        assert_eq!(said["node"]["content"], mixed);
    }

    async fn ag_content_002_what_is_no_image_refuses(world: &ServerFixture) {
        let talk = world.made("/api/v1/conversations", &json!({})).await;
        let path = format!("/api/v1/conversations/{}/turns", talk["id"].as_str().unwrap());
        let blob = world.upload("/api/v1/blobs", "image/png", "<svg/>, not a PNG").await.json()["itemId"].clone();
        let gif = world.upload("/api/v1/blobs", "image/gif", b"GIF89a\x40\x01\x40\x01".to_vec()).await.json()["itemId"].clone();
        let mark = world.mark().await;
        let image = |of: &Value, mime: &str| json!({ "type": "image", "ref": of, "mimeType": mime, "width": 320, "height": 320 });
        let mut with_thumbnail = image(&gif, "image/gif");
        with_thumbnail["thumbnailRef"] = gif.clone();
        let audio = json!({ "type": "audio", "ref": blob, "mimeType": "audio/wav", "durationMs": 10 });
        for content in [image(&blob, "image/png"), image(&gif, "image/png"), with_thumbnail, audio] {
            let answer = world.post(&path, json!({ "content": content }).to_string()).await;
            assert_eq!(answer.breaks(), (422, "AG-CONTENT-002".to_owned()), "{content}");
        }
        let nowhere = json!("item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z");
        let answer = world.post(&path, json!({ "content": image(&nowhere, "image/png") }).to_string()).await;
        assert_eq!(answer.breaks(), (422, "AG-CONTENT-004".to_owned()));
        assert_eq!(world.written_since(mark).await, 0);
    }
}
