//! Reads server-sent events from bytes that arrive in pieces of any size.
//!
//! Our own because the bytes must be kept exactly as they came: what this is given stays with the caller, and
//! it only says where events lie in it. Follows the HTML standard, except that an event whose closing empty line
//! is missing at the end of the stream is still given out: many servers end that way.

/// One event: its name (empty when it has none) and its data lines joined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    pub name: String,
    pub data: String,
}

/// What is left over from earlier pieces.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    is_begun: bool,
}

impl Events {
    /// Takes the next piece and gives the events it completes.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in piece {
            let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// Ends the stream and gives the event that was still open.
    pub fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            let _ = self.end_line();
        }
        self.take_event()
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let line = if is_first { line.trim_start_matches('\u{feff}') } else { &line };
        if line.is_empty() {
            return self.take_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        self.take_field(field, value.strip_prefix(' ').unwrap_or(value));
        None
    }

    fn take_field(&mut self, field: &str, value: &str) {
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments, ids and reconnection times mean nothing to an answer that cannot be resumed.
            _ => {}
        }
    }

    fn take_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Events};

    fn check(stream: &str, expected: &[(&str, &str)]) {
        let expected: Vec<Event> =
            expected.iter().map(|(name, data)| Event { name: (*name).to_owned(), data: (*data).to_owned() }).collect();
        for size in 1..=stream.len().max(1) {
            let mut events = Events::default();
            let mut found: Vec<Event> = stream.as_bytes().chunks(size).flat_map(|piece| events.push(piece)).collect();
            found.extend(events.finish());
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn events_end_at_empty_lines_whatever_ends_a_line() {
        check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
        check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn names_comments_and_several_lines_of_data_are_read() {
        check(": hello\nevent: ping\ndata: {\ndata: }\nid: 7\n\n", &[("ping", "{\n}")]);
        check("event: nothing\n\ndata\n\n", &[("", "")]);
        check("data:  two spaces\n\n", &[("", " two spaces")]);
    }

    #[test]
    fn a_byte_order_mark_and_a_missing_end_are_forgiven() {
        check("\u{feff}data: a\n\n", &[("", "a")]);
        check("data: a\n\ndata: [DONE]", &[("", "a"), ("", "[DONE]")]);
        check("", &[]);
    }
}
