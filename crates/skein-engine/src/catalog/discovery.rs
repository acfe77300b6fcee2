//! Tools made from an OpenAPI document: one for each operation it describes.

use serde_json::{Map, Value};
use skein_connect::http::{CallFault, HttpCall};
use skein_core::RecordId;
use skein_core::catalog::discover::{self, Ground, Skipped};
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{Shown, load, tools};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Outcome, Request};

/// Where a document comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// It was sent.
    Document(Value),
    /// It is served there, as JSON or YAML.
    Address(String),
}

/// What is to be made tools of.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// What the tools stand on.
    pub service: RecordId,
    /// The document.
    pub source: Source,
    /// What all of them connect with.
    pub connection_params: Map<String, Value>,
    /// What all of them authenticate with.
    pub secret: Option<RecordId>,
}

/// What was made, and what could not be.
#[derive(Debug, Clone)]
pub struct DiscoveredTools {
    /// One for each operation.
    pub tools: Vec<Shown<Tool>>,
    /// Operations that cannot be tools, and why.
    pub skipped: Vec<Skipped>,
}

impl Outcome for DiscoveredTools {
    fn reference(&self) -> Value {
        let tools: Vec<Value> = self.tools.iter().map(Outcome::reference).collect();
        serde_json::json!({ "tools": tools, "skipped": self.skipped })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &skein_core::Viewer, reference: &Value) -> Result<Self, StoreError> {
        let tools = reference.get("tools").and_then(Value::as_array).into_iter().flatten();
        let tools = tools.map(|tool| Shown::recall(tx, viewer, tool)).collect::<Result<_, _>>()?;
        let skipped = crate::request::referred(reference, "skipped")?;
        Ok(Self { tools, skipped })
    }
}

impl Engine {
    /// Makes a tool for each operation of an OpenAPI document, all or none.
    pub async fn discover_tools(
        &self,
        caller: &Caller,
        request: Request,
        discovery: Discovery,
    ) -> Result<Changed<DiscoveredTools>, EngineError> {
        let Discovery { service, source, connection_params, secret } = discovery;
        let document = match source {
            Source::Document(document) => document,
            Source::Address(address) => self.fetch_document(&address).await?,
        };
        self.change(caller, request, "service.discover", move |tx, viewer| {
            let _: Shown<Service> = load(tx, viewer, service)?;
            let secret =
                secret.map(|secret| load::<Secret>(tx, viewer, secret)).transpose()?.map(|secret| secret.owned());
            let ground =
                Ground { service_id: service, connection_params: connection_params.clone(), secret: secret.as_ref() };
            let found = discover::discover(&document, &ground).map_err(|problem| undiscoverable(&problem))?;
            let made = found.tools.into_iter().map(|draft| tools::create(tx, viewer, draft));
            Ok(DiscoveredTools { tools: made.collect::<Result<_, _>>()?, skipped: found.skipped })
        })
        .await
    }

    async fn fetch_document(&self, address: &str) -> Result<Value, EngineError> {
        let call = HttpCall::new(http::Method::GET, address)?;
        let answer = self.parts().outside.http().send(&call).await?;
        let status = answer.status;
        let body = answer.body.whole().await?;
        if !status.is_success() {
            let cause = format!("it answered {status}");
            return Err(CallFault::Content { host: address.chars().take(200).collect(), cause }.into());
        }
        serde_json::from_slice(&body).or_else(|_| yaml(&body)).map_err(|()| {
            let cause = "it is neither JSON nor YAML".to_owned();
            CallFault::Content { host: address.chars().take(200).collect(), cause }.into()
        })
    }
}

/// YAML as a document; what JSON cannot say is refused.
fn yaml(bytes: &[u8]) -> Result<Value, ()> {
    let text = std::str::from_utf8(bytes).map_err(drop)?;
    serde_saphyr::from_str(text).map_err(drop)
}

fn undiscoverable(problem: &discover::Undiscoverable) -> StoreError {
    let remedy = "send an OpenAPI document of version 3 that describes operations";
    skein_core::RuleViolation::new("BR-TOOL-002", problem.to_string(), remedy).into()
}
