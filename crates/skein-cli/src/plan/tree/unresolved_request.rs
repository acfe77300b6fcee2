//! A request whose conversations, nodes and projects are still named as people name them.

use axum::http::Method;
use serde_json::{Map, Value, json};
use skein_core::{ItemId, RecordId, TurnId};

use super::{NodeLocation, TextSource};
use crate::api_client::ApiCall;
use crate::failure::Failure;
use crate::plan::catalog::EntryName;

/// A request, complete once everything in it was found.
#[derive(Debug, PartialEq)]
pub(crate) struct UnresolvedTreeRequest {
    pub(crate) method: Method,
    pub(crate) about: Subject,
    /// After what it is about, such as `/fork`.
    pub(crate) tail: &'static str,
    pub(crate) query: Vec<(&'static str, String)>,
    /// What goes into the body; `None` is no body.
    pub(crate) fields: Option<Map<String, Value>>,
    pub(crate) words: Option<(&'static str, TextSource)>,
    /// What goes into the body, or into the query where there is no body.
    pub(crate) references: Vec<(&'static str, Reference)>,
}

/// What a request is about.
#[derive(Debug, PartialEq)]
pub(crate) enum Subject {
    /// A path as it stands.
    Path(&'static str),
    Conversation(EntryName),
    Node(NodeLocation),
    /// The turn a node is of.
    Turn(NodeLocation),
    /// A node among those of its turn.
    Alternative(NodeLocation),
    Project(EntryName),
}

/// Something else that a request names.
#[derive(Debug, PartialEq)]
pub(crate) enum Reference {
    Node(NodeLocation),
    /// What is answered: where the owner stands may be nowhere yet.
    Parent(NodeLocation),
    /// Nodes that led to something.
    Sources(Vec<NodeLocation>),
    /// Nodes that a summary came from.
    Cites(Vec<NodeLocation>),
    Project(EntryName),
}

/// A node among those of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeSlot {
    pub(crate) conversation: RecordId,
    pub(crate) turn: TurnId,
    pub(crate) node: ItemId,
}

/// Whoever can look things up.
pub(crate) trait Resolver {
    fn conversation(&mut self, named: &EntryName) -> Result<RecordId, Failure>;
    fn project(&mut self, named: &EntryName) -> Result<RecordId, Failure>;
    fn node(&mut self, spot: &NodeLocation) -> Result<ItemId, Failure>;
    /// Like [`Resolver::node`], but nothing where nothing was said yet.
    fn parent(&mut self, spot: &NodeLocation) -> Result<Option<ItemId>, Failure>;
    fn seat(&mut self, spot: &NodeLocation) -> Result<NodeSlot, Failure>;
    fn words(&mut self, words: &TextSource) -> Result<String, Failure>;
}

impl UnresolvedTreeRequest {
    pub(super) fn new(method: Method, about: Subject) -> Self {
        Self { method, about, tail: "", query: Vec::new(), fields: None, words: None, references: Vec::new() }
    }

    pub(super) fn get(about: Subject) -> Self {
        Self::new(Method::GET, about)
    }

    pub(super) fn post(about: Subject) -> Self {
        Self::new(Method::POST, about).with_fields(Map::new())
    }

    pub(super) fn put(about: Subject) -> Self {
        Self::new(Method::PUT, about).with_fields(Map::new())
    }

    pub(super) fn tail(self, tail: &'static str) -> Self {
        Self { tail, ..self }
    }

    pub(super) fn with_fields(self, fields: Map<String, Value>) -> Self {
        Self { fields: Some(fields), ..self }
    }

    /// One more field of the body, unless it is nothing.
    pub(super) fn field(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.fields.get_or_insert_default().insert(name.to_owned(), value.into());
        }
        self
    }

    /// One more parameter, unless it is nothing.
    pub(super) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(super) fn words(self, name: &'static str, words: TextSource) -> Self {
        Self { words: Some((name, words)), ..self }
    }

    pub(super) fn refer(mut self, name: &'static str, reference: Option<Reference>) -> Self {
        self.references.extend(reference.map(|reference| (name, reference)));
        self
    }

    /// The request. Words are read first: what is missing there is said before anything is asked.
    pub(crate) fn ask(&self, finder: &mut impl Resolver) -> Result<ApiCall, Failure> {
        let mut body = self.fields.clone();
        if let Some((name, words)) = &self.words {
            body.get_or_insert_default().insert((*name).to_owned(), finder.words(words)?.into());
        }
        let path = format!("{}{}", self.about.path(finder)?, self.tail);
        let mut query = self.query.clone();
        for (name, reference) in &self.references {
            let Some(value) = reference.value(finder)? else { continue };
            match &mut body {
                Some(body) => {
                    body.insert((*name).to_owned(), value);
                }
                None => query.push((*name, value.as_str().unwrap_or_default().to_owned())),
            }
        }
        let ask = ApiCall { query, ..ApiCall::new(self.method.clone(), path) };
        Ok(match body {
            Some(body) => ask.with_body(body.into()),
            None => ask,
        })
    }
}

impl Subject {
    fn path(&self, finder: &mut impl Resolver) -> Result<String, Failure> {
        Ok(match self {
            Self::Path(path) => (*path).to_owned(),
            Self::Conversation(named) => format!("/conversations/{}", finder.conversation(named)?),
            Self::Node(spot) => format!("/nodes/{}", finder.node(spot)?),
            Self::Turn(spot) => {
                let NodeSlot { conversation, turn, .. } = finder.seat(spot)?;
                format!("/conversations/{conversation}/turns/{turn}")
            }
            Self::Alternative(spot) => {
                let NodeSlot { conversation, turn, node } = finder.seat(spot)?;
                format!("/conversations/{conversation}/turns/{turn}/alternatives/{node}")
            }
            Self::Project(named) => format!("/projects/{}", finder.project(named)?),
        })
    }
}

impl Reference {
    fn value(&self, finder: &mut impl Resolver) -> Result<Option<Value>, Failure> {
        Ok(match self {
            Self::Node(spot) => Some(finder.node(spot)?.to_string().into()),
            Self::Parent(spot) => finder.parent(spot)?.map(|node| node.to_string().into()),
            Self::Sources(spots) => {
                let source = |spot| Ok(json!({ "nodeId": finder.node(spot)?, "role": "context" }));
                Some(spots.iter().map(source).collect::<Result<Vec<_>, Failure>>()?.into())
            }
            Self::Cites(spots) => {
                let cite = |spot| Ok(Value::from(finder.node(spot)?.to_string()));
                Some(spots.iter().map(cite).collect::<Result<Vec<_>, Failure>>()?.into())
            }
            Self::Project(named) => Some(finder.project(named)?.to_string().into()),
        })
    }
}
