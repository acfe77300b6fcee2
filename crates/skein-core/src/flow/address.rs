//! Tells whether a text can name an address: a URL, a host name, an IP address, `host:port` or a mailbox.
//!
//! A service may complete what it is given: it fetches `evil.example/x` as `https://evil.example/x`. So a text needs no scheme
//! to name an address. The rules follow how URL parsers read a text, and leave numbers, versions and abbreviations alone.

use core::net::Ipv6Addr;

/// Parts of a text that begin an address, as URL parsers write them.
const MARKS: [&str; 7] = ["://", ":\\", "http:", "https:", "ws:", "wss:", "ftp:"];
const BEGINNINGS: [&str; 3] = ["//", "\\\\", "/\\"];
/// Most layers of percent encoding that are read; a text with more of them counts as an address.
const LAYERS_MAX: usize = 8;
/// Endings of file names that are no top-level domains.
const FILE_ENDINGS: [&str; 32] = [
    "bmp", "cfg", "conf", "cpp", "css", "csv", "doc", "docx", "exe", "gif", "go", "htm", "html", "ini", "java", "jpeg",
    "jpg", "js", "json", "jsx", "log", "pdf", "png", "pptx", "svg", "toml", "ts", "tsx", "txt", "xlsx", "xml", "yaml",
];
/// The least number that is a public IPv4 address.
const DECIMAL_MIN: u64 = 1 << 24;

/// Whether a text can name an address, however it is percent-encoded.
pub(crate) fn names_address(text: &str) -> bool {
    let mut text = fold(text);
    for _ in 0..LAYERS_MAX {
        if has_mark(&text) || is_address(&text) || mentions_address(&text) {
            return true;
        }
        match percent_decode(&text) {
            Some(decoded) => text = fold(&decoded),
            None => return false,
        }
    }
    true
}

/// The characters as host names compare them: lower case, full-width forms as ASCII, without those that no reader sees.
fn fold(text: &str) -> String {
    let chars: Vec<char> = text.chars().map(narrow).collect();
    let is_word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_alphanumeric);
    let folded = chars.iter().enumerate().filter(|(_, c)| !is_invisible(**c)).flat_map(|(at, c)| {
        // Between words of Latin letters it is the dot of a host name; elsewhere it ends a sentence.
        let is_dot = *c == '。' && is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        if is_dot { '.' } else { *c }.to_lowercase()
    });
    folded.collect()
}

fn narrow(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '\u{2024}' => '.',
        '\u{FF61}' => '。',
        c => c,
    }
}

fn is_invisible(c: char) -> bool {
    let is_ignored = matches!(c, '\u{AD}' | '\u{34F}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}');
    is_ignored || (c.is_control() && !c.is_whitespace())
}

/// The text with its percent encoding taken away once; nothing if there is none.
fn percent_decode(text: &str) -> Option<String> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        if let (b'%', Some(high), Some(low)) = (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    (decoded.len() < bytes.len()).then(|| String::from_utf8_lossy(&decoded).into_owned())
}

fn has_mark(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    BEGINNINGS.iter().any(|mark| text.starts_with(mark)) || MARKS.iter().any(|mark| text.contains(mark))
}

/// Whether the text as a whole reads as an address without a scheme. URL parsers leave line ends and tabs out.
fn is_address(text: &str) -> bool {
    let text: String = text.trim().chars().filter(|c| !matches!(c, '\t' | '\r' | '\n')).collect();
    let end = text.find(|c: char| c.is_whitespace() || is_delimiter(c)).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    if rest.starts_with(char::is_whitespace) {
        return false;
    }
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, true),
        _ => (host, false),
    };
    let is_name = host.starts_with(char::is_alphabetic) && host.chars().all(is_host_char);
    let names_file = !port && rest.is_empty() && is_file_name(host);
    let is_number = is_decimal_address(host) || (is_short_address(host) && (port || !rest.is_empty()));
    (is_host(host) && !names_file) || is_number || (is_name && port) || host == "localhost"
}

/// Whether a part of the text is a host name with a dot, an IP address or a mailbox.
fn mentions_address(text: &str) -> bool {
    let is_outside = |c: char| !is_host_char(c);
    let mut at = 0;
    for word in text.split(is_outside) {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
        let name = word.trim_matches(['.', '-', '_']);
        let is_file = is_file_name(name) && !after.starts_with(|c: char| is_delimiter(c) || c == ':');
        if (is_host(name) && !is_file && !is_in_path(before)) || (has_letter(name) && follows_mailbox(before)) {
            return true;
        }
    }
    text.split(|c: char| !c.is_ascii_hexdigit() && !matches!(c, ':' | '.') && !c.is_alphanumeric()).any(is_ipv6)
        || text.contains("[::]")
}

fn is_host_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn is_delimiter(c: char) -> bool {
    matches!(c, '/' | '\\' | '?' | '#')
}

fn has_letter(name: &str) -> bool {
    name.contains(char::is_alphabetic)
}

/// Whether the text before a word makes it a part of a path: then the host is what the path begins with.
fn is_in_path(before: &str) -> bool {
    let above = before.strip_suffix('/');
    above.is_some_and(|above| above.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_')))
}

fn follows_mailbox(before: &str) -> bool {
    let name = before.strip_suffix('@');
    name.is_some_and(|name| name.ends_with(|c: char| is_host_char(c) || c == '+'))
}

fn is_port(port: &str) -> bool {
    !port.starts_with('0') && port.parse::<u16>().is_ok()
}

/// A name with a top-level domain, or an IPv4 address in four parts.
fn is_host(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| !label.is_empty() && label.chars().all(is_host_char);
    if labels.len() < 2 || !labels.iter().all(is_label) {
        return false;
    }
    let top = labels[labels.len() - 1];
    let is_top = top.chars().nth(1).is_some() && top.chars().all(char::is_alphabetic);
    is_top || top.starts_with("xn--") || !top.is_ascii() || (labels.len() == 4 && are_octets(&labels))
}

fn are_octets(labels: &[&str]) -> bool {
    labels.iter().all(|label| number(label).is_some_and(|octet| octet < 256))
}

/// `203.7405573` and `127.0.1` are IPv4 addresses too. They are numbers and versions more often.
fn is_short_address(host: &str) -> bool {
    let parts: Vec<Option<u64>> = host.split('.').map(number).collect();
    (2..=3).contains(&parts.len()) && parts.iter().all(|part| part.is_some_and(|part| part < DECIMAL_MIN))
}

/// An IPv4 address as one number; a day as `20261119` is none.
fn is_decimal_address(host: &str) -> bool {
    number(host).is_some_and(|number| (DECIMAL_MIN..=u64::from(u32::MAX)).contains(&number)) && !is_day(host)
}

fn is_day(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    text.len() == 8
        && (1900..2100).contains(&part(0..4))
        && (1..=12).contains(&part(4..6))
        && (1..=31).contains(&part(6..8))
}

/// A part of an IPv4 address as URL parsers read it: decimal, octal or hexadecimal.
fn number(part: &str) -> Option<u64> {
    let (digits, radix) = match (part.strip_prefix("0x"), part.strip_prefix('0')) {
        (Some(hexadecimal), _) => (hexadecimal, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (part, 10),
    };
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

fn is_ipv6(word: &str) -> bool {
    let is_one = |word: &str| word.len() > 2 && word.parse::<Ipv6Addr>().is_ok();
    is_one(word) || is_one(word.trim_end_matches([':', '.']))
}

fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| FILE_ENDINGS.contains(&ending))
}
