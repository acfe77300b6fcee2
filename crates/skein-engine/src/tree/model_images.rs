//! Makes attached images ready to be sent to a model: read as their owner, resized, and bounded.
//!
//! An image within the limits is sent as it was attached. Others are decoded one at a time, on a thread that answers
//! nobody, within limits known before. Prepared images are cached for the preview, the request and its repeats.

use std::collections::{BTreeMap, VecDeque};
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use skein_core::tree::context::image::{SENT_BYTES_MAX, SENT_SIDE_MAX, image_tokens};
use skein_core::tree::media::{IMAGE_BYTES_MAX, ImageFacts, ImageType, check_decodable};
use skein_core::{Digest, ItemId, UserId, Viewer};

use crate::engine::Engine;
use crate::tree::thumbnail::decoded;

/// Most bytes of prepared images that are cached.
const CACHED_BYTES_MAX: usize = 64 << 20;
/// Qualities of JPEG that are tried until the bytes fit.
const QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// An image as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentImage {
    /// Of the bytes, not of the attached file.
    pub media_type: ImageType,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The bytes, before base64.
    pub data: Bytes,
}

impl SentImage {
    /// SHA-256 of the bytes.
    pub fn hash(&self) -> Digest {
        Digest::of(&self.data)
    }

    /// Estimated from the size.
    pub fn tokens(&self) -> usize {
        image_tokens(self.width, self.height)
    }
}

/// Images by the items that attached them.
pub(crate) type SentImages = BTreeMap<ItemId, Arc<SentImage>>;

/// Prepared images by the hashes of the attached files, the oldest first.
#[derive(Default)]
pub(crate) struct PreparedImages(Mutex<VecDeque<(Digest, Arc<SentImage>)>>);

impl PreparedImages {
    fn get(&self, hash: Digest) -> Option<Arc<SentImage>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.iter().find(|(known, _)| *known == hash).map(|(_, image)| Arc::clone(image))
    }

    fn put(&self, hash: Digest, image: &Arc<SentImage>) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.push_back((hash, Arc::clone(image)));
        while cached.iter().map(|(_, image)| image.data.len()).sum::<usize>() > CACHED_BYTES_MAX {
            cached.pop_front();
        }
    }
}

impl Engine {
    /// Those of the images that their owner can send; an image that cannot be read is left out.
    pub(crate) async fn images_to_send(&self, owner: UserId, items: Vec<ItemId>) -> SentImages {
        let mut images = SentImages::new();
        for item in items {
            if images.contains_key(&item) {
                continue;
            }
            if let Some(image) = self.image_to_send(owner, item).await {
                images.insert(item, image);
            } else {
                tracing::debug!(%item, "an attached image cannot be sent to a model");
            }
        }
        images
    }

    async fn image_to_send(&self, owner: UserId, item: ItemId) -> Option<Arc<SentImage>> {
        let viewer = Viewer::User(owner);
        let blob = self.parts().store.read(move |tx| tx.attached_blob(&viewer, item)).await.ok()?;
        if let Some(cached) = self.parts().sent_images.get(blob.hash()) {
            return Some(cached);
        }
        if blob.size().unsigned_abs() > IMAGE_BYTES_MAX {
            return None;
        }
        let place = self.parts().drawing.place_in_time(owner).await;
        let bytes = self.parts().blobs.get(blob.hash()).await.ok()?;
        let pending = place.run(move || prepare(&bytes)).await;
        let image = Arc::new(pending.ok()??);
        self.parts().sent_images.put(blob.hash(), &image);
        Some(image)
    }
}

/// The image as it is sent; nothing where the bytes are none or would cost too much to decode.
fn prepare(bytes: &Bytes) -> Option<SentImage> {
    let facts = check_decodable(bytes).ok()?;
    let ImageFacts { image_type, width, height } = facts;
    let is_small = width.max(height) <= SENT_SIDE_MAX && bytes.len() <= SENT_BYTES_MAX;
    // Every provider reads PNG, JPEG and WebP; of a GIF they read the first picture, if any.
    if is_small && image_type != ImageType::Gif && is_upright(bytes, image_type) {
        return Some(SentImage { media_type: image_type, width, height, data: bytes.clone() });
    }
    let image = decoded(bytes, image_type, SENT_SIDE_MAX).ok()?;
    let (media_type, data) = encoded(&image)?;
    Some(SentImage { media_type, width: image.width(), height: image.height(), data })
}

