//! Connects a command, the API and the terminal: sends requests and shows answers in the requested format.
//!
//! The door is opened with the first question, so that nobody else is kept out while a person is still typing.

use std::io::Write;

use serde_json::{Value, json};
use skein_core::ItemId;

use crate::api_client::{ApiCall, ApiClient, ServerAddress};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Column, Paint, field, text, write_sheet, write_table};

/// As many as every list of the API gives at once.
const PAGE_ENTRIES_MAX: u64 = 100;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    People(Paint),
    Json,
    /// Only the first column, the id, or the secret that was made.
    Quiet,
}

/// How much of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListLimit {
    AtMost(u64),
    All,
}

pub(crate) struct Session<'a> {
    reach: Option<ServerAddress>,
    grant: Option<ItemId>,
    door: Option<ApiClient>,
    pub(crate) form: OutputFormat,
    pub(crate) out: &'a mut dyn Write,
}

impl<'a> Session<'a> {
    pub(crate) fn new(reach: ServerAddress, grant: Option<ItemId>, form: OutputFormat, out: &'a mut dyn Write) -> Self {
        Self { reach: Some(reach), grant, door: None, form, out }
    }

    pub(crate) fn door(&mut self) -> Result<&ApiClient, Failure> {
        if let Some(reach) = self.reach.take() {
            self.door = Some(ApiClient::open(reach, self.grant.take())?);
        }
        Ok(self.door.as_ref().expect("it stays open until the end"))
    }

    pub(crate) fn ask(&mut self, ask: &ApiCall) -> Result<Value, Failure> {
        self.door()?.call(ask)
    }

    /// One thing: its fields, or all of it as JSON, or nothing but the field that is `wanted`.
    pub(crate) fn show(&mut self, thing: &Value, fields: &[&str], wanted: &str) -> Result<Exit, Failure> {
        match self.form {
            OutputFormat::People(_) => write_sheet(self.out, thing, fields)?,
            OutputFormat::Json => writeln!(self.out, "{thing:#}")?,
            OutputFormat::Quiet => writeln!(self.out, "{}", text(field(thing, wanted)))?,
        }
        Ok(Exit::Ok)
    }

    /// The rows in one field of the answer, or all of it as JSON.
    pub(crate) fn rows(&mut self, ask: &ApiCall, field: &str, columns: &[Column]) -> Result<Exit, Failure> {
        let answer = self.ask(ask)?;
        self.show_rows(&answer, field, columns)
    }

    /// Shows the rows in one field of an answer.
    pub(crate) fn show_rows(&mut self, answer: &Value, field: &str, columns: &[Column]) -> Result<Exit, Failure> {
        let rows = answer[field].as_array().map(Vec::as_slice).unwrap_or_default();
        match self.form {
            OutputFormat::Json => writeln!(self.out, "{answer:#}")?,
            OutputFormat::People(_) if rows.is_empty() => writeln!(self.out, "There are none.")?,
            OutputFormat::People(paint) => write_table(self.out, columns, rows, Some(paint))?,
            OutputFormat::Quiet => write_table(self.out, &columns[..1], rows, None)?,
        }
        Ok(Exit::Ok)
    }

    /// Says something to people alone.
    pub(crate) fn remark(&mut self, words: &str) -> Result<(), Failure> {
        if matches!(self.form, OutputFormat::People(_)) {
            writeln!(self.out, "{words}")?;
        }
        Ok(())
    }

    /// Shows a list from a place on, page by page, until enough was shown.
    pub(crate) fn list(
        &mut self,
        ask: &ApiCall,
        columns: &[Column],
        amount: ListLimit,
        after: Option<String>,
    ) -> Result<Exit, Failure> {
        let mut writing = ListWriter { form: self.form, columns, pages: 0, written: 0 };
        let mut cursor = after;
        while let Some(wanted) = still_wanted(amount, writing.written) {
            let page = ask.clone().with("limit", Some(wanted)).with("cursor", cursor.as_ref());
            let mut page = self.ask(&page)?;
            let rows = page["data"].as_array_mut().map(std::mem::take).unwrap_or_default();
            writing.write(self.out, &rows)?;
            let next = page["pagination"]["next"].as_str().map(str::to_owned);
            // A place that does not move would be asked for without end.
            let is_last = next.is_none() || next == cursor;
            cursor = next;
            if is_last {
                break;
            }
        }
        writing.end(self.out, cursor.as_deref())?;
        if cursor.is_some() && matches!(self.form, OutputFormat::People(_)) {
            eprintln!("There are more; --limit or --all shows them.");
        }
        Ok(Exit::Ok)
    }

