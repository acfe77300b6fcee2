//! Defines the content of a node: text, an image, audio, or several of them in order.
//!
//! Read strictly from JSON and written back as the document that is hashed: keys as the founding design has them,
//! absent optional fields left out. Bytes are never inside; `ref` names the item that attached them. Whether that item
//! exists is checked by the store, whether its bytes are what is claimed for [`crate::tree::media`].

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::canonical::{self, Escape};
use crate::document::{self, DOCUMENT_BYTES_MAX};
use crate::id::ItemId;
use crate::rule::RuleViolation;
use crate::tree::media::{AUDIO_MILLISECONDS_MAX, AudioType, IMAGE_PIXELS_MAX, ImageType};
use crate::tree::visible_text::is_blank;

/// Largest content, in bytes of its canonical JSON: what stands around it in its item must fit beside it.
pub const CONTENT_BYTES_MAX: usize = DOCUMENT_BYTES_MAX - 1_024;
/// Most blocks of one mixed content.
pub const BLOCKS_MAX: usize = 256;
/// Longest description of an image for those who do not see it, in characters.
pub const ALT_TEXT_CHARS_MAX: usize = 4_000;
/// Longest brief, in characters.
pub const BRIEF_CHARS_MAX: usize = 60;

/// What a node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    One(Block),
    Mixed(Vec<Block>),
}

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Text(String),
    Image(Image),
    Audio(Audio),
}

/// An image whose bytes an item attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub blob: ItemId,
    pub mime_type: ImageType,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    pub thumbnail: Option<ItemId>,
    pub alt_text: Option<String>,
}

/// A recording whose bytes an item attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audio {
    pub blob: ItemId,
    pub mime_type: AudioType,
    pub duration_ms: u32,
    /// The node that says the same in writing.
    pub transcript: Option<ItemId>,
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self::One(Block::Text(text.into()))
    }

    /// Reads a document; anything unknown, missing or out of bounds is refused by its rule.
    pub fn parse(document: &Value) -> Result<Self, RuleViolation> {
        let mut fields = Fields::of(document)?;
        let content = if fields.kind == "mixed" { Self::Mixed(fields.blocks()?) } else { Self::One(fields.block()?) };
        fields.end()?;
        content.check_size()?;
        Ok(content)
    }

    /// The document that is hashed and kept.
    pub fn to_document(&self) -> Value {
        match self {
            Self::One(block) => block.to_document(),
            Self::Mixed(blocks) => {
                json!({ "type": "mixed", "blocks": blocks.iter().map(Block::to_document).collect::<Vec<_>>() })
            }
        }
    }

    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Mixed(blocks) => blocks,
        }
    }

    /// The items that must have attached its bytes, thumbnails included.
    pub fn blobs(&self) -> impl Iterator<Item = ItemId> {
        self.blocks()
            .iter()
            .flat_map(|block| match block {
                Block::Text(_) => [None, None],
                Block::Image(image) => [Some(image.blob), image.thumbnail],
                Block::Audio(audio) => [Some(audio.blob), None],
            })
            .flatten()
    }

    /// The nodes that write down what is heard in it.
    pub fn transcripts(&self) -> impl Iterator<Item = ItemId> {
        self.blocks().iter().filter_map(|block| match block {
            Block::Audio(audio) => audio.transcript,
            Block::Text(_) | Block::Image(_) => None,
        })
    }

    /// What can be read of it: texts and descriptions of images, a blank line between blocks.
    pub fn plain_text(&self) -> Cow<'_, str> {
        let mut readable = self.blocks().iter().filter_map(Block::readable);
        let first = readable.next().unwrap_or_default();
        let rest: Vec<&str> = readable.collect();
        if rest.is_empty() { Cow::Borrowed(first) } else { Cow::Owned([&[first], &rest[..]].concat().join("\n\n")) }
    }

    /// Whether nothing is said: no image, no audio, no text that can be seen.
    pub fn is_empty(&self) -> bool {
        self.blocks().iter().all(|block| matches!(block, Block::Text(text) if is_blank(text)))
    }

    /// Refuses a message or an edit that says nothing (rule AG-EDIT-004, decision G8).
    pub fn refuse_empty(&self) -> Result<(), RuleViolation> {
        if !self.is_empty() {
            return Ok(());
        }
        Err(RuleViolation::new("AG-EDIT-004", "the content is empty", "say something, or prune the node instead"))
    }

    /// Its first words on one line; `None` when there are none.
    pub fn brief(&self) -> Option<String> {
        first_words(&self.plain_text(), BRIEF_CHARS_MAX)
    }

    fn check_size(&self) -> Result<(), RuleViolation> {
        let refuse = |problem: String| {
            Err(RuleViolation::new("AG-CONTENT-001", problem, "split it over several nodes, or attach it as a file"))
        };
        let document = self.to_document();
        if let Err(bad) = document::check(&document) {
            return refuse(bad.to_string());
        }
        let found = canonical::to_string(&document, Escape::Unicode).len();
        if found > CONTENT_BYTES_MAX {
            return refuse(format!("the content has {found} bytes; the limit is {CONTENT_BYTES_MAX}"));
        }
        Ok(())
    }
}

