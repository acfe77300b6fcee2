//! Defines every limit of the HTTP server, with its unit. Limits on documents and batches are inside.

use std::time::Duration;

/// Longest a client may take to send the head of a request, counted from when the connection is free for one; so also
/// the longest a connection is kept without a request.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Largest head of a request: its line and its headers.
pub const HEAD_BYTES_MAX: usize = 32 << 10;
/// Most headers of a request.
pub const HEADERS_MAX: usize = 64;
/// What is read ahead or waits to be written, per connection and direction.
pub const CONNECTION_BUFFER_BYTES: usize = 64 << 10;
/// Connections at once; further ones wait for their turn.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Longest a client may take nothing of an answer that is ready for it.
pub const WRITE_STALL_MAX: Duration = Duration::from_secs(30);
/// How long to wait before connections are taken again, after the machine could not give one.
pub const ACCEPT_RETRY: Duration = Duration::from_secs(1);
/// One address may send a request each so often on average: 100 per second.
pub const RATE_INTERVAL: Duration = Duration::from_millis(10);
/// Requests that one address may send at once when it was quiet before.
pub const RATE_BURST_REQUESTS: u32 = 200;
/// Addresses that are told apart at once; those beyond share one allowance.
pub const RATE_ADDRESSES_MAX: usize = 16_384;
/// Requests in work at once, of all clients together; not counted while their answers stream.
pub const REQUESTS_AT_ONCE_MAX: usize = 512;
/// Largest request body: a full batch of items, or one of 1 MiB with room for what surrounds it. Other bodies are documents,
/// of [`skein_core::document::DOCUMENT_BYTES_MAX`] at most.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Bodies above the size of a document that are received or worked on at once; each is held in memory.
pub const LARGE_BODIES_AT_ONCE: usize = 16;
/// Such bodies of one user.
pub const LARGE_BODIES_PER_USER: usize = 8;
/// Largest body that is understood on the thread that received it: well below a millisecond.
pub const PARSED_AT_ONCE_BYTES_MAX: usize = 32 << 10;
/// Bodies that are still arriving, of all users: half of the places for requests, so slow clients leave the other half to others.
/// A body counts once it is larger than [`PARSED_AT_ONCE_BYTES_MAX`], or takes longer than [`BODY_PROMPT_TIME_MAX`].
pub const BODIES_ARRIVING_AT_ONCE: usize = REQUESTS_AT_ONCE_MAX / 2;
/// Such bodies of one user.
pub const BODIES_ARRIVING_PER_USER: usize = 32;
/// Longest a small body may take to arrive before it counts as arriving.
pub const BODY_PROMPT_TIME_MAX: Duration = Duration::from_secs(1);
/// Largest upload.
pub const BLOB_BYTES_MAX: usize = skein_store::blobs::BLOB_BYTES_MAX;
/// Uploads of blobs under way at once, of all users; each takes a temporary file of up to [`BLOB_BYTES_MAX`].
pub const UPLOADS_AT_ONCE: usize = 128;
/// Uploads of blobs that one user may have under way.
pub const UPLOADS_PER_USER: usize = 32;
/// Threads that write what arrives of blobs and bundles. Writing is hashing and a copy into the file cache: more threads than
/// cores make it no faster.
pub const UPLOAD_WRITERS: usize = 8;
/// Longest a blob may take to arrive.
pub const UPLOAD_TIME_MAX: Duration = Duration::from_mins(10);
/// Bundles written or taken in at once; each holds a thread.
pub const BUNDLES_AT_ONCE: usize = 8;
/// Bundles of one user.
pub const BUNDLES_PER_USER: usize = 4;
/// Longest a bundle may take to arrive.
pub const BUNDLE_TIME_MAX: Duration = Duration::from_hours(1);
/// Largest bundle that is taken in over HTTP.
pub const BUNDLE_BYTES_MAX: u64 = skein_store::bundle::BYTES_MAX;
/// Longest a client may take to send a body.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(30);
/// Entries of a page when the client names no number.
pub const PAGE_ENTRIES_DEFAULT: usize = 100;
/// Most entries of a page.
pub const PAGE_ENTRIES_MAX: usize = skein_store::timeline::items::ITEMS_PER_PAGE_MAX;
/// Longest correlation id that is taken over from a client.
pub const CORRELATION_ID_CHARS_MAX: usize = 128;
/// How long requests may go on once the server was told to stop.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// How long the store may take to answer before the server calls itself not ready.
pub const READY_TIME_MAX: Duration = Duration::from_secs(3);
/// When a client should try again after the server was busy, in seconds.
pub const RETRY_AFTER_SECONDS: &str = "1";
/// Smallest answer that is compressed, in bytes; below, it would hardly become smaller.
pub const COMPRESSED_BYTES_MIN: u16 = 1 << 10;
/// Longest signed token.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;
/// How far the clocks of a token's issuer and of this server may differ.
pub const TOKEN_LEEWAY_SECONDS: i64 = 60;
/// How long an issuer's keys are used without asking again, in milliseconds.
pub const JWKS_FRESH_MS: i64 = 10 * 60 * 1_000;
/// How long they are used while the issuer cannot be reached, in milliseconds.
pub const JWKS_USABLE_MS: i64 = 60 * 60 * 1_000;
/// The issuer is asked at most once in this time, in milliseconds, whatever unknown keys tokens name.
pub const JWKS_RETRY_MS: i64 = 10 * 1_000;
/// Longest an issuer may take to send its keys.
pub const JWKS_TIME_MAX: Duration = Duration::from_secs(5);
/// Most requests that wait for the issuer because of a key nobody here knows yet; further ones are turned away.
pub const JWKS_WAITING_MAX: usize = 16;
/// Largest set of keys.
pub const JWKS_BYTES_MAX: usize = 1 << 20;
