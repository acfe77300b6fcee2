//! A conversation to be talked in, for tests that say things.

use serde_json::{Value, json};

use crate::server_fixture::{Answer, ServerFixture};

pub(crate) const CONVERSATIONS: &str = "/api/v1/conversations";

pub(crate) fn id(thing: &Value) -> &str {
    thing["id"].as_str().unwrap_or_else(|| panic!("no id in {thing}"))
}

pub(crate) fn ids(listing: &Value) -> Vec<&str> {
    listing["data"].as_array().unwrap_or_else(|| panic!("no data in {listing}")).iter().map(id).collect()
}

/// A conversation to be talked in.
pub(crate) struct ConversationFixture<'a> {
    pub(crate) world: &'a ServerFixture,
    pub(crate) path: String,
}

impl<'a> ConversationFixture<'a> {
    pub(crate) async fn new(world: &'a ServerFixture) -> Self {
        Self::of(world, &world.made(CONVERSATIONS, &json!({ "title": "Herons" })).await)
    }

    pub(crate) fn of(world: &'a ServerFixture, conversation: &Value) -> Self {
        Self { world, path: format!("{CONVERSATIONS}/{}", id(conversation)) }
    }

    pub(crate) async fn shown(&self) -> Value {
        self.get("").await
    }

    pub(crate) async fn get(&self, end: &str) -> Value {
        let answer = self.world.get(&format!("{}{end}", self.path)).await;
        assert_eq!(answer.status, 200, "{end}: {}", answer.text);
        answer.json()
    }

    /// Says something after a node, or first.
    pub(crate) async fn say(&self, parent: Option<&Value>, text: &str) -> Value {
        let parent = parent.map(|said| said["node"]["id"].clone());
        let body = json!({ "parentAlternativeId": parent, "text": text });
        self.world.made(&format!("{}/turns", self.path), &body).await
    }

    pub(crate) async fn ask(&self, method: &str, end: &str, body: &Value) -> Answer {
        self.world.change(method, &format!("{}{end}", self.path), body.to_string()).await
    }

    pub(crate) async fn made(&self, end: &str, body: &Value) -> Value {
        self.world.made(&format!("{}{end}", self.path), body).await
    }

    /// Asks for what must be refused by its rule, and looks that nothing was written.
    pub(crate) async fn refuses(&self, end: &str, body: &Value, status: u16, rule: &str) {
        let mark = self.world.mark().await;
        let answer = self.ask("POST", end, body).await;
        assert_eq!(answer.breaks(), (status, rule.to_owned()), "{end} {body}: {}", answer.text);
        assert_eq!(self.world.written_since(mark).await, 0, "{end} {body}");
    }
}

pub(crate) fn turn_path(said: &Value) -> String {
    format!("/turns/{}", id(&said["turn"]))
}

pub(crate) fn activation(said: &Value) -> String {
    format!("{}/alternatives/{}/activate", turn_path(said), id(&said["node"]))
}
