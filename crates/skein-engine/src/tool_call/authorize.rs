//! Authorizes a tool call right before it goes out: ownership, sharing, health and secrets.
//!
//! A person who tries a tool and a step of a process go the same way; they differ in what down means to them, and in what
//! becomes of the result.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skein_connect::credential::Credential;
use skein_core::catalog::health::{self, Callability, EntryHealth, Health};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::schema::{self, BadSchema, SchemaJudge as _, Unfit};
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::{Builtin, Service};
use skein_core::catalog::tool::Tool;
use skein_core::document::BadDocument;
use skein_core::flow::authorization::{AuthorizationInputs, CallAuthorization, OwnedRef};
use skein_core::flow::cost::Cost;
use skein_core::flow::tool_call::{CallStatus, ToolResult, large_output};
use skein_core::garden::event::EventName;
use skein_core::garden::item::{BadItem, ItemDraft};
use skein_core::{ItemId, Millis, RecordId, RuleViolation, UserId, Viewer};
use skein_store::catalog::vault::SealedSecret;
use skein_store::{StoreError, Tx};

use crate::catalog::{SYSTEM, StoredEntry, load, secret_transfer};
use crate::engine::Engine;
use crate::jobs::catalog::told;
use crate::tool_call::builtin_tools;
use crate::tool_call::dependencies::CallDependencies;
use crate::tool_call::execute::{self, CallResponse, Extras};
use crate::tree::SentImages;

/// What a call is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallPurpose {
    /// To see whether the tool works: that is how something that was down is found to work again.
    Trial,
    /// For what it answers: what is down is not called (rule BR-TOOL-006).
    Use,
}

/// A tool with all that a call of it needs.
pub(crate) struct AuthorizedCall {
    pub(crate) tool: Arc<StoredEntry<Tool>>,
    pub(crate) service: Arc<StoredEntry<Service>>,
    pub(crate) authorization: CallAuthorization,
    sealed: Option<(Arc<StoredEntry<Secret>>, SealedSecret)>,
    /// Whether a call of it is worth a warning (rule BR-TOOL-006).
    is_degraded: bool,
    /// What was known of the tool before, and of its service.
    found: (Option<Health>, Option<Health>),
    /// Whether the tool does something else by now: how this went says nothing about that.
    pub(crate) is_past: bool,
}

impl AuthorizedCall {
    /// BR-TOOL-006: logs a warning before a degraded tool is called.
    pub(crate) fn warn_if_degraded(&self) {
        if self.is_degraded {
            tracing::warn!(tool = %self.tool.id, rule = "BR-TOOL-006", "calling a tool that is degraded or was never checked");
        }
    }

    /// What a call cost, and who pays, where that is known: the owner of the secret, by the prices the tool had when it
    /// was called (rule BR-SHARE-008).
    pub(crate) fn cost(&self, answered: &CallResponse) -> Option<Cost> {
        let pricing = self.tool.entry.pricing.as_ref()?;
        let is_answered = answered.outcome.is_ok() || answered.usage.is_some();
        let amount = pricing.cost(is_answered, answered.usage.as_ref())?;
        Some(Cost { payer_id: self.authorization.payer, currency: pricing.currency, amount })
    }
}

