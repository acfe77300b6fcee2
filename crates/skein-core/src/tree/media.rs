//! Checks that attached bytes are the image or recording that a content claims, by their first bytes.
//!
//! Only headers are read: the point is that nothing else passes for an image, not that every pixel is sound.

use crate::rule::RuleViolation;
use crate::tree::content::{Audio, Image};
use crate::tree::spelled_enum::words;

/// Largest image, in bytes.
pub const IMAGE_BYTES_MAX: u64 = 20 << 20;
/// Longest side of an image, in pixels.
pub const IMAGE_PIXELS_MAX: u32 = 8_192;
/// Longest side of a thumbnail, in pixels.
pub const THUMBNAIL_PIXELS_MAX: u32 = 200;
/// Most pixels that are worked out for a thumbnail: a photograph of 50 megapixels, and no more memory than one takes.
pub const DECODED_PIXELS_MAX: u64 = 50_000_000;
/// Most passes over a photograph that comes in ever finer layers: ten are usual, and each costs as much as the picture.
pub const JPEG_SCANS_MAX: usize = 40;
/// Largest recording, in bytes.
pub const AUDIO_BYTES_MAX: u64 = 100 << 20;
/// Longest recording, in milliseconds.
pub const AUDIO_MILLISECONDS_MAX: u32 = 30 * 60 * 1_000;
/// How much of a file has to be shown, in bytes: a photograph may have a preview in front of its size.
pub const HEAD_BYTES: usize = 256 << 10;

words! {
    /// The images that are let in.
    ImageType {
        Png = "image/png",
        Jpeg = "image/jpeg",
        Gif = "image/gif",
        Webp = "image/webp",
    }
}

words! {
    /// The recordings that are let in.
    AudioType {
        Mp3 = "audio/mp3",
        Mpeg = "audio/mpeg",
        Wav = "audio/wav",
        Ogg = "audio/ogg",
        Flac = "audio/flac",
        Aac = "audio/aac",
        Mp4 = "audio/mp4",
        M4a = "audio/m4a",
        Webm = "audio/webm",
    }
}

impl ImageType {
    pub const LISTED: &str = "image/png, image/jpeg, image/gif or image/webp";
}

impl AudioType {
    pub const LISTED: &str =
        "audio/mp3, audio/mpeg, audio/wav, audio/ogg, audio/flac, audio/aac, audio/mp4, audio/m4a or audio/webm";

    fn begins(self, head: &[u8]) -> bool {
        // An MPEG frame begins with eleven set bits; layer and version follow.
        let is_frame = head.len() > 2 && head[0] == 0xff && head[1] & 0xe0 == 0xe0;
        match self {
            Self::Mp3 | Self::Mpeg => head.starts_with(b"ID3") || is_frame,
            Self::Wav => head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE"),
            Self::Ogg => head.starts_with(b"OggS"),
            Self::Flac => head.starts_with(b"fLaC"),
            Self::Aac => head.starts_with(b"ID3") || (is_frame && head[1] & 0x06 == 0),
            Self::Mp4 | Self::M4a => head.get(4..8) == Some(b"ftyp"),
            Self::Webm => head.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]),
        }
    }
}

/// What the beginning of an image says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFacts {
    pub image_type: ImageType,
    /// In pixels.
    pub width: u32,
    pub height: u32,
}

impl ImageFacts {
    /// Reads the beginning of a file; `None` for what is no image of a known type.
    pub fn read(head: &[u8]) -> Option<Self> {
        let facts = |image_type, (width, height)| Self { image_type, width, height };
        let found = png(head)
            .map(|size| facts(ImageType::Png, size))
            .or_else(|| gif(head).map(|size| facts(ImageType::Gif, size)))
            .or_else(|| webp(head).map(|size| facts(ImageType::Webp, size)))
            .or_else(|| jpeg(head).map(|size| facts(ImageType::Jpeg, size)))?;
        (found.width > 0 && found.height > 0).then_some(found)
    }
}

impl Image {
    /// Refuses bytes that are not this image: `size` of the whole file, `head` its first [`HEAD_BYTES`] at least.
    pub fn check_bytes(&self, size: u64, head: &[u8]) -> Result<(), RuleViolation> {
        let facts = read_image(size, head)?;
        if facts.image_type != self.mime_type {
            return refuse(format!("the attached bytes are {}, not {}", facts.image_type, self.mime_type));
        }
        if (facts.width, facts.height) != (self.width, self.height) {
            let (width, height) = (facts.width, facts.height);
            return refuse(format!("the image has {width} × {height} pixels, not {} × {}", self.width, self.height));
        }
        Ok(())
    }
}

impl Audio {
    /// Refuses bytes that do not begin like this recording.
    pub fn check_bytes(&self, size: u64, head: &[u8]) -> Result<(), RuleViolation> {
        if size > AUDIO_BYTES_MAX {
            return refuse(format!("the recording has {size} bytes; the limit is {AUDIO_BYTES_MAX}"));
        }
        if self.mime_type.begins(head) {
            return Ok(());
        }
        refuse(format!("the attached bytes are not {}", self.mime_type))
    }
}

