//! Every limit of the HTTP door, with its unit. What a document or a batch may be is limited further in.

use std::time::Duration;

/// Largest request body: a full batch, or one document of 1 MiB with room for what surrounds it.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Largest upload.
pub const BLOB_BYTES_MAX: usize = skein_store::blobs::BLOB_BYTES_MAX;
/// Longest a client may take to send a body.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(30);
/// Entries of a page when the client names no number.
pub const PAGE_ENTRIES_DEFAULT: usize = 100;
/// Most entries of a page.
pub const PAGE_ENTRIES_MAX: usize = skein_store::items::ITEMS_PER_PAGE_MAX;
/// Longest correlation id that is taken over from a client.
pub const CORRELATION_ID_CHARS_MAX: usize = 128;
/// How long requests may go on once the server was told to stop.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// How long the store may take to answer before the server calls itself not ready.
pub const READY_TIME_MAX: Duration = Duration::from_secs(3);
/// When a client should try again after the server was busy, in seconds.
pub const RETRY_AFTER_SECONDS: &str = "1";
