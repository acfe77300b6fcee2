//! The words of one owner, kept by tantivy and scored here.
//!
//! Tantivy keeps the dictionary and the postings; its own BM25 has fixed constants and counts documents of other
//! branches and dead ones, so postings are read block by block and scored over what the question may see.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::indexer::IndexWriterOptions;
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, SegmentReader, TantivyDocument, TantivyError,
};

use crate::error::{Damage, OpenError};
use crate::rows::Counts;

/// Terms collected before a segment is written, in bytes.
const WRITER_BYTES: usize = 64 << 20;
const TEXT: &str = "text";
const ROW: &str = "row";

/// What is committed together with the words, and thereby all at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommittedMeta {
    pub(crate) rows: u32,
    pub(crate) text_bytes: u64,
    pub(crate) piece_bytes: u64,
    pub(crate) burials: u64,
    pub(crate) counts: Counts,
    pub(crate) cursor: String,
}

/// The words index of one owner.
pub(crate) struct LexicalIndex {
    index: Index,
    reader: IndexReader,
    writer: Option<IndexWriter>,
    text: Field,
    row: Field,
}

/// The words at one moment.
#[derive(Clone, Default)]
pub(crate) struct LexicalView {
    segments: Vec<Segment>,
    text: Option<Field>,
}

#[derive(Clone)]
struct Segment {
    id: SegmentId,
    reader: SegmentReader,
    /// The row of each document.
    rows: Arc<Vec<u32>>,
}

impl LexicalIndex {
    pub(crate) fn create(folder: &Path) -> Result<Self, OpenError> {
        std::fs::create_dir(folder).map_err(|source| OpenError::Io { path: folder.to_owned(), source })?;
        let mut schema = Schema::builder();
        let terms = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs).set_fieldnorms(false);
        schema.add_text_field(TEXT, TextOptions::default().set_indexing_options(terms));
        schema.add_u64_field(ROW, FAST);
        let directory = MmapDirectory::open(folder).map_err(|error| damaged(folder, &error))?;
        let index = Index::create(directory, schema.build(), IndexSettings::default());
        let mut words = Self::of(folder, index.map_err(|error| damaged(folder, &error))?)?;
        words.commit(&CommittedMeta::default()).map_err(|error| damaged(folder, &error))?;
        Ok(words)
    }

    /// What was committed, without opening anything.
    pub(crate) fn committed(folder: &Path) -> Result<CommittedMeta, OpenError> {
        #[derive(Deserialize)]
        struct Meta {
            payload: Option<String>,
        }
        let damaged = |damage| OpenError::Damaged { path: folder.to_owned(), damage };
        let meta = std::fs::read(folder.join("meta.json")).map_err(|_| damaged(Damage::Missing))?;
        let meta: Meta = serde_json::from_slice(&meta).map_err(|error| damaged(Damage::Words(error.to_string())))?;
        let payload = meta.payload.unwrap_or_default();
        serde_json::from_str(&payload).map_err(|error| damaged(Damage::Words(error.to_string())))
    }

    pub(crate) fn open(folder: &Path) -> Result<(Self, CommittedMeta), OpenError> {
        if !folder.join("meta.json").exists() {
            return Err(OpenError::Damaged { path: folder.to_owned(), damage: Damage::Missing });
        }
        let index = Index::open_in_dir(folder).map_err(|error| damaged(folder, &error))?;
        let payload = index.load_metas().map_err(|error| damaged(folder, &error))?.payload.unwrap_or_default();
        let committed = serde_json::from_str(&payload).map_err(|error| damaged(folder, &error))?;
        Ok((Self::of(folder, index)?, committed))
    }

    fn of(folder: &Path, index: Index) -> Result<Self, OpenError> {
        let field = |name: &str| index.schema().get_field(name).map_err(|error| damaged(folder, &error));
        let (text, row) = (field(TEXT)?, field(ROW)?);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(|error| damaged(folder, &error))?;
        Ok(Self { index, reader, writer: None, text, row })
    }

    /// Adds a document; it counts after the next commit.
    pub(crate) fn add(&mut self, row: u32, terms: Vec<String>) -> tantivy::Result<()> {
        let (text_field, row_field) = (self.text, self.row);
        let token = |(position, text)| Token { text, position, ..Token::default() };
        let tokens = terms.into_iter().enumerate().map(token).collect();
        let mut document = TantivyDocument::default();
        document.add_pre_tokenized_text(text_field, PreTokenizedString { text: String::new(), tokens });
        document.add_u64(row_field, u64::from(row));
        self.writer()?.add_document(document)?;
        Ok(())
    }

    /// Makes all that was added durable, together with what it belongs to.
    pub(crate) fn commit(&mut self, committed: &CommittedMeta) -> tantivy::Result<()> {
        let payload = serde_json::to_string(committed).expect("numbers and text have a JSON form");
        let mut prepared = self.writer()?.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        Ok(())
    }

    /// Waits for merges and gives the writer's memory and threads back.
    pub(crate) fn rest(&mut self) -> tantivy::Result<()> {
        self.writer.take().map_or(Ok(()), IndexWriter::wait_merging_threads)
    }

    /// Makes one segment of all.
    pub(crate) fn merge(&mut self) -> tantivy::Result<()> {
        // What is merged in the background is gone by the time it would be merged here.
        self.rest()?;
        let segments = self.index.searchable_segment_ids()?;
        if segments.len() > 1 {
            self.writer()?.merge(&segments).wait()?;
        }
        self.rest()
    }

    fn writer(&mut self) -> tantivy::Result<&mut IndexWriter> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder().num_worker_threads(1).memory_budget_per_thread(WRITER_BYTES);
            self.writer = Some(self.index.writer_with_options(options.build())?);
        }
        Ok(self.writer.as_mut().expect("it was just made"))
    }

    /// What is committed now; rows of segments that were seen `before` are not read again.
    pub(crate) fn view(&self, before: &LexicalView) -> tantivy::Result<LexicalView> {
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        let segments = searcher.segment_readers().iter().map(|reader| {
            let id = reader.segment_id();
            let known = before.segments.iter().find(|segment| segment.id == id).map(|segment| segment.rows.clone());
            // Tantivy opens the parts of a segment when they are first used; damage is to be told at opening.
            reader.inverted_index(self.text)?;
            let rows = known.map_or_else(|| rows_of(reader).map(Arc::new), Ok)?;
            Ok(Segment { id, reader: reader.clone(), rows })
        });
        Ok(LexicalView { segments: segments.collect::<tantivy::Result<_>>()?, text: Some(self.text) })
    }
}

