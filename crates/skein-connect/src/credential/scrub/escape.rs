//! Decodes one escaped character: JSON, source code, CSS, HTML and percent escapes, up to two layers deep.
//!
//! An escape of the second layer is spelled in characters of the first: `&amp;#61;`, `%253D` and `\\u003d` are all `=`.

/// Layers of escapes that are understood.
const LAYERS: u8 = 2;
/// Most digits of a number, leading zeros included: no escape is long, so a stream waits for few bytes.
const DIGITS_MAX: usize = 32;
/// Most digits of a number in CSS.
const CSS_DIGITS_MAX: usize = 6;

/// Entities of characters that keys are made of, besides letters and digits.
const ENTITIES: [(&str, u8); 45] = [
    ("amp", b'&'),
    ("AMP", b'&'),
    ("lt", b'<'),
    ("LT", b'<'),
    ("gt", b'>'),
    ("GT", b'>'),
    ("quot", b'"'),
    ("QUOT", b'"'),
    ("apos", b'\''),
    ("equals", b'='),
    ("plus", b'+'),
    ("sol", b'/'),
    ("bsol", b'\\'),
    ("colon", b':'),
    ("semi", b';'),
    ("comma", b','),
    ("period", b'.'),
    ("excl", b'!'),
    ("num", b'#'),
    ("dollar", b'$'),
    ("percnt", b'%'),
    ("lpar", b'('),
    ("rpar", b')'),
    ("ast", b'*'),
    ("midast", b'*'),
    ("lowbar", b'_'),
    ("UnderBar", b'_'),
    ("lsqb", b'['),
    ("lbrack", b'['),
    ("rsqb", b']'),
    ("rbrack", b']'),
    ("lcub", b'{'),
    ("lbrace", b'{'),
    ("rcub", b'}'),
    ("rbrace", b'}'),
    ("verbar", b'|'),
    ("vert", b'|'),
    ("VerticalLine", b'|'),
    ("grave", b'`'),
    ("Hat", b'^'),
    ("commat", b'@'),
    ("quest", b'?'),
    ("Tab", b'\t'),
    ("NewLine", b'\n'),
    ("DiacriticalGrave", b'`'),
];

/// The text may go on: whether an escape stands here is not known yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Incomplete;

/// Decoded bytes, and how many bytes spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    bytes: [u8; 4],
    count: usize,
    pub(super) len: usize,
}

impl Unit {
    fn byte(byte: u8, len: usize) -> Self {
        Self { bytes: [byte, 0, 0, 0], count: 1, len }
    }

    fn char(character: char, len: usize) -> Self {
        let mut bytes = [0; 4];
        let count = character.encode_utf8(&mut bytes).len();
        Self { bytes, count, len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

/// A text of which the end may still be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_end: bool,
}

/// Whether a byte may begin an escape.
pub(super) fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'&' | b'%')
}

impl<'a> Text<'a> {
    /// Every reading of the character at a place: as it stands, and decoded. What CSS writes may be octal as well.
    pub(super) fn units(&self, at: usize) -> Result<[Option<Unit>; 5], Incomplete> {
        let byte = self.bytes[at];
        let mut units = [Some(Unit::byte(byte, 1)), None, None, None, None];
        if begins_escape(byte) {
            units[1] = self.escape(1, at)?;
            units[2] = self.escape(LAYERS, at)?.filter(|unit| units[1] != Some(*unit));
            units[3] = self.css_escape(1, at)?;
            units[4] = self.css_escape(LAYERS, at)?.filter(|unit| units[3] != Some(*unit));
        }
        Ok(units)
    }

    /// The character at a place, with the escapes of this many layers decoded.
    fn character(&self, layer: u8, at: usize) -> Result<Option<Unit>, Incomplete> {
        if layer > 0
            && let Some(unit) = self.escape(layer, at)?
        {
            return Ok(Some(unit));
        }
        match self.bytes.get(at) {
            Some(byte) => Ok(Some(Unit::byte(*byte, 1))),
            None if self.is_end => Ok(None),
            None => Err(Incomplete),
        }
    }