/// Refuses a thumbnail that is no image or no small one.
pub fn check_thumbnail(size: u64, head: &[u8]) -> Result<(), RuleViolation> {
    let facts = read_image(size, head)?;
    if facts.width.max(facts.height) > THUMBNAIL_PIXELS_MAX {
        return refuse(format!("a thumbnail has at most {THUMBNAIL_PIXELS_MAX} pixels a side"));
    }
    Ok(())
}

/// Refuses an image that would cost more to be worked out than a thumbnail is worth; `bytes` are all of it.
pub fn check_decodable(bytes: &[u8]) -> Result<ImageFacts, RuleViolation> {
    let facts = read_image(bytes.len() as u64, bytes)?;
    let pixels = u64::from(facts.width) * u64::from(facts.height);
    if pixels > DECODED_PIXELS_MAX {
        return refuse(format!("the image has {pixels} pixels; a thumbnail is made of at most {DECODED_PIXELS_MAX}"));
    }
    // Inside a scan this pair of bytes cannot stand: what looks like a marker there is stuffed.
    let scans = bytes.windows(2).filter(|pair| *pair == [0xff, 0xda]).count();
    if facts.image_type == ImageType::Jpeg && scans > JPEG_SCANS_MAX {
        return refuse(format!("the image comes in {scans} passes; a thumbnail is made of at most {JPEG_SCANS_MAX}"));
    }
    Ok(facts)
}

/// The refusal of what begins like an image and is none.
pub fn not_an_image(image_type: ImageType) -> RuleViolation {
    RuleViolation::new("AG-CONTENT-002", format!("the bytes begin like {image_type} but cannot be read"), REMEDY)
}

/// The facts of an image within the limits.
pub fn read_image(size: u64, head: &[u8]) -> Result<ImageFacts, RuleViolation> {
    if size > IMAGE_BYTES_MAX {
        return refuse(format!("the image has {size} bytes; the limit is {IMAGE_BYTES_MAX}"));
    }
    let Some(facts) = ImageFacts::read(head) else {
        return refuse(format!("the attached bytes are not {}", ImageType::LISTED));
    };
    if facts.width.max(facts.height) > IMAGE_PIXELS_MAX {
        return refuse(format!("an image has at most {IMAGE_PIXELS_MAX} pixels a side"));
    }
    Ok(facts)
}

const REMEDY: &str = "attach a file within the limits and state what it is";

fn refuse<T>(problem: String) -> Result<T, RuleViolation> {
    Err(RuleViolation::new("AG-CONTENT-002", problem, REMEDY))
}

fn png(head: &[u8]) -> Option<(u32, u32)> {
    let is_png = head.starts_with(b"\x89PNG\r\n\x1a\n") && head.get(12..16)? == b"IHDR";
    is_png.then_some((big_endian(head.get(16..20)?), big_endian(head.get(20..24)?)))
}

fn gif(head: &[u8]) -> Option<(u32, u32)> {
    let is_gif = head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a");
    is_gif.then_some((little_endian(head.get(6..8)?), little_endian(head.get(8..10)?)))
}

/// Three forms: with loss, without loss, and extended, each with its own place for the size.
fn webp(head: &[u8]) -> Option<(u32, u32)> {
    if !head.starts_with(b"RIFF") || head.get(8..12)? != b"WEBP" {
        return None;
    }
    match head.get(12..16)? {
        b"VP8 " if head.get(23..26)? == [0x9d, 0x01, 0x2a] => {
            Some((little_endian(head.get(26..28)?) & 0x3fff, little_endian(head.get(28..30)?) & 0x3fff))
        }
        b"VP8L" if *head.get(20)? == 0x2f => {
            let bits = little_endian(head.get(21..25)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little_endian(head.get(24..27)?) + 1, little_endian(head.get(27..30)?) + 1)),
        _ => None,
    }
}