    /// Looks at every row of a list; says whether `pages_max` pages were enough for all of it.
    pub(crate) fn look_through(
        &mut self,
        ask: &ApiCall,
        pages_max: usize,
        mut see: impl FnMut(&Value),
    ) -> Result<bool, Failure> {
        let mut cursor: Option<String> = None;
        for _ in 0..pages_max {
            let page = ask.clone().with("limit", Some(PAGE_ENTRIES_MAX)).with("cursor", cursor.as_ref());
            let page = self.ask(&page)?;
            page["data"].as_array().map(Vec::as_slice).unwrap_or_default().iter().for_each(&mut see);
            match page["pagination"]["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Leaves, sealing what was written here.
    pub(crate) fn close(self) -> Result<(), Failure> {
        self.door.map_or(Ok(()), ApiClient::close)
    }
}

fn still_wanted(amount: ListLimit, written: u64) -> Option<u64> {
    let left = match amount {
        ListLimit::AtMost(most) => most.saturating_sub(written),
        ListLimit::All => PAGE_ENTRIES_MAX,
    };
    (left > 0).then_some(left.min(PAGE_ENTRIES_MAX))
}

/// Writes pages as they come, so that the length of a list does not matter.
struct ListWriter<'a> {
    form: OutputFormat,
    columns: &'a [Column],
    pages: u64,
    written: u64,
}

impl ListWriter<'_> {
    fn write(&mut self, out: &mut dyn Write, rows: &[Value]) -> std::io::Result<()> {
        match self.form {
            OutputFormat::People(paint) => {
                let heading = (self.written == 0 && !rows.is_empty()).then_some(paint);
                write_table(out, self.columns, rows, heading)?;
            }
            OutputFormat::Json => {
                if self.pages == 0 {
                    write!(out, "{{\"data\":[")?;
                }
                for (at, row) in rows.iter().enumerate() {
                    let comma = if self.written == 0 && at == 0 { "" } else { "," };
                    write!(out, "{comma}\n{row}")?;
                }
            }
            OutputFormat::Quiet => write_table(out, &self.columns[..1], rows, None)?,
        }
        self.pages += 1;
        self.written += rows.len() as u64;
        Ok(())
    }

    /// `next` is where the list goes on.
    fn end(&self, out: &mut dyn Write, next: Option<&str>) -> std::io::Result<()> {
        match self.form {
            OutputFormat::Json => writeln!(out, "\n],\n\"pagination\":{}}}", json!({ "next": next })),
            OutputFormat::People(_) if self.written == 0 => writeln!(out, "There are none."),
            OutputFormat::People(_) | OutputFormat::Quiet => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_one_document() {
        let mut out = Vec::new();
        let mut writing = ListWriter { form: OutputFormat::Json, columns: &[], pages: 0, written: 0 };
        writing.write(&mut out, &[json!({ "id": 1 }), json!({ "id": 2 })]).unwrap();
        writing.write(&mut out, &[json!({ "id": 3 })]).unwrap();
        writing.end(&mut out, Some("item_3")).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        let expected = json!({ "data": [{ "id": 1 }, { "id": 2 }, { "id": 3 }], "pagination": { "next": "item_3" } });
        assert_eq!(document, expected);
    }

    #[test]
    fn no_more_is_asked_for_than_is_wanted() {
        assert_eq!(still_wanted(ListLimit::AtMost(250), 0), Some(100));
        assert_eq!(still_wanted(ListLimit::AtMost(250), 200), Some(50));
        assert_eq!(still_wanted(ListLimit::AtMost(250), 250), None);
        assert_eq!(still_wanted(ListLimit::All, 1_000_000), Some(100));
    }
}
