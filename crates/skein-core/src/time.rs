//! Time as milliseconds since 1970, and its one spelling: RFC 3339, UTC, three decimals.
//!
//! Kept as a bare integer so that stores, hashes and comparisons agree to the bit; the calendar is only
//! consulted to read and write text.

use std::fmt;
use std::str::FromStr;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment, in milliseconds since 1970-01-01T00:00:00Z; negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// 9999-12-31T23:59:59.999Z, the last moment RFC 3339 can spell.
    pub const MAX: Self = Self(253_402_300_799_999);
    /// 0000-01-01T00:00:00.000Z, the first one.
    pub const MIN: Self = Self(-62_167_219_200_000);

    #[must_use]
    pub fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

/// A text that is not a moment between the years 0 and 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an RFC 3339 time such as 2025-01-15T10:30:00.000Z")]
pub struct BadTime(String);

impl Millis {
    /// `None` for what RFC 3339 cannot spell.
    fn spelled(self) -> Option<[u8; 24]> {
        let moment = OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1_000)).ok()?;
        let year = u16::try_from(moment.year()).ok()?;
        let (month, day) = (u8::from(moment.month()).into(), moment.day().into());
        let (hour, minute, second) = (moment.hour().into(), moment.minute().into(), moment.second().into());
        let millisecond = u16::try_from(self.0.rem_euclid(1_000)).ok()?;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let parts = [(0..4, year), (5..7, month), (8..10, day), (11..13, hour), (14..16, minute), (17..19, second)];
        for (place, mut number) in parts.into_iter().chain([(20..23, millisecond)]) {
            for digit in text[place].iter_mut().rev() {
                *digit += u8::try_from(number % 10).expect("a digit is below 10");
                number /= 10;
            }
        }
        Some(text)
    }
}

/// By hand: it is written several times in every answer and every line of the log.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spelled() {
            Some(text) => f.write_str(str::from_utf8(&text).expect("digits are ASCII")),
            None => write!(f, "{} ms", self.0),
        }
    }
}

impl FromStr for Millis {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime(text.chars().take(64).collect());
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| bad())?;
        let milliseconds = moment.unix_timestamp_nanos().div_euclid(1_000_000);
        let milliseconds = i64::try_from(milliseconds).map(Self).map_err(|_| bad())?;
        if (Self::MIN..=Self::MAX).contains(&milliseconds) { Ok(milliseconds) } else { Err(bad()) }
    }
}

impl serde::Serialize for Millis {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.spelled() {
            Some(text) => serializer.serialize_str(str::from_utf8(&text).expect("digits are ASCII")),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Millis {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_converted_to_utc() {
        let moment: Millis = "2025-01-15T11:30:00.5+01:00".parse().unwrap();
        assert_eq!(moment.to_string(), "2025-01-15T10:30:00.500Z");
    }

    #[test]
    fn every_part_has_its_width() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (1_107_398_706_007, "2005-02-03T02:45:06.007Z"),
            (Millis::MIN.0, "0000-01-01T00:00:00.000Z"),
            (Millis::MAX.0, "9999-12-31T23:59:59.999Z"),
            (Millis::MAX.0 + 1, "253402300800000 ms"),
            (Millis::MIN.0 - 1, "-62167219200001 ms"),
        ] {
            assert_eq!(Millis(milliseconds).to_string(), text);
        }
        assert_eq!(serde_json::to_string(&Millis(-1)).unwrap(), "\"1969-12-31T23:59:59.999Z\"");
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["", "2025-01-15", "2025-01-15T10:30:00", "yesterday", "2025-02-30T00:00:00Z"] {
            assert!(text.parse::<Millis>().is_err(), "{text:?} was taken for a time");
        }
    }
}
