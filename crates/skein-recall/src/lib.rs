//! Searches episodes by word, by meaning, by neighbourhood and by time.
//!
//! The index is a projection: it follows a timeline it knows only as batches of changes with a cursor, it can be
//! deleted at any moment, and a rebuild gives the same answers. It knows neither databases nor networks; whoever calls
//! it says which episodes may be seen. Start at [`Index`]; vectors come from an [`Embedder`], of which one,
//! [`StaticTable`], is built in. The feature `transformer` adds one that reads a model from a directory.

mod analysis;
mod append_file;
mod embedder;
mod episode;
mod error;
mod fusion;
mod index;
mod language;
mod lexical_index;
mod owner;
mod query;
mod retrievers;
mod rows;
mod search;
mod simd;
mod sketch;
mod snippet;
mod static_table;
mod stem;
#[cfg(feature = "transformer")]
mod transformer;
mod vectors;
mod visibility;
mod visible_rows;
mod wordpiece;

pub use embedder::{CheckedVector, EmbedError, Embedder, Fingerprint, check_vectors, embed_checked, embedded_text};
pub use episode::{Change, Episode, EpisodePlace, KIND_BYTES_MAX, SPEAKER_BYTES_MAX, TEXT_BYTES_MAX};
pub use error::{ApplyError, Damage, OpenError, SearchError};
pub use fusion::Weights;
pub use index::{Index, IndexStatus, Options, OwnerStatus, Reindexing, Totals};
pub use owner::EpisodeKey;
pub use query::{Filter, HITS_MAX, Hit, Hits, Parts, Query, Recency};
pub use snippet::{Snippet, Terms, snippet};
pub use static_table::StaticTable;
#[cfg(feature = "transformer")]
pub use transformer::{Transformer, TransformerError};
pub use vectors::{packed, unpacked};
pub use visibility::{BranchRange, UnlistedVisibility, Visibility, VisibleBranches};
