//! Defines actors: a person, a model, the system, or an unverified author (decision X12).
//!
//! A person is their user; a model is a record of type `Actor`. Either way an author is 16 bytes, and a node's hash
//! holds them bare (decision Z6).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::catalog::entry::{self, Entry, FixedField, Name, refuse_fixed};
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;
use crate::tree::configuration::{Configuration, Permissions};
use crate::tree::spelled_enum::words;

const MODEL_REF_CHARS_MAX: usize = 200;
const PROVIDER_CHARS_MAX: usize = 49;
const IDENTIFIER_CHARS_MAX: usize = 150;
const _: () =
    assert!(PROVIDER_CHARS_MAX + 1 + IDENTIFIER_CHARS_MAX <= MODEL_REF_CHARS_MAX, "a reference is within its limit");

/// The author of something. People have the bits of their user, models those of their record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId([u8; 16]);

impl ActorId {
    /// Skein itself: summaries of folded branches.
    pub const SYSTEM: Self = Self(*UserId::SYSTEM.as_bytes());
    /// "imported (unverified)": model text that came without its raw response.
    pub const IMPORTED: Self = Self([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The ULID without a prefix, as it appears inside hashes and records.
    pub fn bare(&self) -> String {
        RecordId::from_bytes(self.0).bare()
    }

    /// Reads the bare form, a user's id or a record's id.
    pub fn parse(text: &str) -> Option<Self> {
        let user = text.parse().map(|user: UserId| Self::from(user));
        let record = || text.parse().map(|record: RecordId| Self::from(record));
        let bare = || RecordId::from_bare(text).map(Self::from);
        user.or_else(|_| record()).or_else(|_| bare()).ok()
    }

    /// How it is shown: `user_…` for people, `entity_…` for everyone else.
    pub fn shown(&self, author_type: AuthorType) -> String {
        match author_type {
            AuthorType::Human => UserId::from_bytes(self.0).to_string(),
            AuthorType::Model | AuthorType::System | AuthorType::Imported => RecordId::from_bytes(self.0).to_string(),
        }
    }
}

impl From<UserId> for ActorId {
    fn from(user: UserId) -> Self {
        Self(*user.as_bytes())
    }
}

impl From<RecordId> for ActorId {
    fn from(record: RecordId) -> Self {
        Self(*record.as_bytes())
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.bare())
    }
}

impl Serialize for ActorId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.bare())
    }
}

impl<'de> Deserialize<'de> for ActorId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("an actor is the id of a user or of a record"))
    }
}

words! {
    /// What kind of writer an actor is. Never changes.
    ActorType {
        Human = "human",
        Model = "model",
        System = "system",
    }
}

words! {
    /// Which formula a node was hashed by, copied from its author when it is made (rule AG-NODE-003).
    AuthorType {
        Human = "human",
        Model = "model",
        System = "system",
        /// A model's text from elsewhere, without proof.
        Imported = "imported",
    }
}

impl AuthorType {
    /// How an author without a name of its own is called.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Model => "model",
            Self::System => "system",
            Self::Imported => "imported (unverified)",
        }
    }
}

impl From<ActorType> for AuthorType {
    fn from(actor: ActorType) -> Self {
        match actor {
            ActorType::Human => Self::Human,
            ActorType::Model => Self::Model,
            ActorType::System => Self::System,
        }
    }
}

/// Which model an actor speaks for: `provider:identifier`, or `local:` and an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelRef(String);

impl ModelRef {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The reference of a model behind a service: the service's name without spaces and signs, and the model's own name. A
    /// call that names no model reaches the provider's default.
    pub fn of(service: &str, model: Option<&str>) -> Self {
        let provider: String = service.chars().filter(char::is_ascii_alphanumeric).take(PROVIDER_CHARS_MAX).collect();
        let provider = if provider.is_empty() { "custom".to_owned() } else { provider.to_ascii_lowercase() };
        let is_plain = |c: &char| !c.is_whitespace() && !c.is_control();
        let identifier: String =
            model.unwrap_or_default().chars().filter(is_plain).take(IDENTIFIER_CHARS_MAX).collect();
        let identifier = if identifier.is_empty() { "default".to_owned() } else { identifier };
        Self(format!("{provider}:{identifier}"))
    }
}

