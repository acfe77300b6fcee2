//! Items, records, relations, blobs, bundles, events and disk usage over HTTP.

pub(crate) mod blobs;
pub(crate) mod bundles;
pub(crate) mod disk_usage;
pub(crate) mod events;
pub(crate) mod items;
pub(crate) mod records;
pub(crate) mod relations;