/// Whether it is shown as its pixels stand; a photograph says so in its header.
fn is_upright(bytes: &[u8], image_type: ImageType) -> bool {
    use image::ImageDecoder as _;
    let reader = image::ImageReader::with_format(Cursor::new(bytes), super::thumbnail::format(image_type));
    let orientation = reader.into_decoder().and_then(|mut decoder| decoder.orientation());
    matches!(orientation, Ok(image::metadata::Orientation::NoTransforms))
}

/// PNG where something shows through and it fits, else JPEG on white, as good as fits.
fn encoded(image: &DynamicImage) -> Option<(ImageType, Bytes)> {
    if image.has_alpha() {
        let mut png = Cursor::new(Vec::new());
        image.to_rgba8().write_to(&mut png, ImageFormat::Png).ok()?;
        if png.get_ref().len() <= SENT_BYTES_MAX {
            return Some((ImageType::Png, png.into_inner().into()));
        }
    }
    let opaque = DynamicImage::ImageRgba8(on_white(image)).into_rgb8();
    QUALITIES.iter().find_map(|quality| {
        let mut jpeg = Vec::new();
        opaque.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, *quality)).ok()?;
        (jpeg.len() <= SENT_BYTES_MAX).then(|| (ImageType::Jpeg, jpeg.into()))
    })
}

fn on_white(image: &DynamicImage) -> RgbaImage {
    let mut white = RgbaImage::from_pixel(image.width(), image.height(), Rgba([255; 4]));
    image::imageops::overlay(&mut white, &image.to_rgba8(), 0, 0);
    white
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgb, RgbImage};

    fn written(image: impl Into<DynamicImage>, format: ImageFormat) -> Bytes {
        let mut bytes = Cursor::new(Vec::new());
        image.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner().into()
    }

    #[test]
    fn a_small_image_is_sent_as_it_was_attached() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let bytes = written(RgbImage::from_pixel(30, 20, Rgb([9, 90, 9])), format);
            let sent = prepare(&bytes).unwrap();
            assert_eq!((sent.width, sent.height, &sent.data), (30, 20, &bytes), "{format:?}");
        }
    }

    #[test]
    fn a_large_image_is_resized_and_a_gif_becomes_one_picture() {
        let sent = prepare(&written(RgbImage::new(3_000, 1_500), ImageFormat::Png)).unwrap();
        assert_eq!((sent.width, sent.height, sent.media_type), (1_568, 784, ImageType::Jpeg));
        assert_eq!(sent.tokens(), image_tokens(3_000, 1_500));
        let gif = prepare(&written(RgbImage::new(30, 20), ImageFormat::Gif)).unwrap();
        assert!((gif.width, gif.height) == (30, 20) && gif.media_type != ImageType::Gif);
        for sent in [sent, gif] {
            assert_eq!(ImageFacts::read(&sent.data).unwrap().image_type, sent.media_type);
        }
    }

    #[test]
    fn whatever_is_in_it_the_bytes_stay_within_the_limit() {
        let mut seed = 1_u32;
        let noise = RgbaImage::from_fn(1_600, 1_600, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgba(seed.to_be_bytes())
        });
        let sent = prepare(&written(noise, ImageFormat::Png)).unwrap();
        assert!(sent.data.len() <= SENT_BYTES_MAX, "{}", sent.data.len());
        assert_eq!(sent.media_type, ImageType::Jpeg);
    }

    #[test]
    fn what_is_no_image_or_costs_too_much_is_not_sent() {
        assert_eq!(prepare(&Bytes::from_static(b"<svg/>")), None);
        let mut vast = written(RgbImage::new(8, 8), ImageFormat::Png).to_vec();
        vast[16..24].copy_from_slice(&[0, 0, 0x20, 0, 0, 0, 0x20, 0]);
        assert_eq!(prepare(&vast.into()), None, "8,192 × 8,192 pixels in a few bytes");
    }
}