/// The model that an actor answers as: the service that is asked, and the name it is asked for. It is recorded when the actor
/// answers for the first time. From then on a new name of the service changes no author, and another service whose name makes
/// the same reference has an actor of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceModel {
    pub service_id: RecordId,
    /// Nothing: the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl TryFrom<String> for ModelRef {
    type Error = BadModelRef;

    fn try_from(text: String) -> Result<Self, BadModelRef> {
        let (provider, identifier) = text.split_once(':').ok_or(BadModelRef)?;
        let is_provider =
            !provider.is_empty() && provider.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        let is_identifier =
            !identifier.is_empty() && !identifier.contains(|c: char| c.is_whitespace() || c.is_control());
        let is_short = text.chars().count() <= MODEL_REF_CHARS_MAX;
        if is_provider && is_identifier && is_short { Ok(Self(text)) } else { Err(BadModelRef) }
    }
}

/// A text that names no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a model is named provider:identifier, without spaces, in at most {MODEL_REF_CHARS_MAX} characters")]
pub struct BadModelRef;

/// A writer as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    pub name: Name,
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_ref: Option<ModelRef>,
    /// Which model it answers as. Skein sets it; clients never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_model: Option<ServiceModel>,
    /// The process a `system` actor writes for. Skein sets it; clients never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<RecordId>,
    pub configuration: Configuration,
    pub permissions: Permissions,
    pub archived: bool,
}

impl Entry for Actor {
    const RECORD_TYPE: &'static str = "Actor";
}

/// What a client sends to make an actor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActorDraft {
    pub name: Name,
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    pub model_ref: Option<ModelRef>,
    #[serde(default, deserialize_with = "entry::object")]
    pub configuration: Configuration,
    /// The default alone is accepted: everything for people, nothing for others.
    #[serde(default, deserialize_with = "entry::object_if_any")]
    pub permissions: Option<Permissions>,
}

/// What a client sends to alter an actor; what is absent stays.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ActorChange {
    pub name: Option<Name>,
    pub model_ref: Option<ModelRef>,
    #[serde(deserialize_with = "entry::object_if_any")]
    pub configuration: Option<Configuration>,
    #[serde(deserialize_with = "entry::object_if_any")]
    pub permissions: Option<Permissions>,
    pub archived: Option<bool>,
    #[serde(rename = "type")]
    pub actor_type: FixedField,
    pub owner_id: FixedField,
}

impl Actor {
    pub fn create(draft: ActorDraft) -> Result<Self, RuleViolation> {
        let usual = Permissions::usual(draft.actor_type);
        draft.configuration.check(draft.actor_type)?;
        draft.permissions.unwrap_or(usual).check(draft.actor_type)?;
        let actor = Self {
            name: draft.name,
            actor_type: draft.actor_type,
            model_ref: draft.model_ref,
            service_model: None,
            process_id: None,
            configuration: draft.configuration,
            permissions: usual,
            archived: false,
        };
        actor.check_model_ref()?;
        Ok(actor)
    }

    /// The actor of a model, made when that model writes for the first time.
    pub fn of_model(name: Name, model_ref: ModelRef, asked: ServiceModel) -> Self {
        Self { model_ref: Some(model_ref), service_model: Some(asked), ..Self::made(name, ActorType::Model) }
    }

    /// The actor once it answers as this model.
    #[must_use]
    pub fn answering_as(&self, asked: ServiceModel) -> Self {
        Self { service_model: Some(asked), ..self.clone() }
    }

    /// Whether it is the actor of a model: by the service it answered for, else by the reference it was described with.
    pub fn speaks_for(&self, asked: &ServiceModel, reference: &ModelRef) -> bool {
        match &self.service_model {
            Some(own) => own == asked,
            None => self.model_ref.as_ref() == Some(reference),
        }
    }

    /// Whether only one of the two would answer: neither is archived, and both speak for one model.
    pub fn is_rival_of(&self, other: &Self) -> bool {
        let is_one_service = match (&self.service_model, &other.service_model) {
            (Some(own), Some(others)) => own == others,
            (None, _) | (_, None) => true,
        };
        let is_one_model = self.model_ref.is_some() && self.model_ref == other.model_ref && is_one_service;
        is_one_model && !self.archived && !other.archived
    }