/// Steps from segment to segment until one describes a frame.
fn jpeg(head: &[u8]) -> Option<(u32, u32)> {
    if !head.starts_with(&[0xff, 0xd8, 0xff]) {
        return None;
    }
    let mut at = 2;
    loop {
        if *head.get(at)? != 0xff {
            return None;
        }
        let marker = *head.get(at + 1)?;
        match marker {
            // Padding, and markers without a body.
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            // Frames; 0xc4, 0xc8 and 0xcc are tables and an extension.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big_endian(head.get(at + 7..at + 9)?), big_endian(head.get(at + 5..at + 7)?)));
            }
            0xd8..=0xda => return None,
            _ => at += 2 + usize::try_from(big_endian(head.get(at + 2..at + 4)?)).ok()?.max(2),
        }
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ItemId;

    fn sample(image_type: ImageType, width: u16, height: u16) -> Vec<u8> {
        let (wide, high) = (u32::from(width), u32::from(height));
        match image_type {
            ImageType::Png => {
                [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &wide.to_be_bytes(), &high.to_be_bytes()].concat()
            }
            ImageType::Gif => [b"GIF89a".as_slice(), &width.to_le_bytes(), &height.to_le_bytes()].concat(),
            ImageType::Webp => {
                let bits = (wide - 1) | (high - 1) << 14;
                [b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".as_slice(), &bits.to_le_bytes()].concat()
            }
            ImageType::Jpeg => {
                let frame = [&[0xff, 0xc2, 0, 17, 8][..], &height.to_be_bytes(), &width.to_be_bytes()].concat();
                [&[0xff, 0xd8, 0xff, 0xe1, 0, 6, 1, 2, 3, 4, 0xff][..], &frame].concat()
            }
        }
    }

    fn image(mime_type: ImageType, width: u32, height: u32) -> Image {
        let blob = ItemId::from_bytes([1; 16]);
        Image { blob, mime_type, width, height, thumbnail: None, alt_text: None }
    }

    #[test]
    fn ag_content_002_images_say_what_they_are_holds() {
        for image_type in ImageType::ALL.iter().copied() {
            let bytes = sample(image_type, 640, 480);
            assert_eq!(ImageFacts::read(&bytes), Some(ImageFacts { image_type, width: 640, height: 480 }));
            assert!(image(image_type, 640, 480).check_bytes(1_000, &bytes).is_ok());
        }
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        for bytes in [&lossy[..], &extended[..]] {
            assert!(image(ImageType::Webp, 640, 480).check_bytes(1_000, bytes).is_ok());
        }
    }

    #[test]
    fn ag_content_002_what_is_not_the_image_it_claims_refuses() {
        let png = sample(ImageType::Png, 640, 480);
        assert!(image(ImageType::Gif, 640, 480).check_bytes(1_000, &png).is_err());
        assert!(image(ImageType::Png, 640, 481).check_bytes(1_000, &png).is_err());
        assert!(image(ImageType::Png, 640, 480).check_bytes(IMAGE_BYTES_MAX + 1, &png).is_err());
        let refused = image(ImageType::Png, 1, 1).check_bytes(9, b"<svg/>, or").unwrap_err();
        assert_eq!(refused.rule(), "AG-CONTENT-002");
        assert!(read_image(9, &sample(ImageType::Png, 8_193, 1)).is_err());
        assert!(check_thumbnail(9, &png).is_err() && check_thumbnail(9, &sample(ImageType::Gif, 200, 20)).is_ok());
    }

    #[test]
    fn ag_content_002_what_costs_too_much_to_be_drawn_small_refuses() {
        assert!(check_decodable(&sample(ImageType::Png, 8_000, 6_000)).is_ok());
        let vast = check_decodable(&sample(ImageType::Png, 8_000, 6_500)).unwrap_err();
        assert!(vast.rule() == "AG-CONTENT-002" && vast.to_string().contains("52000000 pixels"), "{vast}");
        let layered = |scans| [sample(ImageType::Jpeg, 64, 64), [0xff, 0xda].repeat(scans)].concat();
        assert!(check_decodable(&layered(JPEG_SCANS_MAX)).is_ok());
        assert!(check_decodable(&layered(JPEG_SCANS_MAX + 1)).is_err());
        assert!(check_decodable(b"<svg/>").is_err());
    }

    #[test]
    fn ag_content_002_cut_or_empty_images_refuses() {
        for image_type in ImageType::ALL.iter().copied() {
            let bytes = sample(image_type, 640, 480);
            for length in 0..bytes.len() {
                assert_eq!(ImageFacts::read(&bytes[..length]), None, "{image_type} of {length} bytes");
            }
        }
        assert_eq!(ImageFacts::read(&sample(ImageType::Gif, 0, 5)), None);
    }

    #[test]
    fn ag_content_002_recordings_begin_as_their_type_says_holds() {
        let audio =
            |mime_type| Audio { blob: ItemId::from_bytes([1; 16]), mime_type, duration_ms: 1, transcript: None };
        for (mime_type, head) in [
            (AudioType::Mp3, &b"ID3\x04"[..]),
            (AudioType::Mpeg, &[0xff, 0xfb, 0x90]),
            (AudioType::Wav, b"RIFF\0\0\0\0WAVE"),
            (AudioType::Ogg, b"OggS"),
            (AudioType::Flac, b"fLaC"),
            (AudioType::Aac, &[0xff, 0xf1, 0x50]),
            (AudioType::M4a, b"\0\0\0\x20ftypM4A "),
            (AudioType::Webm, &[0x1a, 0x45, 0xdf, 0xa3]),
        ] {
            assert!(audio(mime_type).check_bytes(9, head).is_ok(), "{mime_type}");
            assert!(audio(mime_type).check_bytes(9, b"hello, world").is_err(), "{mime_type}");
            assert!(audio(mime_type).check_bytes(AUDIO_BYTES_MAX + 1, head).is_err(), "{mime_type}");
        }
    }
}
