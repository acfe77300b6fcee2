//! Bundles over HTTP: a cut is made, then downloaded as often as it takes; a bundle is uploaded and taken in.
//!
//! Neither is ever held in memory: a download is written by a thread as fast as the client takes it, an upload goes to
//! a file without a name, which is gone however the request ends.

use std::fs::File;
use std::io::{self, Seek as _, Write};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skein_connect::passphrase::Passphrase;
use skein_core::garden::cursor::Cursor;
use skein_core::{ConversationId, OperationId, UserId};
use skein_engine::{
    BundleImport, CommittedChange, Engine, ExportCut, ExportExtent, ImportCount, ReservationOutcome, WholeOutcome,
};
use skein_store::bundle::BadBundle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{self, NoParameters, Parameters};
use crate::http::extract::upload::{Upload, release, unwritable};
use crate::http::limits::{BUNDLE_BYTES_MAX, BUNDLE_TIME_MAX};
use crate::http::mutation::{Answer, Mutated, Mutation, MutationRequest};

const ZIP: &str = "application/zip";
const PASSPHRASE: HeaderName = HeaderName::from_static("skein-passphrase");
const CHUNK_BYTES: usize = 64 << 10;
const CHUNKS_WAITING_MAX: usize = 8;

/// A cut of your timeline, ready to be downloaded.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportView {
    /// The operation that made it.
    #[schema(value_type = String, example = "op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: OperationId,
    #[schema(example = "/api/v1/exports/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    download_url: String,
    /// Up to where on the timeline it goes.
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
    /// Whether a download needs a passphrase, to seal the values of secrets with.
    #[schema(example = false)]
    with_secrets: bool,
    /// The one conversation it holds, with those it was forked from; null for everything.
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
}

/// What an export is to hold: everything you own, unless a conversation is named.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "withSecrets": false }))]
pub(crate) struct ExportBody {
    /// The values of your secrets too, sealed under the passphrase that each download is asked for with.
    with_secrets: bool,
    /// Only this conversation, with those it was forked from.
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
}

impl ExportBody {
    fn extent(&self) -> Result<ExportExtent, ApiError> {
        match (self.with_secrets, self.conversation_id) {
            (false, None) => Ok(ExportExtent::Everything),
            (true, None) => Ok(ExportExtent::WithSecrets),
            (false, Some(id)) => Ok(ExportExtent::Conversation(id)),
            (true, Some(_)) => {
                let message = "withSecrets: a conversation has no secrets; leave one of the two out";
                Err(ApiError::bad_request("invalid_body", message).with_detail("field", "withSecrets"))
            }
        }
    }
}

/// What an import brought.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportView {
    /// Whose things came in.
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    /// Items that were not there.
    #[schema(example = 120)]
    added: u64,
    /// Items that were.
    #[schema(example = 0)]
    skipped: u64,
    /// Blobs that were not there.
    #[schema(example = 2)]
    blobs: u64,
    /// Secrets that got their value from the bundle.
    #[schema(example = 0)]
    secret_values: u64,
    /// Secrets of the owner's that have no value here; replace it before a tool uses them.
    #[schema(example = 0)]
    secrets_without_value: i64,
}

/// Make a cut of everything you own, or of one conversation; the values of your secrets only if you ask for them.
///
/// An export that `POST /imports` would refuse is refused (422 `bundle_too_large`): with attachments it could have more than
/// 131,072 entries or 8 GiB. Text counts uncompressed. Export single conversations then.
#[utoipa::path(post, path = "/exports", tag = "bundles", request_body = ExportBody,
    responses((status = 201, body = Mutated<ExportView>)))]
