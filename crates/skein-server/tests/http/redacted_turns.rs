//! Redaction of a turn: the only act that destroys a turn's text, and all that it destroys.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, id, turn_path};
use crate::server_fixture::{ServerFixture, both, fresh_key};

async fn node(world: &ServerFixture, said: &Value) -> Value {
    world.get(&format!("/api/v1/nodes/{}", id(&said["node"]))).await.json()
}

/// The item that holds what a node says.
async fn content_of(world: &ServerFixture, said: &Value) -> String {
    let items = world.get("/api/v1/items?type=NodeContent&limit=100").await.json();
    let items = items["data"].as_array().unwrap();
    let found = items.iter().find(|item| item["data"]["nodeId"] == said["node"]["id"]).unwrap();
    id(found).to_owned()
}

async fn redact(world: &ServerFixture, item: &str) -> crate::server_fixture::Answer {
    world.post(&format!("/api/v1/items/{item}/redact"), json!({ "reason": "asked to" }).to_string()).await
}

both! {
    async fn br_turn_episode_001_a_redaction_destroys_the_text_and_leaves_the_turn_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let first = talk.say(None, "The bittern booms at dusk.").await;
        let second = talk.say(Some(&first), "A bittern is shy.").await;
        let other = json!({ "text": "A bittern hides.", "editedFrom": second["node"]["id"], "makeActive": true });
        talk.made(&format!("{}/alternatives", turn_path(&second)), &other).await;
        let (before, tree) = (node(world, &first).await, talk.get("/tree").await);
        let item = content_of(world, &first).await;
        assert_eq!(redact(world, &item).await.status, 200);
        let after = node(world, &first).await;
        assert_eq!((&after["content"], &after["isRedacted"]), (&Value::Null, &json!(true)), "{after}");
        let without_text = |node: &Value| {
            let mut node = node.clone();
            node.as_object_mut().unwrap().retain(|name, _| name != "content" && name != "isRedacted");
            node
        };
        assert_eq!(without_text(&after), without_text(&before), "its place, author, time and hash stay");
        assert_eq!(talk.get("/tree").await, tree);
        let verified = talk.get("/verify").await;
        assert_eq!((&verified["verdict"], &verified["counts"]["redacted"]), (&json!("redacted"), &json!(1)), "{verified}");
        let left = world.get(&format!("/api/v1/items/{item}")).await.json();
        assert_eq!((&left["data"], &left["redacted"]), (&Value::Null, &json!(true)), "{left}");
        let reasons = world.get("/api/v1/items?type=Redaction&limit=10").await;
        assert!(reasons.text.contains("asked to") && !reasons.text.contains("booms"), "{}", reasons.text);
        talk.say(Some(&first), "And it goes on.").await;
        assert_eq!(talk.get("/path").await["data"].as_array().unwrap().len(), 2);
    }

    async fn mg_soil_010_names_of_conversations_are_made_of_what_is_there_now_holds(world: &ServerFixture) {
        let talk = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({})).await);
        let said = talk.say(None, "my secret plan\nis here").await;
        world.clock.advance(1);
        let fork = ConversationFixture::of(world, &talk.made("/fork", &json!({})).await);
        fork.say(None, "Go on.").await;
        world.changed("POST", &format!("{}/fold", fork.path), &json!({ "summary": "Nothing." })).await;
        let reopened = ConversationFixture::of(world, &fork.made("/reopen", &json!({})).await);
        let titles = async || [talk.shown().await, fork.shown().await, reopened.shown().await].map(|of| of["title"].clone());
        let name = "my secret plan is here";
        assert_eq!(titles().await, [json!(name), json!(format!("Fork of {name}")), json!(format!("Continues Fork of {name}"))]);
        assert_eq!(redact(world, id(&said["node"])).await.status, 200);
        assert_eq!(titles().await, ["Loom Tree 1", "Fork of Loom Tree 1", "Continues Fork of Loom Tree 1"].map(|title| json!(title)));
        let listed = world.get(CONVERSATIONS).await.json();
        let listed: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|of| &of["title"]).collect();
        assert!(titles().await.iter().all(|title| listed.contains(&title)), "{listed:?}");
        let items = world.get("/api/v1/items?limit=1000").await.text + &world.get("/api/v1/items?type=EntityDelta&limit=1000").await.text;
        assert!(items.contains("forkedFrom") && !items.contains("secret"), "{items}");
        let renamed = json!({ "title": "A branch", "basedOnHash": fork.shown().await["hash"] });
        assert_eq!(world.changed("PUT", &fork.path, &renamed).await["title"], "A branch");
        assert_eq!(reopened.shown().await["title"], "Continues A branch");
    }

    async fn mg_soil_010_a_summary_made_in_view_of_a_title_that_quotes_the_node_refuses_to_stay(world: &ServerFixture) {
        let talk = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({})).await);
        let mut said = vec![talk.say(None, "my secret plan is here").await];
        for number in 1..6 {
            said.push(talk.say(said.last(), &format!("It was the {number}th of many long days.")).await);
        }
        let last = format!("/api/v1/nodes/{}/summary", id(&said[5]["node"]));
        let kept = world.changed("POST", &last, &json!({})).await["itemId"].clone();
        assert_eq!(redact(world, id(&said[0]["node"])).await.status, 200);
        let item = world.get(&format!("/api/v1/items/{}", kept.as_str().unwrap())).await.json();
        assert_eq!(item["data"], Value::Null, "{item}");
    }

    async fn mg_soil_010_the_summary_of_a_fold_is_listed_and_redacted_by_itself_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "My number is 0151 2345678.").await;
        world.clock.advance(1);
        let fork = ConversationFixture::of(world, &talk.made("/fork", &json!({})).await);
        fork.say(None, "Go on.").await;
        let text = "They said: My number is 0151 2345678. Nothing else.";
        let folded = world.changed("POST", &format!("{}/fold", fork.path), &json!({ "summary": text })).await;
        assert_eq!((&folded["summary"]["text"], folded["summary"].get("isRedacted")), (&json!(text), None));
        let answer = redact(world, id(&said["node"])).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let redacted = answer.json();
        let summary = json!({ "kind": "foldSummary", "itemId": folded["summary"]["textItemId"],
            "conversationId": folded["id"], "field": null });
        assert_eq!((&redacted["quotedIn"], &redacted["quotedInMore"]), (&json!([summary]), &json!(false)));
        assert!(!answer.text.contains("0151"), "{}", answer.text);
        assert_eq!(fork.shown().await["summary"]["text"], text, "a person's own words stay until they decide");
        assert_eq!(redact(world, folded["summary"]["textItemId"].as_str().unwrap()).await.status, 200);
        let left = fork.shown().await;
        assert_eq!((&left["summary"]["text"], &left["summary"]["isRedacted"]), (&json!(""), &json!(true)), "{left}");
        assert_eq!(left["folded"], true);
        for query in ["", "&type=EntityDelta", "&type=FoldSummary"] {
            let items = world.get(&format!("/api/v1/items?limit=1000{query}")).await.text;
            assert!(!items.contains("0151"), "{items}");
        }
        let reopened = ConversationFixture::of(world, &fork.made("/reopen", &json!({})).await);
        assert!(!reopened.get("/path").await.to_string().contains("0151"));
    }

    async fn br_turn_episode_001_what_people_wrote_with_the_same_words_is_listed_by_id_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "The key is under the third stone.").await;
        let quoting = talk.say(Some(&said), "You said: The key is under the third stone. Why?").await;
        talk.say(Some(&quoting), "I shall not say.").await;
        let note = world.note("Remember: The key is under the third stone.").await;
        let elsewhere = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({ "title": "The key is under the third stone." })).await);
        let other = elsewhere.say(None, "What about it? The key is under the third stone.").await;
        let key = fresh_key();
        let path = format!("/api/v1/items/{}/redact", id(&said["node"]));
        let first = world.change_under(&key, "POST", &path, r#"{"reason":"asked to"}"#).await;
        assert_eq!(first.status, 200, "{}", first.text);
        let quoted = first.json()["quotedIn"].clone();
        let listed = |kind: &str, item: &Value, conversation: &Value, field: Value| {
            let quote = json!({ "kind": kind, "itemId": item, "conversationId": conversation, "field": field });
            assert!(quoted.as_array().unwrap().contains(&quote), "{quote} in {quoted}");
        };
        let (here, there) = (talk.shown().await["id"].clone(), elsewhere.shown().await["id"].clone());
        listed("node", &quoting["node"]["id"], &here, Value::Null);
        listed("node", &other["node"]["id"], &there, Value::Null);
        listed("item", &note["id"], &Value::Null, Value::Null);
        listed("conversation", &Value::Null, &there, json!("title"));
        assert_eq!(quoted.as_array().unwrap().len(), 4, "{quoted}");
        assert!(!first.text.contains("third stone"), "{}", first.text);
        let again = world.change_under(&key, "POST", &path, r#"{"reason":"asked to"}"#).await;
        assert_eq!(again.json()["quotedIn"], quoted, "a repeated request is answered alike");
        let last = redact(world, id(&quoting["node"])).await.json();
        assert_eq!(last["quotedIn"], json!([]), "each is redacted by itself: {last}");
    }

    async fn br_turn_episode_001_executions_elsewhere_lose_the_words_they_were_given_holds(world: &ServerFixture) {
        let ask = json!({ "prompt": "What of {{words}}?", "schema": { "type": "string" } });
        let step = json!({ "id": "ask", "ask": ask, "output": { "variable": "told" } });
        let schema = json!({ "type": "object", "properties": { "words": { "type": "string" } } });
        let process = json!({ "name": "Ask", "initialContext": schema, "steps": [step], "outputTemplate": "{{told}}" });
        let process = world.made("/api/v1/processes", &process).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "The bittern booms at dusk.").await;
        let given = json!({ "initialContext": { "words": "He said: The bittern booms at dusk." } });
        let run = world.post(&format!("/api/v1/processes/{}/execute", id(&process)), given.to_string()).await.json();
        let path = format!("/api/v1/executions/{}", run["executionId"].as_str().unwrap());
        assert!(world.get(&path).await.text.contains("booms"));
        let cancelled = world.post(&format!("{path}/cancel"), String::new()).await;
        assert_eq!(cancelled.status, 200, "{}", cancelled.text);
        assert_eq!(redact(world, id(&said["node"])).await.status, 200);
        for path in [path.as_str(), "/api/v1/operations", "/api/v1/executions", "/api/v1/reviews"] {
            let shown = world.get(path).await;
            assert!(!shown.text.contains("booms"), "{path}: {}", shown.text);
        }
    }

    async fn br_turn_episode_001_short_words_are_looked_for_in_their_own_conversation_refuses_others(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "4711").await;
        let near = talk.say(Some(&said), "Is it 4711?").await;
        talk.say(Some(&near), "It is 47110.").await;
        let elsewhere = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({ "title": "4711" })).await);
        let first = elsewhere.say(None, "4711").await;
        let quoted = redact(world, id(&said["node"])).await.json()["quotedIn"].clone();
        let items: Vec<&Value> = quoted.as_array().unwrap().iter().map(|quote| &quote["itemId"]).collect();
        assert_eq!(items, [&near["node"]["id"]]);
        let padded = talk.say(Some(&near), "e                    ").await;
        elsewhere.say(Some(&first), "Everything there is.").await;
        assert_eq!(redact(world, id(&padded["node"])).await.json()["quotedIn"], json!([]), "white space makes no word long");
    }

    async fn br_turn_episode_001_nothing_but_its_owners_redaction_of_the_text_refuses_to_destroy_it(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "The bittern booms at dusk.").await;
        let (before, item) = (node(world, &said).await, content_of(world, &said).await);
        let place = id(&said["node"]).to_owned();
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let mark = world.mark().await;
        for item in [&item, &place] {
            let undone = world.post(&format!("/api/v1/items/{item}/undo"), "{}").await;
            assert_eq!(undone.breaks(), (422, "MG-SOIL-005".to_owned()), "{}", undone.text);
        }
        let moved = world.get("/api/v1/items?type=EntityDelta&limit=1").await.json();
        assert_eq!(redact(world, id(&moved["data"][0])).await.breaks(), (422, "MG-SOIL-010".to_owned()));
        let no_reason = world.post(&format!("/api/v1/items/{item}/redact"), r#"{"reason":" "}"#).await;
        assert_eq!(no_reason.breaks(), (422, "MG-SOIL-010".to_owned()));
        assert_eq!(redact(&bert, &item).await.status, 404);
        for path in [format!("/api/v1/nodes/{place}"), format!("/api/v1/items/{item}"), format!("{}{}", talk.path, turn_path(&said))] {
            let deleted = world.change("DELETE", &path, "").await;
            assert!([404, 405].contains(&deleted.status.as_u16()), "{path}: {}", deleted.text);
        }
        assert_eq!(world.written_since(mark).await, 0);
        world.engine.forget_index().await.unwrap();
        let after = node(world, &said).await;
        assert_eq!(["content", "contentHash"].map(|name| &after[name]), ["content", "contentHash"].map(|name| &before[name]));
    }
}