impl Engine {
    /// What a call stands on, judged now.
    pub(crate) async fn ready_to_call(
        &self,
        executor: UserId,
        tool: RecordId,
        purpose: CallPurpose,
    ) -> Result<AuthorizedCall, StoreError> {
        let engine = self.clone();
        let judged = move |tx: &mut Tx<'_>| {
            let ready = engine.ready_in(tx, executor, tool, purpose)?;
            engine.check_fits(&ready)?;
            Ok(ready)
        };
        self.parts().store.read_computing(judged).await
    }

    /// Loads what a call stands on and judges it.
    pub(crate) fn ready_in(
        &self,
        tx: &mut Tx<'_>,
        executor: UserId,
        tool: RecordId,
        purpose: CallPurpose,
    ) -> Result<AuthorizedCall, StoreError> {
        let base = CallDependencies::read(tx, &self.parts().entries, executor, tool.into())?;
        let base = base.ok_or_else(|| StoreError::NotFound(tool.to_string()))?;
        ready_on(base, executor, tx.now(), purpose)
    }

    pub(crate) fn check_fits(&self, ready: &AuthorizedCall) -> Result<(), StoreError> {
        ready.tool.entry.check_fits_by(&ready.service.entry, &self.judge(ready.authorization.executor))
    }

    pub(crate) fn check_inputs(&self, ready: &AuthorizedCall, inputs: &Map<String, Value>) -> Result<(), StoreError> {
        let (tool, judge) = (&ready.tool, self.judge(ready.authorization.executor));
        let fits = judge.verdict(&tool.entry.input_schema, &Value::Object(inputs.clone()))?;
        Ok(fits.map_err(|unfit| match unfit {
            Unfit::Schema(bad) => unusable(&bad),
            Unfit::Value(breaches) => {
                let problem = format!("the inputs do not fit: {}", schema::describe(&breaches));
                RuleViolation::new("BR-TOOL-002", problem, "give what the tool's inputSchema asks for")
            }
        })?)
    }

    /// Makes the call and gives of its answer what the executor may see.
    pub(crate) async fn call(
        &self,
        ready: &AuthorizedCall,
        inputs: &Map<String, Value>,
        extras: Extras<'_>,
    ) -> CallResponse {
        let answered = self.send_call(ready, inputs, extras).await;
        if ready.authorization.payer == ready.authorization.executor {
            return answered;
        }
        answered.without_raw_response(matches!(ready.tool.entry.operation, Operation::LlmCall(_)))
    }

    /// What Skein can do itself is done here, in the name of the executor.
    async fn send_call(&self, ready: &AuthorizedCall, inputs: &Map<String, Value>, extras: Extras<'_>) -> CallResponse {
        if let (Operation::McpTool(call), Some(Builtin::Abilities)) =
            (&ready.tool.entry.operation, ready.service.entry.builtin)
        {
            let answer = &extras.answer;
            return CallResponse::own(
                builtin_tools::dispatch(self, ready.authorization.executor, call, inputs, answer).await,
            );
        }
        let images = Arc::new(self.images_of_call(ready, inputs).await);
        let extras = Extras { images, ..extras };
        let credential = match self.credential(ready) {
            Ok(credential) => credential,
            Err(problem) => return CallResponse::fault("secret_unavailable", &problem, false),
        };
        let (http, tool, service) = (self.parts().gateway.http(), &ready.tool.entry, &ready.service.entry);
        let answered = execute::call(http, tool, service, inputs, credential.as_ref(), extras.clone()).await;
        // Another server may have allowed the address a moment ago; nothing went out.
        let is_refused = answered.outcome.as_ref().is_err_and(|error| error["code"] == "address_refused");
        if !is_refused || self.follow_endpoints().await.is_err() {
            return answered;
        }
        execute::call(http, tool, service, inputs, credential.as_ref(), extras).await
    }

    /// The images that a call sends; none where the model accepts none.
    pub(crate) async fn images_of_call(&self, ready: &AuthorizedCall, inputs: &Map<String, Value>) -> SentImages {
        if !execute::accepts_images(&ready.tool.entry, &ready.service.entry) {
            return SentImages::new();
        }
        self.images_to_send(ready.authorization.executor, execute::images_named(&ready.tool.entry, inputs)).await
    }

    /// Opens the secret, if one is used; keys that another server made are looked for once.
    pub(crate) fn credential(&self, ready: &AuthorizedCall) -> Result<Option<Arc<Credential>>, String> {
        let Some((secret, sealed)) = &ready.sealed else { return Ok(None) };
        let opened = secret_transfer::open_value(&self.parts().gateway, sealed).map_err(|error| {
            tracing::warn!(%error, secret = %secret.id, "a secret cannot be opened");
            error.to_string()
        })?;
        let key_use = execute::secret_use(&ready.tool.entry, secret.entry.secret_type);
        let credential = Credential::new(secret.entry.secret_type, &opened, key_use.as_ref());
        let credential = credential.map_err(|violation| violation.problem().to_owned())?;
        let (engine, sealed) = (self.clone(), sealed.clone());
        Ok(Some(Arc::new(credential.on_renewal(Arc::new(move |value| {
            let (engine, sealed) = (engine.clone(), sealed.clone());
            Box::pin(async move {
                if let Err(error) = engine.keep_renewed(&sealed, value.into()).await {
                    tracing::warn!(%error, secret = %sealed.secret, "a renewed token could not be kept");
                }
            })
        })))))
    }

    /// A result that does not fit what the tool promises is none (rule BR-TOOL-003).
    pub(crate) async fn checked(&self, ready: &AuthorizedCall, answered: CallResponse) -> CallResponse {
        let output = match answered.outcome {
            Ok(output) => Arc::new(output),
            Err(error) => return CallResponse { outcome: Err(error), ..answered },
        };
        let fits = match self.verdict(ready.authorization.executor, &ready.tool.entry.output_schema, &output).await {
            Ok(verdict) => verdict.map_err(|unfit| output_breach(&unfit)),
            Err(error) => {
                let problem = format!("the answer could not be judged: {error}");
                Err(RuleViolation::new("BR-TOOL-003", problem, "have the tool answer with less"))
            }
        };
        let outcome = match fits {
            Ok(()) => Ok(Arc::unwrap_or_clone(output)),
            Err(violation) => {
                let mut error = told("output_mismatch", violation.problem());
                error["rule"] = json!(violation.rule());
                Err(error)
            }
        };
        CallResponse { outcome, ..answered }
    }

    /// Refuses what somebody says a call came to, unless it fits what the tool promises.
    pub(crate) fn check_output(&self, by: UserId, tool: &StoredEntry<Tool>, output: &Value) -> Result<(), StoreError> {
        let fits = self.judge(by).verdict(&tool.entry.output_schema, output)?;
        Ok(fits.map_err(|unfit| output_breach(&unfit))?)
    }
}

