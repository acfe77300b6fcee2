//! Makes every outgoing call, and applies the secrets it needs.
//!
//! Every connection passes the [`guard`], which judges the address that is really connected to. The
//! crate carries out what it is told and reports what came back or went wrong; it refuses to know who
//! asks, what a record is and where things are kept. Start at [`http::Http`];
//! [`rest`] stands on it, [`credential`] opens doors with it, [`vault`] keeps what the doors need, and [`passphrase`]
//! lets it travel.
//! [`telemetry`] tells runs to a collector.
//! Language models are in [`llm`]; the one that is built in and needs nobody is in [`offline`].
//! Vectors of texts come from [`embeddings`].

mod background;
pub mod credential;
pub mod embeddings;
pub mod guard;
pub mod http;
pub mod llm;
pub mod offline;
pub mod passphrase;
pub mod rest;
pub mod telemetry;
pub mod vault;
