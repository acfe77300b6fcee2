//! The served API document, read as a client reads it: what can be asked, and by what example.

use serde_json::Value;

use crate::server_fixture::ServerFixture;

/// One thing that can be asked for.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    /// As the document has it.
    pub(crate) described: Value,
    /// What goes into the query, by name and example.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<ExampleBody>,
}

#[derive(Debug, Clone)]
pub(crate) struct ExampleBody {
    pub(crate) content_type: String,
    pub(crate) schema: Value,
    pub(crate) example: Value,
}

impl Operation {
    /// What reading is not; comparing, searching and validating are asked for in a body, and are reading.
    pub(crate) fn is_change(&self) -> bool {
        self.method != "GET" && !["/compare", "/search", "/validate"].iter().any(|end| self.path.ends_with(end))
    }

    /// A change that is made once however often it is asked for. Asking whether a service is there is none.
    pub(crate) fn is_keyed(&self) -> bool {
        self.is_change() && !self.path.ends_with("/health")
    }

    pub(crate) fn takes_json(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.content_type == "application/json")
    }

    /// Every parameter, references followed.
    pub(crate) fn parameters<'a>(&'a self, document: &'a Value) -> impl Iterator<Item = &'a Value> {
        let listed = self.described["parameters"].as_array().into_iter().flatten();
        listed.map(|parameter| followed(document, parameter))
    }
}

pub(crate) async fn served(world: &ServerFixture) -> Value {
    world.get("/api/v1/openapi.json").await.json()
}

/// Every operation of the document; there are many, so an empty walk proves nothing unnoticed.
pub(crate) fn operations(document: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            found.push(operation(document, path, method, described));
        }
    }
    assert!(found.len() > 30, "{} operations", found.len());
    found
}

fn operation(document: &Value, path: &str, method: &str, described: &Value) -> Operation {
    let id = described["operationId"].as_str().unwrap().to_owned();
    let listed = described["parameters"].as_array().into_iter().flatten();
    let parameters = listed.map(|parameter| followed(document, parameter));
    let needed = parameters.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
    let query = needed.map(|parameter| (text(&parameter["name"]), text(&parameter["example"]))).collect();
    let body = described.get("requestBody").map(|body| {
        let (content_type, content) = body["content"].as_object().unwrap().iter().next().unwrap();
        let schema = followed(document, &content["schema"]).clone();
        let example = content.get("example").or_else(|| schema.get("example")).cloned();
        let example = example.unwrap_or_else(|| panic!("{id} has a body without an example"));
        ExampleBody { content_type: content_type.clone(), schema, example }
    });
    let (method, path, described) = (method.to_uppercase(), path.to_owned(), described.clone());
    Operation { id, method, path, described, query, body }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a reference points to; anything else is itself.
pub(crate) fn followed<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    let place = reference.strip_prefix('#').expect("references stay in the document");
    document.pointer(place).unwrap_or_else(|| panic!("{reference} leads nowhere"))
}
