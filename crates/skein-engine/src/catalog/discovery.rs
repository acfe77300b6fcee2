//! Tools made from an OpenAPI document: one for each operation it describes.

use bytes::Bytes;
use serde_json::{Map, Value};
use skein_connect::http::{CallFault, HttpCall, Limits};
use skein_core::account::Scope;
use skein_core::catalog::discovery;
use skein_core::catalog::discovery::{DiscoveryTarget, SkippedOperation};
use skein_core::catalog::entry::OwnedEntry;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::{RecordId, UserId};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{SECRET, StoredEntry, load, load_named, make};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request};

/// Most tools made at once: they are written in one transaction, and others wait for it.
const TOOLS_MAX: usize = 200;
/// Largest document that is fetched.
const DOCUMENT_BYTES_MAX: usize = 4 << 20;

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
    pub tools: Vec<StoredEntry<Tool>>,
    /// Operations that cannot be tools, and why.
    pub skipped: Vec<SkippedOperation>,
}

impl Outcome for DiscoveredTools {
    fn reference(&self) -> Value {
        let tools: Vec<Value> = self.tools.iter().map(Outcome::reference).collect();
        serde_json::json!({ "tools": tools, "skipped": self.skipped })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &skein_core::Viewer, reference: &Value) -> Result<Self, StoreError> {
        let tools = reference.get("tools").and_then(Value::as_array).into_iter().flatten();
        let tools = tools.map(|tool| StoredEntry::recall(tx, viewer, tool)).collect::<Result<_, _>>()?;
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
    ) -> Result<CommittedChange<DiscoveredTools>, EngineError> {
        caller.require(Scope::Write)?;
        let Discovery { service, source, connection_params, secret } = discovery;
        let viewer = caller.acting();
        let look = move |tx: &mut Tx<'_>| {
            let found = load::<Service>(tx, &viewer, service)?;
            let secret: Option<StoredEntry<Secret>> =
                secret.map(|secret| load_named(tx, &viewer, SECRET, secret)).transpose()?;
            Ok((found, secret))
        };
        let (service, secret) = self.parts().store.read(look).await?;
        // Admitted before it is fetched: what waits for a place to be read is in memory.
        let admitted = self.compute().admit(caller.user)?;
        let source = match source {
            Source::Document(document) => FetchedDocument::Document(document),
            Source::Address(address) => self.fetch_document(address).await?,
        };
        let (owner, secret) = (caller.user, secret.map(|secret| secret.owned()));
        let (service_id, service_hash) = (service.id, service.hash);
        let judge =
            move || Ok::<_, EngineError>(judged(&source.read()?, owner, &service, connection_params, secret.as_ref())?);
        // A large document takes a while, and nobody else waits for it here.
        let judged = admitted.run(judge).await??;
        self.change(caller, request, "service.discover", move |tx, viewer| {
            if load::<Service>(tx, viewer, service_id)?.hash != service_hash {
                return Err(StoreError::RequestInFlight);
            }
            let made = judged.0.iter().map(|tool| make(tx, viewer, tool, false));
            Ok(DiscoveredTools { tools: made.collect::<Result<_, _>>()?, skipped: judged.1.clone() })
        })
        .await
    }

    async fn fetch_document(&self, address: String) -> Result<FetchedDocument, EngineError> {
        let call = HttpCall::new(http::Method::GET, &address)?;
        let call = HttpCall { limits: Limits { answer_bytes_max: DOCUMENT_BYTES_MAX, ..call.limits }, ..call };
        let answer = self.parts().gateway.http().send(&call).await?;
        let status = answer.status;
        let body = answer.body.whole().await?;
        if status.is_success() {
            return Ok(FetchedDocument::Text { address, body });
        }
        Err(unusable(&address, format!("it answered {status}")))
    }
}

/// A document before anybody looked into it.
enum FetchedDocument {
    Document(Value),
    /// What an address gave.
    Text {
        address: String,
        body: Bytes,
    },
}

impl FetchedDocument {
    /// The document, from JSON or YAML; takes seconds where it is large.
    fn read(self) -> Result<Value, EngineError> {
        match self {
            Self::Document(document) => Ok(document),
            Self::Text { address, body } => serde_json::from_slice(&body)
                .or_else(|_| yaml(&body))
                .map_err(|()| unusable(&address, "it is neither JSON nor YAML".to_owned())),
        }
    }
}

fn unusable(address: &str, cause: String) -> EngineError {
    CallFault::Content { host: address.chars().take(200).collect(), cause }.into()
}

/// The tools of a document, judged one by one before anything is written.
fn judged(
    document: &Value,
    owner: UserId,
    service: &StoredEntry<Service>,
    connection_params: Map<String, Value>,
    secret: Option<&OwnedEntry<Secret>>,
) -> Result<(Vec<Tool>, Vec<SkippedOperation>), StoreError> {
    let found = discovery::discover(document, &DiscoveryTarget { service_id: service.id, connection_params, secret });
    let found = found.map_err(|problem| undiscoverable(&problem.to_string()))?;
    if found.tools.len() > TOOLS_MAX {
        let problem =
            format!("the document describes {} operations; {TOOLS_MAX} become tools at once", found.tools.len());
        return Err(undiscoverable(&problem));
    }
    let service = service.owned();
    let tools = found.tools.into_iter().map(|draft| Tool::create(draft, owner, &service, secret));
    Ok((tools.collect::<Result<_, _>>()?, found.skipped))
}

/// YAML as a document; what JSON cannot say is refused.
fn yaml(bytes: &[u8]) -> Result<Value, ()> {
    let text = std::str::from_utf8(bytes).map_err(drop)?;
    serde_saphyr::from_str(text).map_err(drop)
}

fn undiscoverable(problem: &str) -> StoreError {
    let remedy = "mend that and send it again; nothing was made";
    skein_core::RuleViolation::new("BR-TOOL-002", problem, remedy).into()
}
