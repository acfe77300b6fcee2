//! Numbers as JavaScript writes and reads them.

use crate::canonical::shortest;

/// The text of a number.
pub(super) fn to_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let scientific = shortest(number.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect("a scientific spelling has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    format!("{sign}{}", place_point(digits.trim_end_matches('0'), exponent + 1))
}

/// Digits with the decimal point after `point` of them: plain from 1e-6 up to 1e21, else with an exponent.
fn place_point(digits: &str, point: i32) -> String {
    match usize::try_from(point) {
        Ok(whole) if (1..=21).contains(&whole) => match digits.split_at_checked(whole) {
            Some((whole, "")) => whole.to_owned(),
            Some((whole, fraction)) => format!("{whole}.{fraction}"),
            None => format!("{digits:0<whole$}"),
        },
        _ if (-5..=0).contains(&point) => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point_before_rest = if rest.is_empty() { "" } else { "." };
            format!("{first}{point_before_rest}{rest}e{:+}", point - 1)
        }
    }
}

/// What a text is worth as a number; NaN if it is none.
pub(super) fn from_text(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return 0.0;
    }
    let radix = |prefixes: [&str; 2]| prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
    if let Some(digits) = radix(["0x", "0X"]) {
        return from_digits(digits, 4);
    }
    if let Some(digits) = radix(["0o", "0O"]) {
        return from_digits(digits, 3);
    }
    if let Some(digits) = radix(["0b", "0B"]) {
        return from_digits(digits, 1);
    }
    match text {
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ if is_decimal(text) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// Digits of `bits` bits each, rounded once.
fn from_digits(digits: &str, bits: u32) -> f64 {
    let (mut leading, mut dropped, mut is_inexact) = (0_u128, 0_i32, false);
    for character in digits.chars() {
        let Some(digit) = character.to_digit(1 << bits) else { return f64::NAN };
        if leading >> 120 == 0 {
            leading = (leading << bits) | u128::from(digit);
        } else {
            dropped = dropped.saturating_add_unsigned(bits);
            is_inexact |= digit != 0;
        }
    }
    if digits.is_empty() {
        return f64::NAN;
    }
    #[expect(clippy::cast_precision_loss, reason = "rounding once is what is asked for")]
    let rounded = (leading | u128::from(is_inexact)) as f64;
    rounded * 2_f64.powi(dropped.min(2_000))
}

/// Digits with at most one point, then perhaps an exponent.
fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    has_digits
        && are_digits(whole)
        && are_digits(fraction)
        && exponent.is_none_or(|exponent| !exponent.is_empty() && are_digits(exponent))
}

/// White space and line ends.
pub(super) fn is_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// The whole part, towards zero; NaN counts as none.
pub(super) fn to_integer(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.trunc() }
}

/// `base ** exponent`, which differs from the usual power where the result would not depend on the base.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    #[expect(clippy::float_cmp, reason = "exactly one is meant")]
    let is_undecided = base.abs() == 1.0 && exponent.is_infinite();
    if exponent.is_nan() || is_undecided { f64::NAN } else { base.powf(exponent) }
}