fn output_breach(unfit: &Unfit) -> RuleViolation {
    match unfit {
        Unfit::Schema(bad) => unusable(bad),
        Unfit::Value(breaches) => {
            let problem = format!("the answer does not fit the tool's outputSchema: {}", schema::describe(breaches));
            RuleViolation::new("BR-TOOL-003", problem, "give what the tool promises, or change its outputSchema")
        }
    }
}

fn unusable(bad: &BadSchema) -> RuleViolation {
    RuleViolation::new("BR-TOOL-003", format!("a schema of the tool is not usable: {bad}"), "change the tool")
}

/// Judges what a call of somebody's stands on.
pub(crate) fn ready_on(
    base: CallDependencies,
    executor: UserId,
    now: Millis,
    purpose: CallPurpose,
) -> Result<AuthorizedCall, StoreError> {
    let viewer = Viewer::User(executor);
    let missing = |id: RecordId| StoreError::NotFound(id.to_string());
    let CallDependencies { tool, service, tool_secret, binding, own_secret, tool_health, service_health, is_past } =
        base;
    if !tool.shared && !viewer.may_read(tool.owner, now) {
        return Err(missing(tool.id));
    }
    // What the tool stands on may not be the executor's to see; the chain says whether it may be used.
    let service = service.ok_or_else(|| missing(tool.entry.service_id))?;
    if let Some(id) = tool.entry.secret_id.filter(|_| tool_secret.is_none()) {
        return Err(missing(id));
    }
    if let Some(binding) = &binding {
        binding.entry.check(&tool.entry)?;
        if own_secret.as_ref().is_none_or(|(secret, _)| secret.owner != executor) {
            return Err(missing(binding.entry.secret_id));
        }
    }
    let chain = AuthorizationInputs {
        executor,
        tool: holding(&tool),
        service: holding(&service),
        tool_secret: tool_secret.as_ref().map(|(secret, _)| holding(secret)),
        own_secret: own_secret.as_ref().map(|(secret, _)| holding(secret)),
        requires_secret: service.entry.requires_secret,
    };
    let authorization = chain.judge()?;
    let used = |id: RecordId| [own_secret, tool_secret].into_iter().flatten().find(|(secret, _)| secret.id == id);
    let sealed = match authorization.secret.and_then(|(id, _)| used(id)) {
        None => None,
        Some((secret, sealed)) => {
            let sealed = sealed.ok_or_else(|| no_value(&secret))?;
            Some((secret, sealed))
        }
    };
    let is_built_in = service.entry.builtin.is_some();
    let tool_vitals = EntryHealth { enabled: tool.entry.enabled, finding: tool_health }.built_in(is_built_in);
    let service_vitals = EntryHealth { enabled: service.entry.enabled, finding: service_health }.built_in(is_built_in);
    // Whoever tries what was down finds out whether it still is.
    let asked = |vitals: EntryHealth| EntryHealth {
        finding: vitals.finding.filter(|found| purpose == CallPurpose::Use || *found != Health::Down),
        ..vitals
    };
    let callable = health::check_call(asked(tool_vitals), asked(service_vitals))?;
    // Checks of a tool say nothing about its earlier versions; those of its service do.
    let tells = !is_past || service_vitals.status() == Health::Degraded;
    let is_degraded = callable == Callability::WithWarning && tells;
    let found = (tool_vitals.finding, service_vitals.finding);
    let ready = AuthorizedCall { tool, service, authorization, sealed, is_degraded, found, is_past };
    if purpose == CallPurpose::Use {
        ready.warn_if_degraded();
    }
    Ok(ready)
}

fn holding<T>(shown: &StoredEntry<T>) -> OwnedRef {
    OwnedRef { id: shown.id, owner: shown.owner, shared: shown.shared }
}

pub(crate) fn no_value(secret: &StoredEntry<Secret>) -> RuleViolation {
    let problem = format!("the vault holds no value for the secret {:?}", secret.entry.name.as_str());
    RuleViolation::new("BR-SECRET-001", problem, "give the secret a value: it came here without one")
}