impl Block {
    pub fn to_document(&self) -> Value {
        match self {
            Self::Text(text) => json!({ "type": "text", "text": text }),
            Self::Image(image) => image.to_document(),
            Self::Audio(audio) => audio.to_document(),
        }
    }

    /// As a reader of text alone gets it: a text as it stands, an image or a recording as a note in brackets.
    pub fn described(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Image(image) => Cow::Owned(image.described()),
            Self::Audio(Audio { mime_type, duration_ms, .. }) => {
                Cow::Owned(format!("[recording: {mime_type}, {} s, no transcript]", duration_ms.div_ceil(1_000)))
            }
        }
    }

    fn readable(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(image) => image.alt_text.as_deref(),
            Self::Audio(_) => None,
        }
    }
}

impl Image {
    /// Its description for a reader who does not see it; without one, its type and size.
    pub fn described(&self) -> String {
        match self.alt_text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => format!("[image: {text}]"),
            None => format!("[image: {}, {} × {} pixels, no description]", self.mime_type, self.width, self.height),
        }
    }

    fn to_document(&self) -> Value {
        let mut document = json!({
            "type": "image",
            "ref": self.blob,
            "mimeType": self.mime_type,
            "width": self.width,
            "height": self.height,
        });
        if let Some(thumbnail) = self.thumbnail {
            document["thumbnailRef"] = json!(thumbnail);
        }
        if let Some(alt_text) = &self.alt_text {
            document["altText"] = json!(alt_text);
        }
        document
    }
}

impl Audio {
    fn to_document(&self) -> Value {
        let mut document = json!({
            "type": "audio",
            "ref": self.blob,
            "mimeType": self.mime_type,
            "durationMs": self.duration_ms,
        });
        if let Some(transcript) = self.transcript {
            document["transcriptRef"] = json!(transcript);
        }
        document
    }
}

/// The first words of a text on one line, cut between words where that is possible.
pub fn first_words(text: &str, chars_max: usize) -> Option<String> {
    let mut line = String::new();
    let mut room = chars_max;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !is_blank(word)) {
        let space = usize::from(!line.is_empty());
        let length = word.chars().count();
        if length + space > room {
            let part: String = word.chars().take(if line.is_empty() { room.saturating_sub(1) } else { 0 }).collect();
            return Some(line + &part + "…");
        }
        line.extend(std::iter::repeat_n(' ', space).chain(word.chars()));
        room -= length + space;
    }
    (!line.is_empty()).then_some(line)
}

/// The fields of one content object, taken out one by one so that what is left over can be named.
struct Fields {
    kind: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn of(document: &Value) -> Result<Self, RuleViolation> {
        let mut rest = document.as_object().cloned().unwrap_or_default();
        match rest.remove("type") {
            Some(Value::String(kind)) if ["text", "image", "audio", "mixed"].contains(&kind.as_str()) => {
                Ok(Self { kind, rest })
            }
            _ => Err(RuleViolation::new(
                "AG-CONTENT-001",
                "content is an object whose type is text, image, audio or mixed",
                "send for example {\"type\": \"text\", \"text\": \"Hello\"}",
            )),
        }
    }