    /// An escape that is spelled in characters of the layer below.
    fn escape(&self, layer: u8, at: usize) -> Result<Option<Unit>, Incomplete> {
        let mut reader = self.reader(layer, at);
        match reader.next()? {
            Some(b'\\') => reader.backslash(),
            Some(b'&') => reader.entity(),
            Some(b'%') => reader.percent(),
            _ => Ok(None),
        }
    }

    fn css_escape(&self, layer: u8, at: usize) -> Escape {
        let mut reader = self.reader(layer, at);
        if reader.next()? == Some(b'\\') { reader.css() } else { Ok(None) }
    }

    fn reader(&self, layer: u8, at: usize) -> Reader<'_, 'a> {
        Reader { text: self, layer: layer - 1, start: at, at }
    }
}

/// Reads the characters of one escape.
#[derive(Clone, Copy)]
struct Reader<'t, 'a> {
    text: &'t Text<'a>,
    layer: u8,
    start: usize,
    at: usize,
}

type Escape = Result<Option<Unit>, Incomplete>;

impl Reader<'_, '_> {
    /// The next ASCII character; none at the end of the text and before any other character.
    fn next(&mut self) -> Result<Option<u8>, Incomplete> {
        let unit = self.text.character(self.layer, self.at)?;
        let Some(unit) = unit.filter(|unit| unit.count == 1 && unit.bytes[0].is_ascii()) else { return Ok(None) };
        self.at += unit.len;
        Ok(Some(unit.bytes[0]))
    }

    fn backslash(&mut self) -> Escape {
        let Some(kind) = self.next()? else { return Ok(None) };
        let plain = match kind {
            b'u' => return self.utf16(),
            b'U' => return Ok(self.digits(8, 16)?.and_then(|number| self.character(number))),
            b'x' => return self.hexadecimal(),
            b'0'..=b'7' => return self.octal(kind - b'0'),
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            other if other.is_ascii_punctuation() => other,
            _ => return Ok(None),
        };
        Ok(Some(self.unit(plain)))
    }

    /// `\x3d`, `\x{3d}`.
    fn hexadecimal(&mut self) -> Escape {
        if self.skip(b'{')? {
            return self.braced();
        }
        let byte = self.digits(2, 16)?.and_then(|byte| u8::try_from(byte).ok());
        Ok(byte.map(|byte| self.unit(byte)))
    }

    /// `\75`, `\075`: as many digits as make a byte.
    fn octal(&mut self, first: u8) -> Escape {
        let mut number = u32::from(first);
        for _ in 0..2 {
            let mut ahead = *self;
            let digit = ahead.next()?.and_then(|digit| char::from(digit).to_digit(8));
            let Some(more) = digit.map(|digit| number * 8 + digit).filter(|more| *more <= 0xff) else { break };
            (number, *self) = (more, ahead);
        }
        Ok(u8::try_from(number).ok().map(|byte| self.unit(byte)))
    }

    /// `\3d`, with a space or line end that belongs to it.
    fn css(&mut self) -> Escape {
        let Some(number) = self.number(16, CSS_DIGITS_MAX)? else { return Ok(None) };
        let mut ahead = *self;
        match ahead.next()? {
            Some(b'\r') => {
                *self = ahead;
                self.skip(b'\n')?;
            }
            Some(b' ' | b'\t' | b'\n' | 12) => *self = ahead,
            _ => {}
        }
        Ok(self.character(number))
    }

    fn braced(&mut self) -> Escape {
        let number = self.number(16, DIGITS_MAX)?;
        let is_closed = self.skip(b'}')?;
        Ok(number.filter(|_| is_closed).and_then(|number| self.character(number)))
    }

