//! Conversations to read elsewhere: Markdown and HTML over HTTP, sent as they are written.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use skein_core::tree::render::Format;
use skein_core::{ConversationId, NodeId};
use skein_engine::Engine;
use skein_engine::tree::Export;
use utoipa::IntoParams;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentParameters {
    /// markdown or html; markdown unless it is said.
    format: Option<String>,
    /// Only the path that leads to this node; all branches unless it is said.
    #[param(value_type = Option<String>)]
    node_id: Option<NodeId>,
}

impl DocumentParameters {
    fn format(&self) -> Result<Format, ApiError> {
        match self.format.as_deref() {
            None | Some("markdown") => Ok(Format::Markdown),
            Some("html") => Ok(Format::Html),
            Some(_) => {
                let message = "format: send markdown or html";
                Err(ApiError::bad_request("invalid_query", message).with_detail("field", "format"))
            }
        }
    }
}

/// A conversation as a document to read, all its branches or one path.
#[utoipa::path(get, path = "/conversations/{id}/export", tag = "conversations",
    params(("id" = String, Path), DocumentParameters),
    responses((status = 200, content((String = "text/markdown"), (String = "text/html")))))]
pub(crate) async fn export_conversation(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<ConversationId>,
    Parameters(parameters): Parameters<DocumentParameters>,
) -> Result<Response, ApiError> {
    let format = parameters.format()?;
    let export = engine.export_tree(&caller, id, parameters.node_id, format).await?;
    Ok(document(export, format))
}

fn document(export: Export, format: Format) -> Response {
    let (media_type, ending) = match format {
        Format::Markdown => ("text/markdown; charset=utf-8", "md"),
        Format::Html => ("text/html; charset=utf-8", "html"),
    };
    let disposition = format!("attachment; filename=\"{}.{ending}\"", export.name);
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_DISPOSITION, HeaderValue::try_from(disposition).expect("names of files are plain")),
    ];
    // What cannot be read to the end is cut off, so that nobody takes a part for the whole.
    let pieces = futures::stream::try_unfold(export, async |mut export| {
        let piece = export.next().await.map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok::<_, std::io::Error>(piece.map(|piece| (piece, export)))
    });
    (headers, Body::from_stream(pieces)).into_response()
}
