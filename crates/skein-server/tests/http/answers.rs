//! Answers over HTTP: a cancelled one leaves its conversation as it was, and what would have no effect is refused.

use serde_json::{Value, json};

use crate::conversation_fixture::{ConversationFixture, id, turn_path};
use crate::server_fixture::{ServerFixture, both};

/// A process that waits for a person.
async fn waiting(world: &ServerFixture, name: &str) -> Value {
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    let process = json!({ "name": name, "initialContext": [], "steps": [ask], "outputTemplate": "{{a}}" });
    world.made("/api/v1/processes", &process).await
}

async fn begun(talk: &ConversationFixture<'_>, end: &str, body: Value) -> Value {
    let answer = talk.ask("POST", end, &body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()["answers"][0].clone()
}

/// Where the path stands, and which process is offered.
async fn state(talk: &ConversationFixture<'_>) -> (Value, Value) {
    let shown = talk.shown().await;
    (shown["cursorNodeId"].clone(), shown["processId"].clone())
}

both! {
    async fn br_exec_001_a_cancelled_answer_leaves_the_conversation_as_it_was_holds(world: &ServerFixture) {
        let (talk, first, second) = (ConversationFixture::new(world).await, waiting(world, "first").await, waiting(world, "second").await);
        let said = talk.say(None, "How many?").await;
        let body = |process: &Value| json!({ "speaker": "agent", "parentAlternativeId": said["node"]["id"], "processIds": [process["id"]] });
        let answer = begun(&talk, "/turns", body(&first)).await;
        let review = world.get("/api/v1/reviews").await.json()["data"][0]["id"].as_str().unwrap().to_owned();
        world.changed("POST", &format!("/api/v1/reviews/{review}/decide"), &json!({ "decision": "answer", "value": "Eleven." })).await;
        let before = state(&talk).await;
        assert_eq!(before, (answer["node"]["id"].clone(), first["id"].clone()));
        let regenerate = format!("{}/alternatives/{}/regenerate", turn_path(&said).replace(id(&said["turn"]), answer["node"]["turnId"].as_str().unwrap()), id(&answer["node"]));
        for (end, body) in [("/turns", body(&second)), (regenerate.as_str(), json!({ "makeActive": true }))] {
            let failed = begun(&talk, end, body).await;
            assert_eq!(state(&talk).await.0, failed["node"]["id"]);
            let run = failed["executionId"].as_str().unwrap();
            world.changed("POST", &format!("/api/v1/executions/{run}/cancel"), &json!({})).await;
            assert_eq!(state(&talk).await, before, "{end}");
            let turn = talk.get(&format!("/turns/{}", failed["node"]["turnId"].as_str().unwrap())).await;
            let listed: Vec<&Value> = turn["alternatives"].as_array().unwrap().iter().filter(|one| one["status"] == "failed").collect();
            assert!(listed.iter().any(|one| one["id"] == failed["node"]["id"] && one["isActive"] == false), "{turn}");
        }
        let next = talk.say(Some(&answer), "And now?").await;
        assert_eq!(talk.get("/path").await["data"].as_array().unwrap().len(), 3, "{next}");
    }

    async fn br_conv_001a_an_answer_that_is_not_to_be_remembered_leaves_the_offered_process_holds(world: &ServerFixture) {
        let (talk, first, second) = (ConversationFixture::new(world).await, waiting(world, "first").await, waiting(world, "second").await);
        let said = talk.say(None, "How many?").await;
        let body = |process: &Value| json!({ "speaker": "agent", "parentAlternativeId": said["node"]["id"], "processIds": [process["id"]] });
        begun(&talk, "/turns", body(&first)).await;
        assert_eq!(state(&talk).await.1, first["id"]);
        let mut quiet = body(&second);
        quiet["rememberProcess"] = json!(false);
        begun(&talk, "/turns", quiet).await;
        assert_eq!(state(&talk).await.1, first["id"]);
        let more = json!({ "parentAlternativeId": said["node"]["id"], "text": "And?", "rememberProcess": false });
        talk.refuses("/turns", &more, 422, "BR-TURN-010").await;
    }

    async fn ag_path_002_a_turn_that_is_not_active_leaves_the_path_where_it_stands_holds(world: &ServerFixture) {
        let (talk, process) = (ConversationFixture::new(world).await, waiting(world, "waits").await);
        let question = talk.say(None, "How many?").await;
        let other = json!({ "text": "How many herons?", "editedFrom": question["node"]["id"], "makeActive": true });
        let edited = talk.made(&format!("{}/alternatives", turn_path(&question)), &other).await;
        let body = json!({ "parentAlternativeId": question["node"]["id"], "text": "And cranes?", "makeActive": false });
        let later = talk.made("/turns", &body).await;
        assert_eq!(state(&talk).await.0, edited["node"]["id"]);
        let answer = json!({ "speaker": "agent", "parentAlternativeId": later["node"]["id"], "processIds": [process["id"]], "makeActive": false });
        begun(&talk, "/turns", answer).await;
        assert_eq!(state(&talk).await.0, edited["node"]["id"]);
        assert_eq!(talk.get("/path").await["data"].as_array().unwrap().len(), 1);
        let path = talk.get(&format!("/path?nodeId={}", id(&later["node"]))).await;
        assert_eq!(path["data"].as_array().unwrap().len(), 2, "it was said all the same");
    }

    async fn br_turn_013_no_answer_or_more_than_sixteen_refuses(world: &ServerFixture) {
        let (talk, process) = (ConversationFixture::new(world).await, waiting(world, "waits").await);
        let said = talk.say(None, "How many?").await;
        for (processes, samples) in [(1, json!(0)), (1, json!(17)), (3, json!(i64::MAX)), (17, json!(1))] {
            let processes = vec![process["id"].clone(); processes];
            let body = json!({ "speaker": "agent", "parentAlternativeId": said["node"]["id"], "processIds": processes, "samples": samples });
            talk.refuses("/turns", &body, 422, "BR-TURN-013").await;
        }
    }

    async fn what_only_answers_have_is_refused_with_what_a_person_says(world: &ServerFixture) {
        let (talk, process) = (ConversationFixture::new(world).await, waiting(world, "waits").await);
        let said = talk.say(None, "How many?").await;
        for more in [json!({ "processIds": [process["id"]] }), json!({ "samples": 2 }), json!({ "initialContext": { "a": 1 } })] {
            let mut body = json!({ "parentAlternativeId": said["node"]["id"], "text": "And now?" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            talk.refuses("/turns", &body, 422, "BR-TURN-010").await;
            body.as_object_mut().unwrap().remove("parentAlternativeId");
            talk.refuses(&format!("{}/alternatives", turn_path(&said)), &body, 422, "BR-TURN-010").await;
        }
        let answer = begun(&talk, "/turns", json!({ "speaker": "agent", "parentAlternativeId": said["node"]["id"], "processIds": [process["id"]] })).await;
        let place = format!("/turns/{}/alternatives", answer["node"]["turnId"].as_str().unwrap());
        for more in [json!({ "text": "Eleven." }), json!({ "editedFrom": answer["node"]["id"] }), json!({ "keptFrom": answer["node"]["id"] })] {
            let mut body = json!({ "processIds": [process["id"]] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            talk.refuses(&place, &body, 422, "BR-TURN-010").await;
        }
    }
}