    /// `\u003d`, `\u{3d}`, and pairs of surrogates.
    fn utf16(&mut self) -> Escape {
        if self.skip(b'{')? {
            return self.braced();
        }
        let Some(first) = self.digits(4, 16)? else { return Ok(None) };
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(self.character(first));
        }
        if self.next()? != Some(b'\\') || self.next()? != Some(b'u') {
            return Ok(None);
        }
        let second = self.digits(4, 16)?.filter(|second| (0xdc00..0xe000).contains(second));
        Ok(second.and_then(|second| self.character(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))))
    }

    /// `&equals;`, `&#61;`, `&#x3D;`; the semicolon may be missing.
    fn entity(&mut self) -> Escape {
        if !self.skip(b'#')? {
            return self.named_entity();
        }
        let mut ahead = *self;
        let radix = if matches!(ahead.next()?, Some(b'x' | b'X')) { 16 } else { 10 };
        if radix == 16 {
            *self = ahead;
        }
        let Some(number) = self.number(radix, DIGITS_MAX)? else { return Ok(None) };
        self.skip(b';')?;
        Ok(self.character(number))
    }

    /// The longest name there is: `&lty` is `<y`, as in browsers.
    fn named_entity(&mut self) -> Escape {
        let (mut name, mut found) = (String::new(), None);
        while let Some(letter) = self.next()?.filter(u8::is_ascii_alphabetic) {
            name.push(char::from(letter));
            let mut known = ENTITIES.iter().filter(|(known, _)| known.starts_with(&name)).peekable();
            if known.peek().is_none() {
                break;
            }
            let whole = known.find(|(known, _)| *known == name);
            found = whole.map(|(_, byte)| (*byte, self.at)).or(found);
        }
        let Some((byte, after)) = found else { return Ok(None) };
        self.at = after;
        self.skip(b';')?;
        Ok(Some(self.unit(byte)))
    }

    /// `%3D`, and `%u003D` of old scripts.
    fn percent(&mut self) -> Escape {
        let mut ahead = *self;
        if matches!(ahead.next()?, Some(b'u' | b'U')) {
            *self = ahead;
            let number = self.digits(4, 16)?;
            return Ok(number.and_then(|number| self.character(number)));
        }
        let byte = self.digits(2, 16)?.and_then(|byte| u8::try_from(byte).ok());
        Ok(byte.map(|byte| self.unit(byte)))
    }

    /// Passes a character if it stands here.
    fn skip(&mut self, character: u8) -> Result<bool, Incomplete> {
        let mut ahead = *self;
        let stands_here = ahead.next()? == Some(character);
        if stands_here {
            *self = ahead;
        }
        Ok(stands_here)
    }

    /// Exactly this many digits.
    fn digits(&mut self, count: usize, radix: u32) -> Result<Option<u32>, Incomplete> {
        let mut number = 0;
        for _ in 0..count {
            let Some(digit) = self.next()?.and_then(|digit| char::from(digit).to_digit(radix)) else { return Ok(None) };
            number = number * radix + digit;
        }
        Ok(Some(number))
    }

    /// All digits there are, up to a number of them.
    fn number(&mut self, radix: u32, digits_max: usize) -> Result<Option<u32>, Incomplete> {
        let (mut number, mut count) = (0_u32, 0);
        while count < digits_max {
            let mut ahead = *self;
            let Some(digit) = ahead.next()?.and_then(|digit| char::from(digit).to_digit(radix)) else { break };
            number = number.saturating_mul(radix).saturating_add(digit);
            (count, *self) = (count + 1, ahead);
        }
        Ok((count > 0).then_some(number))
    }

    fn unit(&self, byte: u8) -> Unit {
        Unit::byte(byte, self.at - self.start)
    }

    fn character(&self, number: u32) -> Option<Unit> {
        char::from_u32(number).map(|character| Unit::char(character, self.at - self.start))
    }
}
