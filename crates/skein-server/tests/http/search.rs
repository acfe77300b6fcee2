//! Words looked for in what was said: what is visible from where, what comes first, and what is refused.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::tree::node::NodeMarked;
use skein_core::{ConversationId, NodeId};
use skein_store::tree::append::NodePosition;

use crate::memory::remember;
use crate::server_fixture::{ServerFixture, both};
use crate::tree_fixture::{By, conversation, say, say_at};

async fn search(world: &ServerFixture, body: Value) -> Value {
    remember(world).await;
    let request = world.request("POST", "/api/v1/search").header("content-type", "application/json");
    let answer = world.send(request.body(body.to_string().into()).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn found(world: &ServerFixture, body: Value) -> Vec<NodeId> {
    let found = search(world, body).await;
    let ids = found["data"].as_array().unwrap().iter().map(|found| found["nodeId"].as_str().unwrap().parse().unwrap());
    ids.collect()
}

both! {
    async fn z8_what_is_on_the_path_or_on_other_main_paths_is_found(world: &ServerFixture) {
        let here = conversation(world, &world.admin, "Here").await;
        let first = say(world, &world.admin, here, None, "The heron nests in the willow.").await;
        let left = say(world, &world.admin, here, Some(first), "A heron was seen at dusk.").await;
        let edited = json!({ "type": "text", "text": "A heron was seen at dawn." });
        let now = say_at(world, &world.admin, (here, NodePosition::EditOf(left)), edited, By::Viewer).await;
        let there = conversation(world, &world.admin, "There").await;
        let other = say(world, &world.admin, there, None, "HERONS, egrets and storks.").await;
        let from = found(world, json!({ "text": "heron", "nodeId": now })).await;
        assert!(from.contains(&first) && from.contains(&now) && from.contains(&other), "{from:?}");
        assert!(!from.contains(&left), "what was left is on no path from here: {from:?}");
        assert_eq!(found(world, json!({ "text": "heron", "nodeId": now, "elsewhere": true })).await, [other]);
        let fork = world.made(&format!("/api/v1/conversations/{here}/fork"), &json!({ "nodeId": first })).await;
        let fork: ConversationId = fork["id"].as_str().unwrap().parse().unwrap();
        let forked = say(world, &world.admin, fork, None, "And the heron of the fork?").await;
        let from = found(world, json!({ "text": "heron", "conversationId": fork })).await;
        assert!(from.contains(&forked) && from.contains(&first), "a fork has its ancestry: {from:?}");
        assert!(!from.contains(&left), "{from:?}");
    }

    async fn rarer_words_come_first_and_results_come_in_pages(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Birds").await;
        let mut last = None;
        let mut said = Vec::new();
        for text in ["The lake is calm.", "The lake froze; a bittern boomed.", "The lake is deep.", "Nothing."] {
            let node = say(world, &world.admin, id, last, text).await;
            said.push(node);
            last = Some(node);
        }
        let asked = json!({ "text": "the LAKE bittern", "limit": 2, "strict": true });
        let page = search(world, asked.clone()).await;
        assert_eq!(page["data"][0]["nodeId"], json!(said[1]), "{page}");
        assert_eq!(page["searched"]["by"], "index", "{page}");
        assert_eq!(page["data"][0]["words"], json!(["lake", "bittern"]), "what every text has finds nothing");
        assert_eq!(page["data"][0]["conversationId"], json!(id));
        assert_eq!(page["data"][0]["snippet"], "The lake froze; a bittern boomed.");
        let next = page["pagination"]["next"].as_str().unwrap();
        let rest = search(world, json!({ "text": "the LAKE bittern", "limit": 2, "strict": true, "cursor": next })).await;
        let others = [&page["data"][1]["nodeId"], &rest["data"][0]["nodeId"]];
        assert!(others.contains(&&json!(said[0])) && others.contains(&&json!(said[2])), "{page} {rest}");
        assert_eq!((rest["data"].as_array().unwrap().len(), &rest["pagination"]["next"]), (1, &Value::Null), "{rest}");
        let mark: NodeMarked = serde_json::from_value(json!({ "nodeId": said[1], "excluded": true })).unwrap();
        let admin = world.admin.clone();
        world.store.write(move |tx| tx.mark_node(&admin, &mark)).await.unwrap();
        assert!(found(world, json!({ "text": "bittern", "strict": true })).await.is_empty(), "what models are not shown is not found");
    }

    async fn searching_is_reading_and_finds_nothing_of_others(world: &ServerFixture) {
        let id = conversation(world, &world.admin, "Secret").await;
        let node = say(world, &world.admin, id, None, "The kingfisher is shy.").await;
        let reader = world.with_key(world.new_key(Scope::Read).await);
        assert_eq!(found(&reader, json!({ "text": "kingfisher" })).await, [node]);
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert!(found(&bert, json!({ "text": "kingfisher" })).await.is_empty());
        for from in [json!({ "text": "kingfisher", "nodeId": node }), json!({ "text": "kingfisher", "conversationId": id })] {
            assert_eq!(bert.post("/api/v1/search", from.to_string()).await.breaks(), (422, "Z34".to_owned()));
        }
        for bad in [json!({ "text": " " }), json!({}), json!({ "text": "a", "limit": 0 }), json!({ "text": "a", "cursor": "x" })] {
            assert_eq!(world.post("/api/v1/search", bad.to_string()).await.refused(), (400, "invalid_body".to_owned()));
        }
    }
}
