//! Bundles in and out: streamed, so that their size does not matter.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::PathBuf;

use anyhow::Error;
use axum::body::Bytes;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use futures::{Stream, StreamExt as _};
use serde_json::Value;

use crate::api_client::{ApiCall, ApiClient, ApiFailure, Transfer};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::ByteBar;

const CHUNK_BYTES: usize = 64 << 10;

/// A file on its way to the server; opened anew for every try.
pub(crate) struct Upload {
    pub(crate) file: PathBuf,
    pub(crate) media_type: &'static str,
    pub(crate) bar: ByteBar,
}

impl Upload {
    /// The bytes of the file, and in the headers what they are.
    pub(super) fn open(
        &self,
        headers: &mut HeaderMap,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + use<>, Failure> {
        let opened = File::open(&self.file).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|error| {
            let error = Error::new(error).context(format!("cannot read {}", self.file.display()));
            Failure::new(Exit::Failed, error, "name a file that can be read")
        })?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(CONTENT_LENGTH, length.into());
        self.bar.start(length);
        let bar = self.bar.clone();
        Ok(futures::stream::try_unfold(file, next_chunk)
            .inspect(move |chunk| bar.add(chunk.as_ref().map_or(0, Bytes::len))))
    }
}

async fn next_chunk(mut file: File) -> io::Result<Option<(Bytes, File)>> {
    let read = move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        let length = file.read(&mut chunk)?;
        chunk.truncate(length);
        Ok::<_, io::Error>((Bytes::from(chunk), file))
    };
    let (chunk, file) = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    Ok((!chunk.is_empty()).then_some((chunk, file)))
}

impl ApiClient {
    /// Sends a file and reads the answer.
    pub(crate) fn upload(&self, ask: &ApiCall, upload: &Upload) -> Result<Value, Failure> {
        self.runtime.block_on(async {
            let response = self.persist(ask, Transfer::To(upload)).await?;
            self.read(response).await
        })
    }

    /// Writes the bytes of the answer as they come; how many there were.
    pub(crate) fn download(&self, ask: &ApiCall, into: &mut dyn Write, bar: &ByteBar) -> Result<u64, Failure> {
        self.runtime.block_on(async {
            let response = self.persist(ask, Transfer::From).await?;
            let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
            bar.start(length.unwrap_or_default());
            let mut chunks = response.into_body().into_data_stream();
            let mut written = 0;
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| self.broken(ApiFailure::CutOff(error.to_string())))?;
                into.write_all(&chunk).map_err(cannot_write)?;
                bar.add(chunk.len());
                written += chunk.len() as u64;
            }
            into.flush().map_err(cannot_write)?;
            Ok(written)
        })
    }
}

fn cannot_write(error: io::Error) -> Failure {
    let error = Error::new(error).context("cannot write the file");
    Failure::new(Exit::Unavailable, error, "check the permissions and the free space of its directory")
}
