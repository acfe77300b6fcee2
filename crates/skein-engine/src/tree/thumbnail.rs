//! Small pictures of attached images: worked out when they are asked for, and kept nowhere.
//!
//! A picture is a function of the image's bytes, so nothing has to be destroyed with them. Working one out takes memory and
//! time, so one is made at a time, on a thread that answers nobody, within limits that are known before it begins.

use std::io::Cursor;

use bytes::Bytes;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
use skein_core::tree::media::{
    IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX, ImageType, THUMBNAIL_PIXELS_MAX, check_decodable, not_an_image, read_image,
};
use skein_core::{Digest, RuleViolation};
use skein_store::StoreError;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// Most memory the pixels of an image may take, in bytes: 50 megapixels of four bytes, and some.
const PIXEL_BYTES_MAX: u64 = 256 << 20;

/// What every thumbnail is.
pub const THUMBNAIL_MEDIA_TYPE: &str = "image/png";

impl Engine {
    /// A small picture of an image the caller attached.
    pub async fn thumbnail(&self, caller: &Caller, hash: Digest) -> Result<Bytes, EngineError> {
        let blob = self.blob(caller, hash).await?;
        // Nothing is read of what is too large to be an image.
        if blob.size().unsigned_abs() > IMAGE_BYTES_MAX {
            read_image(blob.size().unsigned_abs(), &[]).map_err(StoreError::from)?;
        }
        let place = self.parts().drawing.place(caller.user).await?;
        let bytes = self.parts().blobs.get(hash).await?;
        let image_type = check_decodable(&bytes).map_err(StoreError::from)?.image_type;
        let drawn = place.run(move || draw(&bytes, image_type)).await;
        Ok(drawn.unwrap_or_else(|_| Err(not_an_image(image_type))).map_err(StoreError::from)?)
    }
}

/// At most [`THUMBNAIL_PIXELS_MAX`] a side, the right way up.
fn draw(bytes: &[u8], image_type: ImageType) -> Result<Bytes, RuleViolation> {
    let refused = |_| not_an_image(image_type);
    let small = decoded(bytes, image_type, THUMBNAIL_PIXELS_MAX)?;
    let mut png = Cursor::new(Vec::new());
    small.write_to(&mut png, ImageFormat::Png).map_err(refused)?;
    Ok(png.into_inner().into())
}

/// Its pixels, at most `side` a side and the right way up; decoded within the limits.
pub(super) fn decoded(bytes: &[u8], image_type: ImageType, side: u32) -> Result<DynamicImage, RuleViolation> {
    let refused = |_| not_an_image(image_type);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format(image_type));
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(IMAGE_PIXELS_MAX);
    limits.max_image_height = Some(IMAGE_PIXELS_MAX);
    limits.max_alloc = Some(PIXEL_BYTES_MAX);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let orientation = decoder.orientation().map_err(refused)?;
    limits.reserve(decoder.total_bytes()).map_err(refused)?;
    decoder.set_limits(limits).map_err(refused)?;
    let image = DynamicImage::from_decoder(decoder).map_err(refused)?;
    let mut small = shrunk(&image, side);
    small.apply_orientation(orientation);
    Ok(small)
}

/// What is small already stays as it is; what is long and thin keeps a pixel across.
fn shrunk(image: &DynamicImage, side: u32) -> DynamicImage {
    let is_small = image.width().max(image.height()) <= side;
    let small = if is_small { image.clone() } else { image.thumbnail(side, side) };
    // Eight bits a colour are enough for a small picture.
    if small.has_alpha() { small.into_rgba8().into() } else { small.into_rgb8().into() }
}

pub(super) fn format(image_type: ImageType) -> ImageFormat {
    match image_type {
        ImageType::Png => ImageFormat::Png,
        ImageType::Jpeg => ImageFormat::Jpeg,
        ImageType::Gif => ImageFormat::Gif,
        ImageType::Webp => ImageFormat::WebP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgb, RgbImage, Rgba, RgbaImage};
    use skein_core::tree::media::ImageFacts;

    fn written(image: impl Into<DynamicImage>, image_type: ImageType) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.into().write_to(&mut bytes, format(image_type)).unwrap();
        bytes.into_inner()
    }

    fn drawn(bytes: &[u8]) -> Result<DynamicImage, RuleViolation> {
        let facts = check_decodable(bytes)?;
        let png = draw(bytes, facts.image_type)?;
        assert_eq!(ImageFacts::read(&png).unwrap().image_type, ImageType::Png);
        Ok(image::load_from_memory(&png).unwrap())
    }

    #[test]
    fn ag_content_002_every_kind_of_image_is_drawn_small_holds() {
        for image_type in ImageType::ALL.iter().copied() {
            let red = RgbImage::from_pixel(800, 400, Rgb([250, 10, 10]));
            let small = drawn(&written(red, image_type)).unwrap().into_rgb8();
            assert_eq!(small.dimensions(), (200, 100), "{image_type}");
            let Rgb([red, green, _]) = *small.get_pixel(100, 50);
            assert!(red > 200 && green < 60, "{image_type}: {red} {green}");
        }
        let thin = drawn(&written(RgbImage::new(8_000, 1), ImageType::Png)).unwrap();
        assert_eq!((thin.width(), thin.height()), (200, 1));
        let clear = drawn(&written(RgbaImage::from_pixel(3, 2, Rgba([1, 2, 3, 0])), ImageType::Png)).unwrap();
        assert!(clear.has_alpha() && (clear.width(), clear.height()) == (3, 2));
    }

    #[test]
    fn ag_content_002_what_only_begins_like_an_image_refuses() {
        for image_type in ImageType::ALL.iter().copied() {
            let whole = written(
                RgbImage::from_fn(64, 64, |x, y| Rgb([x * y, x, y].map(|value| value.to_le_bytes()[0]))),
                image_type,
            );
            let mut broken = whole[..whole.len().min(60)].to_vec();
            broken.extend([0x5a; 400]);
            let refused = check_decodable(&broken).and_then(|facts| draw(&broken, facts.image_type));
            assert_eq!(refused.unwrap_err().rule(), "AG-CONTENT-002", "{image_type}");
        }
    }

    #[test]
    fn ag_content_002_more_memory_than_is_allowed_refuses() {
        // Little to send, much to work out: 6,000 × 8,000 pixels of eight bytes.
        let mut bomb = written(image::ImageBuffer::from_pixel(8, 8, Rgba([9_u16; 4])), ImageType::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0x17, 0x70, 0, 0, 0x1f, 0x40]);
        let checksum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&checksum.to_be_bytes());
        assert!(check_decodable(&bomb).is_ok());
        assert_eq!(draw(&bomb, ImageType::Png).unwrap_err().rule(), "AG-CONTENT-002");
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        })
    }
}