    /// The actor that writes the answers of a process that no single model gave (decision Z30).
    pub fn of_process(name: Name, process: RecordId) -> Self {
        Self { process_id: Some(process), ..Self::made(name, ActorType::System) }
    }

    fn made(name: Name, actor_type: ActorType) -> Self {
        Self {
            name,
            actor_type,
            model_ref: None,
            service_model: None,
            process_id: None,
            configuration: Configuration::default(),
            permissions: Permissions::default(),
            archived: false,
        }
    }

    /// The actor after a change. What it wrote before keeps the author it had, so once it `has_written` it speaks for no other
    /// model.
    pub fn change(&self, change: ActorChange, has_written: bool) -> Result<Self, RuleViolation> {
        refuse_fixed("AG-NODE-003", &[("type", change.actor_type)], "make another actor")?;
        let is_of_other_model = change.model_ref.is_some() && change.model_ref != self.model_ref;
        if is_of_other_model && (has_written || self.service_model.is_some()) {
            let problem = "the actor is the author of what its model answered, so it speaks for no other";
            return Err(RuleViolation::new("AG-NODE-003", problem, "make another actor for the other model"));
        }
        refuse_fixed("BR-SHARE-003", &[("ownerId", change.owner_id)], "make an actor of your own")?;
        // What an actor was given before it was refused stays as it is until somebody changes it.
        if let Some(configuration) = change.configuration.as_ref().filter(|next| **next != self.configuration) {
            configuration.check(self.actor_type)?;
        }
        if let Some(permissions) = change.permissions.filter(|next| *next != self.permissions) {
            permissions.check(self.actor_type)?;
        }
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.model_ref = change.model_ref.or(next.model_ref);
        next.configuration = change.configuration.unwrap_or(next.configuration);
        next.permissions = change.permissions.unwrap_or(next.permissions);
        next.archived = change.archived.unwrap_or(next.archived);
        next.check_model_ref()?;
        Ok(next)
    }

