//! A request whose catalog entries are still named as people name them.

use axum::http::Method;
use serde_json::{Map, Value};
use skein_core::RecordId;

use super::{Collection, NamedEntry, resolve_targets};
use crate::api_client::ApiCall;
use crate::definition::Source;
use crate::failure::Failure;

/// What the server makes itself: left out of a definition that is given back to it.
const MADE_BY_THE_SERVER: [&str; 18] = [
    "id",
    "ownerId",
    "shared",
    "archived",
    "version",
    "hash",
    "previousHash",
    "createdAt",
    "updatedAt",
    "status",
    "lastHealthCheck",
    "errorMessage",
    "schemaVersion",
    "definitionVersion",
    "valueVersion",
    "builtin",
    "operationId",
    "warning",
];

/// A request, complete once its things have ids and its document was read.
#[derive(Debug, PartialEq)]
pub(crate) struct UnresolvedCatalogRequest {
    pub(crate) method: Method,
    pub(crate) shelf: Collection,
    pub(crate) thing: Option<NamedEntry>,
    /// After the thing, such as `/share`, or after the shelf.
    pub(crate) tail: &'static str,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) document: Option<Document>,
    /// What goes into the body, over what the document says; `None` is no body.
    pub(crate) fields: Option<Map<String, Value>>,
    /// Things that go into the body, or into the query where there is no body.
    pub(crate) references: Vec<(&'static str, NamedEntry)>,
}

/// What is read from a file or from input.
#[derive(Debug, PartialEq)]
pub(crate) enum Document {
    /// It is the body.
    Whole(Source),
    /// It is one field of the body.
    Field(&'static str, Source),
}

impl UnresolvedCatalogRequest {
    pub(super) fn new(method: Method, shelf: Collection) -> Self {
        Self {
            method,
            shelf,
            thing: None,
            tail: "",
            query: Vec::new(),
            document: None,
            fields: None,
            references: Vec::new(),
        }
    }

    pub(super) fn about(method: Method, thing: NamedEntry) -> Self {
        let shelf = thing.shelf;
        Self { thing: Some(thing), ..Self::new(method, shelf) }
    }

    pub(super) fn with_tail(self, tail: &'static str) -> Self {
        Self { tail, ..self }
    }

    pub(super) fn with_fields(self, fields: Map<String, Value>) -> Self {
        Self { fields: Some(fields), ..self }
    }

    /// One more parameter, unless it is nothing.
    pub(super) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(super) fn with_document(self, document: Option<Document>) -> Self {
        Self { document, ..self }
    }

    pub(super) fn with_references(self, references: Vec<(&'static str, NamedEntry)>) -> Self {
        Self { references, ..self }
    }

    /// The request, with ids from `find` and documents from `read`.
    pub(crate) fn ask(
        &self,
        mut find: impl FnMut(&NamedEntry) -> Result<RecordId, Failure>,
        read: impl Fn(&Source) -> Result<Map<String, Value>, Failure>,
    ) -> Result<ApiCall, Failure> {
        let mut body = self.fields.clone();
        match &self.document {
            Some(Document::Whole(source)) => {
                let mut whole = without_what_the_server_makes(read(source)?);
                if self.shelf == Collection::Processes {
                    resolve_targets(&mut whole, &mut find)?;
                }
                whole.extend(body.unwrap_or_default());
                body = Some(whole);
            }
            Some(Document::Field(name, source)) => {
                body.get_or_insert_default().insert((*name).to_owned(), read(source)?.into());
            }
            None => {}
        }
        let path = match &self.thing {
            Some(thing) => format!("{}/{}{}", self.shelf.path(), find(thing)?, self.tail),
            None => format!("{}{}", self.shelf.path(), self.tail),
        };
        let mut query = self.query.clone();
        for (name, thing) in &self.references {
            let id = find(thing)?.to_string();
            match &mut body {
                Some(body) => {
                    body.insert((*name).to_owned(), id.into());
                }
                None => query.push((*name, id)),
            }
        }
        let ask = ApiCall { query, ..ApiCall::new(self.method.clone(), path) };
        Ok(body.map_or(ask.clone(), |body| ask.with_body(body.into())))
    }
}

fn without_what_the_server_makes(mut definition: Map<String, Value>) -> Map<String, Value> {
    definition.retain(|name, _| !MADE_BY_THE_SERVER.contains(&name.as_str()));
    definition
}

/// What of `wanted` differs from what is there: all that is sent of an edited definition.
pub(crate) fn difference(current: &Value, wanted: Map<String, Value>) -> Map<String, Value> {
    let wanted = without_what_the_server_makes(wanted);
    wanted.into_iter().filter(|(name, value)| current[name] != *value).collect()
}
