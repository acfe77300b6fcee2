//! Everything around a handler: listening, authentication, extraction of requests, responses, limits, errors and the API document.

pub(crate) mod auth;
pub(crate) mod context;
pub(crate) mod correlation;
pub(crate) mod docs;
pub(crate) mod edge;
pub(crate) mod error;
pub(crate) mod extract;
pub(crate) mod layer;
pub mod limits;
pub(crate) mod listen;
pub(crate) mod mutation;
pub mod openapi;
pub(crate) mod page;
pub(crate) mod request_labels;
pub(crate) mod request_metrics;
pub(crate) mod respond;
pub(crate) mod throttle;