    fn check_model_ref(&self) -> Result<(), RuleViolation> {
        let refuse = |problem, remedy| Err(RuleViolation::new("AG-NODE-003", problem, remedy));
        match (self.actor_type, &self.model_ref) {
            (ActorType::Model, None) => refuse("a model has a modelRef", "say which model: provider:identifier"),
            (ActorType::Human | ActorType::System, Some(_)) => {
                refuse("only a model has a modelRef", "leave modelRef out, or make an actor of type model")
            }
            (ActorType::Model, Some(_)) | (ActorType::Human | ActorType::System, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn draft(document: Value) -> ActorDraft {
        serde_json::from_value(document).unwrap()
    }

    fn model() -> Value {
        json!({ "name": "Hugin", "type": "model", "modelRef": "anthropic:some-model" })
    }

    fn with(mut document: Value, name: &str, value: Value) -> ActorDraft {
        document[name] = value;
        draft(document)
    }

    #[test]
    fn ag_node_003_a_list_in_place_of_an_object_refuses() {
        for part in ["configuration", "permissions"] {
            let mut draft = serde_json::json!({ "name": "Ada", "type": "model", "modelRef": "local:ada" });
            draft[part] = serde_json::json!([null, null]);
            assert!(serde_json::from_value::<ActorDraft>(draft).is_err(), "{part}");
        }
    }

    #[test]
    fn ag_node_003_people_models_and_the_system_write_holds() {
        let actor = Actor::create(draft(model())).unwrap();
        assert_eq!(AuthorType::from(actor.actor_type), AuthorType::Model);
        assert_eq!(Actor::from_data(&actor.to_data()), Some(actor));
        assert!(Actor::create(draft(json!({ "name": "Ada", "type": "human" }))).is_ok());
    }

    #[test]
    fn ag_node_003_another_type_or_a_model_without_a_name_refuses() {
        let actor = Actor::create(draft(model())).unwrap();
        let change = serde_json::from_value(json!({ "type": "human" })).unwrap();
        assert_eq!(actor.change(change, false).unwrap_err().rule(), "AG-NODE-003");
        assert!(Actor::create(draft(json!({ "name": "Hugin", "type": "model" }))).is_err());
        assert!(Actor::create(with(model(), "type", json!("human"))).is_err());
        for text in ["gpt", ":gpt", "open ai:gpt", "openai:", "openai:a b"] {
            assert!(ModelRef::try_from(text.to_owned()).is_err(), "{text} was taken for a model");
        }
    }

    #[test]
    fn ag_node_003_a_model_is_named_by_its_provider_and_identifier_holds() {
        for (service, model, expected) in [
            ("Open AI", Some("gpt-4"), "openai:gpt-4"),
            ("Ωmega", None, "mega:default"),
            ("私", Some("a b\n"), "custom:ab"),
        ] {
            assert_eq!(ModelRef::of(service, model).as_str(), expected);
        }
        let long = ModelRef::of(&"a".repeat(300), Some(&"b".repeat(300)));
        assert_eq!(ModelRef::try_from(long.as_str().to_owned()), Ok(long));
    }

    fn asked(service: u8, model: Option<&str>) -> ServiceModel {
        ServiceModel { service_id: RecordId::from_bytes([service; 16]), model: model.map(str::to_owned) }
    }

    #[test]
    fn ag_node_003_an_actor_that_answered_is_found_by_its_service_holds() {
        let described = Actor::create(draft(model())).unwrap();
        let reference = described.model_ref.clone().unwrap();
        let other = ModelRef::of("Renamed", Some("some-model"));
        assert!(described.speaks_for(&asked(1, None), &reference) && !described.speaks_for(&asked(1, None), &other));
        let bound = described.answering_as(asked(1, Some("some-model")));
        assert!(bound.speaks_for(&asked(1, Some("some-model")), &other), "a new name of the service changes no author");
        for others in [asked(2, Some("some-model")), asked(1, None)] {
            assert!(!bound.speaks_for(&others, &reference), "{others:?}");
        }
        assert_eq!(Actor::from_data(&bound.to_data()), Some(bound.clone()));
        assert!(bound.is_rival_of(&described));
        assert!(!bound.is_rival_of(&described.answering_as(asked(2, None))));
        assert!(!bound.is_rival_of(&Actor { archived: true, ..described }));
    }

    #[test]
    fn ag_node_003_another_model_of_an_actor_that_wrote_refuses() {
        let change = |reference: &str| serde_json::from_value(json!({ "modelRef": reference })).unwrap();
        let actor = Actor::create(draft(model())).unwrap();
        assert!(actor.change(change("openai:gpt-4"), false).is_ok());
        assert!(actor.change(change("anthropic:some-model"), true).is_ok());
        assert_eq!(actor.change(change("openai:gpt-4"), true).unwrap_err().rule(), "AG-NODE-003");
        assert!(actor.answering_as(asked(1, None)).change(change("openai:gpt-4"), false).is_err());
    }

    #[test]
    fn ag_node_003_a_client_that_names_the_process_or_service_of_an_actor_refuses() {
        let id = RecordId::from_bytes([7; 16]);
        let drafts = [
            json!({ "name": "Answer", "type": "system", "processId": id }),
            json!({ "name": "Hugin", "type": "model", "modelRef": "local:x", "serviceModel": { "serviceId": id } }),
        ];
        for draft in drafts {
            assert!(serde_json::from_value::<ActorDraft>(draft).is_err());
        }
    }

    #[test]
    fn an_actor_has_the_bits_of_its_user_or_record() {
        let user = UserId::from_bytes([7; 16]);
        let actor = ActorId::from(user);
        assert_eq!(actor.bare(), user.bare());
        assert_eq!(actor.shown(AuthorType::Human), user.to_string());
        for spelled in [user.to_string(), actor.bare(), actor.shown(AuthorType::Model)] {
            assert_eq!(ActorId::parse(&spelled), Some(actor));
        }
        assert_eq!(ActorId::parse("item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"), None);
        assert_ne!(ActorId::SYSTEM, ActorId::IMPORTED);
    }
}
