//! The "where" and "what" of every behaviour, as data: services, secrets, tools and their templates.
//!
//! A [`service::Service`] says what an endpoint is and which parameters reach it; a [`tool::Tool`] fills those
//! parameters and names one [`operation::Operation`]; a [`secret::Secret`] is a credential by name, never by value.
//! Each is an [`entry::Entry`]: made by `create` from a draft, altered by `change`, kept as the data of a record.
//! What cannot be kept is refused here, once, by the rule it breaks. Who may see, use, unshare or delete an entry is
//! decided in [`sharing`]; what the outside world says about it in [`health`].
//!
//! Nothing here connects to anything: an operation is rendered to a value, and somebody else sends it.

pub mod discovery;
pub mod endpoint;
pub mod entry;
pub mod health;
pub mod json_template;
pub mod operation;
pub mod placeholder;
pub mod pricing;
pub mod restore;
pub mod schema;
pub mod secret;
pub mod selector;
pub mod service;
pub mod sharing;
pub mod template;
pub mod tool;