pub(crate) async fn create_export(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ExportView>, ApiError> {
    let body: ExportBody = mutation.body_if_any().await?;
    let made = engine.create_export(&mutation.caller, mutation.request, body.extent()?).await?;
    let id = made.operation;
    let download_url = format!("/api/v1/exports/{id}");
    let view = |WholeOutcome(cut): WholeOutcome<ExportCut>| {
        let ExportCut { cursor, with_secrets, conversation: conversation_id, .. } = cut;
        ExportView { id, download_url: download_url.clone(), cursor, with_secrets, conversation_id }
    };
    Ok(Answer::made(made.map(view), download_url.clone()))
}

/// Download a cut as a bundle: a zip file with items, records, relations, blobs and what proves them.
#[utoipa::path(get, path = "/exports/{id}", tag = "bundles", params(("id" = String, Path), PassphraseHeader),
    responses((status = 200, content_type = "application/zip", body = String)))]
pub(crate) async fn download_export(
    State(context): State<Context>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<OperationId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let engine = context.engine.clone();
    let download = engine.download(&caller, id, passphrase(&headers)?).await?;
    let place = context.bundles.admit(caller.user)?;
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut out = DownloadWriter { sender: sender.clone(), waiting: Vec::with_capacity(CHUNK_BYTES) };
        let written = engine.write_bundle(&caller, &download, &mut out).map_err(|error| error.to_string());
        if let Err(problem) = written.and_then(|()| out.flush().map_err(|error| error.to_string())) {
            tracing::warn!(problem, "an export broke off");
            // The client must not take what it has for the whole.
            let _ = sender.blocking_send(Err(io::Error::other("the export broke off")));
        }
    });
    let name = HeaderValue::try_from(format!("attachment; filename=\"skein-{id}.zip\"")).expect("ids are ASCII");
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(ZIP)), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

/// The passphrase of an export with secrets. In a header, because no header is kept, logged or part of a request's
/// fingerprint, and because the body of an import is the bundle.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes what passphrase() reads")]
pub(crate) struct PassphraseHeader {
    /// What secrets in the bundle are sealed with: 12 characters or more, their UTF-8 in base64. Never kept.
    #[param(rename = "Skein-Passphrase", example = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==")]
    passphrase: Option<String>,
}

fn passphrase(headers: &HeaderMap) -> Result<Option<Passphrase>, ApiError> {
    let Some(sent) = headers.get(&PASSPHRASE) else { return Ok(None) };
    Passphrase::from_base64(sent.as_bytes()).map(Some).map_err(|bad| {
        let message = format!("Skein-Passphrase: {bad}, sent as UTF-8 in base64");
        ApiError::bad_request("invalid_passphrase", message)
    })
}

/// Hands what a thread writes to whoever downloads it, and waits for them.
struct DownloadWriter {
    sender: mpsc::Sender<io::Result<Bytes>>,
    waiting: Vec<u8>,
}

impl Write for DownloadWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.waiting, Vec::with_capacity(CHUNK_BYTES));
        self.sender.blocking_send(Ok(chunk.into())).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

/// Take a bundle in; what is there already is skipped. Your own, or, for administrators, somebody's who moves in.
///
/// One import of an owner's things at a time on a database: while one has not ended, the answer is 409 `import_running` with
/// its `operationId`. 409 `bundle_conflict` means that both sides changed a record: with nothing imported when it shows before
/// the import begins, with a part imported when the owner changes the record meanwhile.
/// An item that is new here obeys the rules of the request that makes such an item. A breach is 422 with the id of the
/// rule, and nothing is imported.
/// A bundle has at most 8 GiB (413), 131,072 entries and 32 MiB of directory (422 `bundle_too_large`). What has more is exported as
/// single conversations.
#[utoipa::path(post, path = "/imports", tag = "bundles", params(PassphraseHeader),
    request_body(content_type = "application/zip", content = String, example = json!("the bytes of a bundle")),
    responses((status = 200, body = Mutated<ImportView>)))]