/// An output that is larger than a document is kept beside the result. What cannot be kept at all is no result: the call
/// is then on record as having failed to give one.
pub(crate) fn storable(answered: CallResponse) -> (CallResponse, Option<ItemDraft>) {
    let Ok(output) = &answered.outcome else { return (answered, None) };
    let inside = ToolResult { output: output.clone(), ..nothing(ItemId::from_bytes([0; 16])) }.to_draft();
    let kept = match inside {
        Ok(_) => Ok(None),
        Err(BadItem::Document(BadDocument::TooLarge { .. })) => large_output(output).map(Some),
        Err(bad) => Err(bad),
    };
    match kept {
        Ok(large) => (answered, large),
        Err(bad) => {
            let message = format!("the answer cannot be kept: {bad}; have the tool select less of it");
            let outcome = Err(told("output_not_storable", &message));
            (CallResponse { outcome, is_telling: false, ..answered }, None)
        }
    }
}

/// What an owner's own call tells about how their things are.
pub(crate) struct HealthFinding {
    tool: RecordId,
    service: Option<(RecordId, Health)>,
    problem: Option<String>,
}

impl HealthFinding {
    /// One answer shows that the tool works, and its service where it goes. One failure shows only that something is wrong
    /// with the tool. What is known already is not written again with every call.
    pub(crate) fn of(ready: &AuthorizedCall, result: &ToolResult) -> Option<Self> {
        let CallAuthorization { executor, tool_owner, service_owner, secret, .. } = ready.authorization;
        let is_own = tool_owner == executor && secret.is_none_or(|(_, owner)| owner == executor);
        let (tool, service) = ready.found;
        let is_its_own = ready.tool.entry.address() == ready.service.entry.address();
        let answering = health::of_service_answering(service, is_its_own);
        let is_kept = service_owner == executor && result.error.is_none() && service != Some(answering);
        let is_news = tool != Some(Health::Healthy) || result.error.is_some() || is_kept;
        (is_own && is_news && !ready.is_past).then(|| Self {
            tool: ready.tool.id,
            service: is_kept.then_some((ready.service.id, answering)),
            problem: result.error.as_ref().map(|error| error["message"].as_str().unwrap_or_default().to_owned()),
        })
    }

    pub(crate) fn keep(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let status = if self.problem.is_none() { Health::Healthy } else { Health::Degraded };
        tx.set_health(&SYSTEM, self.tool, status.as_str(), self.problem.as_deref(), None)?;
        match self.service {
            Some((service, status)) => tx.set_health(&SYSTEM, service, status.as_str(), None, None),
            None => Ok(()),
        }
    }
}

pub(crate) fn nothing(call: ItemId) -> ToolResult {
    let (output, output_in, error, usage, cost) = (Value::Null, None, None, None, None);
    let status = CallStatus::Unknown;
    ToolResult {
        call,
        status,
        output,
        output_in,
        error,
        latency_ms: 0,
        usage,
        cost,
        scrubbed: false,
        raw_response: None,
        response_id: None,
    }
}

/// Whether anybody is told of a call: those whose things are used, not who calls, nor Skein itself.
pub(crate) fn is_told(authorization: &CallAuthorization) -> bool {
    let is_other = |owner: UserId| owner != authorization.executor && owner != UserId::SYSTEM;
    is_other(authorization.tool_owner) || is_other(authorization.service_owner)
}

/// Owners see who used what of theirs, and at whose expense; not what was asked or answered (rule BR-SHARE-010).
pub(crate) fn tell_owners(
    tx: &mut Tx<'_>,
    authorization: &CallAuthorization,
    tool: RecordId,
    call: ItemId,
) -> Result<(), StoreError> {
    if !is_told(authorization) {
        return Ok(());
    }
    let service = match load::<Tool>(tx, &SYSTEM, tool) {
        Ok(shown) => shown.entry.service_id,
        // It was deleted meanwhile.
        Err(StoreError::NotFound(_)) => tool,
        Err(error) => return Err(error),
    };
    let mut used = vec![(authorization.tool_owner, tool), (authorization.service_owner, service)];
    used.dedup_by_key(|(owner, _)| *owner);
    for (owner, used) in
        used.into_iter().filter(|(owner, _)| *owner != authorization.executor && *owner != UserId::SYSTEM)
    {
        let about = json!({ "executorId": authorization.executor, "ownerId": owner, "payerId": authorization.payer, "callId": call });
        let Value::Object(about) = about else { unreachable!("it is an object") };
        tx.tell_own(&Viewer::User(owner), EventName::ToolUsed, Some(&used.to_string()), about)?;
    }
    Ok(())
}