    fn block(&mut self) -> Result<Block, RuleViolation> {
        match self.kind.as_str() {
            "text" => self.required("text", "a text", text_of).map(Block::Text),
            "image" => Ok(Block::Image(self.image()?)),
            "audio" => Ok(Block::Audio(self.audio()?)),
            _ => Err(RuleViolation::new(
                "AG-CONTENT-003",
                "mixed content stands inside mixed content",
                "list its blocks",
            )),
        }
    }

    fn blocks(&mut self) -> Result<Vec<Block>, RuleViolation> {
        let refuse = |problem: String| {
            Err(RuleViolation::new("AG-CONTENT-003", problem, "send blocks: a list of text, image and audio content"))
        };
        let Some(Value::Array(blocks)) = self.rest.remove("blocks") else {
            return refuse("mixed content has blocks".to_owned());
        };
        if !(1..=BLOCKS_MAX).contains(&blocks.len()) {
            return refuse(format!("there are {} blocks; 1 to {BLOCKS_MAX} are allowed", blocks.len()));
        }
        let read = |document: &Value| {
            let mut fields = Fields::of(document)?;
            let block = fields.block()?;
            fields.end()?;
            Ok(block)
        };
        blocks.iter().map(read).collect()
    }

    fn image(&mut self) -> Result<Image, RuleViolation> {
        let pixels = |value: &Value| number_of(value, IMAGE_PIXELS_MAX);
        let alt_text = |value: &Value| text_of(value).filter(|text| text.chars().count() <= ALT_TEXT_CHARS_MAX);
        Ok(Image {
            blob: self.required("ref", "the id of an attached item", id_of)?,
            mime_type: self.required("mimeType", ImageType::LISTED, |value| ImageType::parse(value.as_str()?))?,
            width: self.required("width", "a whole number of pixels from 1 to 8192", pixels)?,
            height: self.required("height", "a whole number of pixels from 1 to 8192", pixels)?,
            thumbnail: self.optional("thumbnailRef", "the id of an attached item", id_of)?,
            alt_text: self.optional("altText", "a text of at most 4000 characters", alt_text)?,
        })
    }

    fn audio(&mut self) -> Result<Audio, RuleViolation> {
        let duration = |value: &Value| number_of(value, AUDIO_MILLISECONDS_MAX);
        Ok(Audio {
            blob: self.required("ref", "the id of an attached item", id_of)?,
            mime_type: self.required("mimeType", AudioType::LISTED, |value| AudioType::parse(value.as_str()?))?,
            duration_ms: self.required("durationMs", "a whole number of milliseconds, at most 30 minutes", duration)?,
            transcript: self.optional("transcriptRef", "the id of a node", id_of)?,
        })
    }

    fn required<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, RuleViolation> {
        let value = self.rest.remove(name).unwrap_or(Value::Null);
        read(&value).ok_or_else(|| self.wrong(format!("{name} of {} content is {expected}", self.kind)))
    }

    fn optional<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, RuleViolation> {
        if self.rest.contains_key(name) { self.required(name, expected, read).map(Some) } else { Ok(None) }
    }

    fn end(self) -> Result<(), RuleViolation> {
        match self.rest.keys().next() {
            None => Ok(()),
            Some(name) => {
                let shown: String = name.chars().take(64).collect();
                Err(self.wrong(format!("{} content has no field {shown:?}", self.kind)))
            }
        }
    }

    fn wrong(&self, problem: String) -> RuleViolation {
        let rule = match self.kind.as_str() {
            "image" | "audio" => "AG-CONTENT-002",
            "mixed" => "AG-CONTENT-003",
            _ => "AG-CONTENT-001",
        };
        RuleViolation::new(rule, problem, "correct the field; leave out what is not known")
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn id_of(value: &Value) -> Option<ItemId> {
    value.as_str()?.parse().ok()
}

fn number_of(value: &Value, max: u32) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| (1..=max).contains(number))
}

#[cfg(test)]
mod tests;