pub(crate) async fn import_bundle(
    State(context): State<Context>,
    request: Request,
) -> Result<Answer<ImportView>, ApiError> {
    let (mut parts, body) = request.into_parts();
    let asking = MutationRequest::from_parts(&mut parts, &context).await?;
    query::refuse_unread(&parts.extensions, &parts.uri)?;
    let place = context.bundles.admit(asking.caller.user)?;
    if parts.headers.get(header::CONTENT_TYPE).is_none_or(|label| label.as_bytes() != ZIP.as_bytes()) {
        let message = "a bundle is a zip file; send Content-Type: application/zip";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message));
    }
    let passphrase = passphrase(&parts.headers)?;
    let upload = Upload::of(Request::from_parts(parts, body), BUNDLE_BYTES_MAX, BUNDLE_TIME_MAX)?;
    let reserved = context.engine.reserve(&asking.caller, &asking.key, "import").await?;
    let received = receive(&context, &asking, &reserved, upload).await;
    // Whoever asked may leave: what was begun is finished, and a repeat of the request finds it.
    let taking_in = take_in(context.engine.clone(), asking, reserved, received, passphrase);
    let imported = tokio::spawn(async move {
        let taken_in = taking_in.await;
        drop(place);
        taken_in
    });
    let imported = imported.await;
    let imported = imported.map_err(|error| ApiError::internal(error.to_string()))??;
    let view = |WholeOutcome(count): WholeOutcome<ImportCount>| {
        let ImportCount { owner_id, added, skipped, blobs, secret_values, secrets_without_value } = count;
        ImportView { owner_id, added, skipped, blobs, secret_values, secrets_without_value }
    };
    Ok(Answer::done(imported.map(view)))
}

async fn take_in(
    engine: Engine,
    asking: MutationRequest,
    reserved: ReservationOutcome,
    received: Result<(File, [u8; 32]), ApiError>,
    passphrase: Option<Passphrase>,
) -> Result<CommittedChange<WholeOutcome<ImportCount>>, ApiError> {
    match (reserved, received) {
        (ReservationOutcome::Earlier, received) => {
            let (_, hash) = received?;
            Ok(engine.imported(&asking.caller, asking.request(&hash)).await?)
        }
        (ReservationOutcome::Place(place), Ok((file, hash))) => {
            let brought = BundleImport { file, passphrase };
            let imported = engine.import_bundle(&asking.caller, asking.request(&hash), &place, brought).await;
            if imported.is_err() {
                release(&engine, &asking, &place, "the bundle was not taken in").await;
            }
            Ok(imported?)
        }
        (ReservationOutcome::Place(place), Err(refused)) => {
            release(&engine, &asking, &place, "the bundle did not arrive").await;
            Err(refused)
        }
    }
}

/// A file without a name, and the hash of its bytes, which stands for them in the fingerprint of the request.
struct HashedFile {
    file: File,
    hasher: Sha256,
}

impl HashedFile {
    fn new(engine: &Engine) -> Result<Self, ApiError> {
        let file = tempfile::tempfile().map_err(|error| unwritable(engine, &error))?;
        Ok(Self { file, hasher: Sha256::new() })
    }

    fn finish(mut self, engine: &Engine) -> Result<(File, [u8; 32]), ApiError> {
        self.file.rewind().map_err(|error| unwritable(engine, &error))?;
        Ok((self.file, self.hasher.finalize().into()))
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

async fn receive(
    context: &Context,
    asking: &MutationRequest,
    reserved: &ReservationOutcome,
    upload: Upload,
) -> Result<(File, [u8; 32]), ApiError> {
    let file = HashedFile::new(&context.engine)?;
    upload.receive(context, asking, reserved, file).await?.finish(&context.engine)
}

/// The answer to a bundle that is refused.
pub(crate) fn refused(bad: &BadBundle, message: String) -> ApiError {
    let (status, code) = match bad {
        BadBundle::Differs { .. }
        | BadBundle::Diverged { .. }
        | BadBundle::ChangedMeanwhile { .. }
        | BadBundle::Stopped => (StatusCode::CONFLICT, "bundle_conflict"),
        BadBundle::Unusable { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "id_unavailable"),
        BadBundle::TooLarge { .. } | BadBundle::ExportTooLarge { .. } => {
            (StatusCode::UNPROCESSABLE_ENTITY, "bundle_too_large")
        }
        _ => return ApiError::bad_request("invalid_bundle", message),
    };
    ApiError::new(status, code, message)
}
