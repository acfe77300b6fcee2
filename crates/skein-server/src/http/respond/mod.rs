//! Writes responses: JSON, pages of lists, compression, cached responses and security headers.

pub(crate) mod compression;
pub(crate) mod json;
pub(crate) mod pagination;
pub(crate) mod response_cache;
pub(crate) mod safe_headers;