fn rows_of(reader: &SegmentReader) -> tantivy::Result<Vec<u32>> {
    let column = reader.fast_fields().u64(ROW)?;
    let row = |document| column.first(document).and_then(|row| u32::try_from(row).ok());
    (0..reader.max_doc())
        .map(|document| row(document).ok_or_else(|| TantivyError::SchemaError("a document has no row".to_owned())))
        .collect()
}

fn damaged(folder: &Path, error: &dyn std::error::Error) -> OpenError {
    OpenError::Damaged { path: folder.to_owned(), damage: Damage::Words(error.to_string()) }
}

impl LexicalView {
    /// How often a term stands in which rows, in the order they are kept.
    pub(crate) fn postings(&self, term: &str, mut found: impl FnMut(u32, u32)) -> std::io::Result<()> {
        let Some(field) = self.text else { return Ok(()) };
        let term = tantivy::Term::from_field_text(field, term);
        for segment in &self.segments {
            let words = segment.reader.inverted_index(field).map_err(std::io::Error::other)?;
            let Some(mut block) = words.read_block_postings(&term, IndexRecordOption::WithFreqs)? else { continue };
            while block.block_len() > 0 {
                for (document, count) in block.docs().iter().zip(block.freqs()) {
                    found(segment.rows[*document as usize], *count);
                }
                block.advance();
            }
        }
        Ok(())
    }

    pub(crate) fn documents(&self) -> usize {
        self.segments.iter().map(|segment| segment.rows.len()).sum()
    }
}
