//! Decides which images of a window go to the model as images, and which as text.
//!
//! Both the preview and the request use this one decision, so that neither can promise more than the other sends. What a
//! request may hold is bounded by construction: [`IMAGES_MAX`] images of at most [`SENT_BYTES_MAX`] bytes each.

use serde::Serialize;

use crate::id::ItemId;
use crate::tree::content::Image;
use crate::tree::context::Role;
use crate::tree::media::DECODED_PIXELS_MAX;
use crate::tree::spelled_enum::words;

/// Most images of one request; the latest are sent, earlier ones become text.
pub const IMAGES_MAX: usize = 10;
/// Longest side of an image as it is sent, in pixels; providers shrink what is larger.
pub const SENT_SIDE_MAX: u32 = 1_568;
/// Most bytes of an image as it is sent, before base64.
pub const SENT_BYTES_MAX: usize = 2_000_000;
/// Pixels that stand for one token, and the fewest tokens of an image. Providers count differently; this is near the highest.
const PIXELS_PER_TOKEN: u64 = 750;
const IMAGE_TOKENS_MIN: u64 = 85;

words! {
    /// How an image of a window reaches the model.
    SentAs {
        Image = "image",
        /// As its alternative text, or as a note that there is none.
        Text = "text",
    }
}

words! {
    /// Why an image is sent as text.
    TextReason {
        /// The model does not accept images, or is not known to.
        ModelWithoutImages = "modelWithoutImages",
        /// Providers accept images in messages of the user only.
        NotAUserMessage = "notAUserMessage",
        /// A buffer is one text.
        BufferMode = "bufferMode",
        /// It has too many pixels to be resized.
        TooLarge = "tooLarge",
        /// Later images took all the places there are.
        TooMany = "tooMany",
        /// Its bytes are gone, not yours, or no image.
        Unreadable = "unreadable",
    }
}

/// One image of a window, accounted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageReport {
    /// The item that attached it.
    #[serde(rename = "ref")]
    pub item: ItemId,
    pub sent_as: SentAs,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<TextReason>,
    pub tokens: usize,
}

/// Why an image cannot be sent as one, as far as its own place and size say.
pub(super) fn refusal(image: &Image, role: Role, accepts_images: bool) -> Option<TextReason> {
    if !accepts_images {
        return Some(TextReason::ModelWithoutImages);
    }
    if role != Role::User {
        return Some(TextReason::NotAUserMessage);
    }
    let pixels = u64::from(image.width) * u64::from(image.height);
    (pixels > DECODED_PIXELS_MAX).then_some(TextReason::TooLarge)
}

/// Tokens of an image as it is sent, estimated from its size.
pub fn image_tokens(width: u32, height: u32) -> usize {
    let (width, height) = sent_size(width, height);
    let tokens = (u64::from(width) * u64::from(height)).div_ceil(PIXELS_PER_TOKEN).max(IMAGE_TOKENS_MIN);
    usize::try_from(tokens).unwrap_or(usize::MAX)
}

/// The size of an image as it is sent: its own, or shrunk to [`SENT_SIDE_MAX`].
pub fn sent_size(width: u32, height: u32) -> (u32, u32) {
    let longest = width.max(height).max(1);
    if longest <= SENT_SIDE_MAX {
        return (width, height);
    }
    let shrunk = |side: u32| {
        let scaled = u64::from(side) * u64::from(SENT_SIDE_MAX) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(SENT_SIDE_MAX).max(1)
    };
    (shrunk(width), shrunk(height))
}
