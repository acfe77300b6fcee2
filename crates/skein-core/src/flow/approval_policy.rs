//! Decides whether a person approves a call that a model asks for. The engine asks this function and no other.
//!
//! Text that a model reads can hold a stranger's instructions. So a call without approval changes nothing, and reaches only
//! the host that the tool's author wrote down: an argument that names an address could send anything anywhere.

use serde_json::Value;

use crate::catalog::operation::Operation;
use crate::catalog::tool::Tool;
use crate::flow::step::Approval;

/// Skein's own tools that change nothing and reach no host.
const READING_ABILITIES: [&str; 3] = ["echo", "conversation_context", "search"];
/// Schemas of addresses.
const ADDRESS_FORMATS: [&str; 9] =
    ["uri", "uri-reference", "iri", "iri-reference", "url", "hostname", "idn-hostname", "ipv4", "ipv6"];
/// Words in the name of an argument that holds an address.
const ADDRESS_WORDS: [&str; 14] = [
    "url", "urls", "uri", "uris", "iri", "href", "host", "hosts", "hostname", "domain", "endpoint", "webhook",
    "callback", "proxy",
];
/// Parts of a text that begin an address, as URL parsers and percent encoding write them.
const ADDRESS_MARKS: [&str; 8] = ["://", ":\\", "http:", "https:", "ws:", "wss:", "ftp:", "%3a%2f"];
const ADDRESS_BEGINNINGS: [&str; 4] = ["//", "\\\\", "/\\", "%2f%2f"];

/// Whether an ability of Skein's own service changes nothing.
pub fn is_reading_ability(name: &str) -> bool {
    READING_ABILITIES.contains(&name)
}

/// Whether a person approves a call of `tool` with a model's `arguments`. The offer's own choice comes first. By default a
/// call needs approval unless it only reads and its host is fixed by the tool's definition. `is_own` marks tools of Skein's
/// own service.
pub fn needs_approval(offer: Option<Approval>, tool: &Tool, is_own: bool, arguments: &Value) -> bool {
    match offer {
        Some(Approval::Never) => false,
        Some(Approval::Always | Approval::Once) => true,
        None => !only_reads(&tool.operation, is_own) || !has_fixed_host(tool, arguments),
    }
}

fn only_reads(operation: &Operation, is_own: bool) -> bool {
    match operation {
        Operation::RestCall(call) => call.method.is_safe(),
        Operation::McpTool(call) => is_own && is_reading_ability(&call.tool),
        Operation::LlmCall(_) => true,
        Operation::GraphQuery(_) => false,
    }
}

/// Whether the host of the call follows from the definition alone. A service that fetches an address for its caller reaches
/// the host that the argument names.
fn has_fixed_host(tool: &Tool, arguments: &Value) -> bool {
    match &tool.operation {
        Operation::RestCall(_) => {
            let own = tool.address().unwrap_or_default();
            !own.is_empty() && !own.contains('{') && !Reach { own }.names_host(arguments, &tool.input_schema, false)
        }
        _ => true,
    }
}

/// The address a tool is for.
struct Reach<'a> {
    own: &'a str,
}

impl Reach<'_> {
    /// Whether a value names another host. An argument declared as an address names one whatever it says; values that the
    /// schema lists belong to the definition.
    fn names_host(&self, value: &Value, schema: &Value, is_address: bool) -> bool {
        if schema.get("enum").is_some() || schema.get("const").is_some() {
            return false;
        }
        let format = schema["format"].as_str().unwrap_or_default();
        let is_address = is_address || ADDRESS_FORMATS.contains(&format);
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(_) => is_address,
            Value::String(text) => self.is_foreign(text, is_address),
            Value::Array(values) => values.iter().any(|value| self.names_host(value, &schema["items"], is_address)),
            Value::Object(members) => members.iter().any(|(name, value)| {
                let is_address = is_address || is_address_name(name);
                has_address(name) || self.names_host(value, &schema["properties"][name], is_address)
            }),
        }
    }

    fn is_foreign(&self, text: &str, is_address: bool) -> bool {
        match text.strip_prefix(self.own).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#'])) {
            Some(rest) => has_address(rest.get(1..).unwrap_or_default()),
            None => has_address(text) || (is_address && !text.trim().is_empty()),
        }
    }
}

/// Whether a text holds an address. White space is left out as URL parsers do.
fn has_address(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let text = text.to_ascii_lowercase();
    ADDRESS_BEGINNINGS.iter().any(|mark| text.starts_with(mark)) || ADDRESS_MARKS.iter().any(|mark| text.contains(mark))
}

/// Whether one of the words of a name is a word for an address: `target_url`, `callbackUrl`, `HOST`.
fn is_address_name(name: &str) -> bool {
    let mut words = String::with_capacity(name.len() + 4);
    let mut is_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && is_lower {
            words.push(' ');
        }
        is_lower = c.is_lowercase() || c.is_numeric();
        words.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    words.split(' ').any(|word| ADDRESS_WORDS.contains(&word))
}
