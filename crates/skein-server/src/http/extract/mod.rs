//! Extracts typed values from requests: bodies, queries, ids and uploads.

pub(crate) mod body;
pub(crate) mod json_parts;
pub(crate) mod path_id;
pub(crate) mod query;
pub(crate) mod upload;
