//! Authors of answers: one actor for each service and model, whatever their names (decision Z30).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::context_sent::{Api, Stage};
use crate::conversation_fixture::{ConversationFixture, id};
use crate::server_fixture::{ServerFixture, both};

/// Has a process answer; the author of its answer.
async fn author(stage: &Stage<'_>, talk: &ConversationFixture<'_>, asked: &Value, process: &str) -> Value {
    let body = json!({ "parentAlternativeId": asked["node"]["id"], "speaker": "agent", "processId": process });
    stage.answered(talk, "/turns", &body).await.0["node"]["authorId"].clone()
}

fn described() -> Value {
    json!({ "name": "Hugin", "type": "model", "modelRef": "modelsopenai:m", "configuration": { "temperature": 0.25 } })
}

both! {
    async fn ag_node_003_services_whose_names_make_one_reference_have_authors_of_their_own_holds(world: &ServerFixture) {
        let mut stage = Stage::new(world, Api::OpenAi).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many herons?").await;
        let (mut authors, names) = (BTreeSet::new(), ["私", "我", "Open AI", "open-ai"]);
        for (number, name) in names.into_iter().enumerate() {
            stage.serve_as(name).await;
            let process = stage.process(&format!("Process {number}"), "m", false, Value::Null).await;
            let first = author(&stage, &talk, &said, &process).await;
            assert_eq!(author(&stage, &talk, &said, &process).await, first, "{name}");
            authors.insert(first.to_string());
        }
        assert_eq!(authors.len(), names.len(), "{authors:?}");
    }

    async fn ag_node_003_a_service_by_another_name_keeps_the_author_of_its_model_holds(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let hugin = world.made("/api/v1/actors", &described()).await;
        let process = stage.process("Plain", "m", false, Value::Null).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many herons?").await;
        assert_eq!(author(&stage, &talk, &said, &process).await, hugin["id"]);
        let path = format!("/api/v1/services/{}", stage.service());
        let hash = world.get(&path).await.json()["hash"].clone();
        world.changed("PUT", &path, &json!({ "name": "Another", "basedOnHash": hash })).await;
        assert_eq!(author(&stage, &talk, &said, &process).await, hugin["id"]);
        let view = stage.preview(id(&said["node"]), &process, "").await;
        assert_eq!(view["parameters"]["temperature"], 0.25, "{view}");
    }

    async fn ag_node_003_another_model_of_an_actor_that_wrote_refuses_over_http(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let hugin = world.made("/api/v1/actors", &described()).await;
        let path = format!("/api/v1/actors/{}", id(&hugin));
        let other = json!({ "modelRef": "modelsopenai:n", "basedOnHash": hugin["hash"] });
        let hugin = world.changed("PUT", &path, &other).await;
        let back = json!({ "modelRef": "modelsopenai:m", "basedOnHash": hugin["hash"] });
        world.changed("PUT", &path, &back).await;
        let process = stage.process("Plain", "m", false, Value::Null).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many herons?").await;
        author(&stage, &talk, &said, &process).await;
        let hugin = world.get(&path).await.json();
        assert_eq!((&hugin["serviceModel"]["serviceId"], &hugin["serviceModel"]["model"]), (&json!(stage.service()), &json!("m")));
        let other = json!({ "modelRef": "anthropic:claude", "basedOnHash": hugin["hash"] });
        let refused = world.change("PUT", &path, other.to_string()).await;
        assert_eq!(refused.breaks(), (422, "AG-NODE-003".to_owned()), "{}", refused.text);
    }

    async fn ag_node_003_a_second_actor_of_one_model_refuses(world: &ServerFixture) {
        let first = world.made("/api/v1/actors", &described()).await;
        let refused = world.post("/api/v1/actors", described().to_string()).await;
        assert_eq!(refused.breaks(), (422, "AG-NODE-003".to_owned()), "{}", refused.text);
        let path = format!("/api/v1/actors/{}", id(&first));
        let archived = world.changed("PUT", &path, &json!({ "archived": true, "basedOnHash": first["hash"] })).await;
        world.made("/api/v1/actors", &described()).await;
        let back = json!({ "archived": false, "basedOnHash": archived["hash"] });
        let back = world.change("PUT", &path, back.to_string()).await;
        assert_eq!(back.breaks(), (422, "AG-NODE-003".to_owned()), "{}", back.text);
    }
}
