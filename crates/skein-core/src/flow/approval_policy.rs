//! Decides whether a person approves a call whose arguments a model filled in. The engine asks this function and no other.
//!
//! Text that a model reads can hold a stranger's instructions. So a call without approval reaches only the host that the
//! tool's author wrote down: an argument that names an address could send anything anywhere. A call that a model asks for
//! changes nothing without approval either; what a step does is the choice of the person who wrote the process.

use serde_json::Value;

use crate::catalog::operation::Operation;
use crate::catalog::tool::Tool;
use crate::flow::address::names_address;
use crate::flow::argument_schema::DeclaredArgument;
use crate::flow::step::Approval;

/// Skein's own tools that change nothing and reach no host.
const READING_ABILITIES: [&str; 3] = ["echo", "conversation_context", "search"];
/// Words in the name of an argument that holds an address.
const ADDRESS_WORDS: [&str; 28] = [
    "url", "urls", "uri", "uris", "iri", "href", "host", "hosts", "hostname", "domain", "domains", "endpoint",
    "webhook", "callback", "proxy", "link", "links", "site", "sites", "website", "server", "servers", "src", "feed",
    "feeds", "ip", "ips", "redirect",
];

/// Who asks for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOrigin {
    /// A model that was offered the tool, and what the offer says of approval.
    Model(Option<Approval>),
    /// A step of a process. The arguments are those of its inputs that derive from a model's output.
    Step,
}

/// Whether an ability of Skein's own service changes nothing.
pub fn is_reading_ability(name: &str) -> bool {
    READING_ABILITIES.contains(&name)
}

/// Whether a person approves a call of `tool` with the `arguments` that a model filled in. The offer's own choice comes first.
/// By default a call that a model asks for needs approval unless it only reads and its host is fixed by the tool's definition;
/// a step's call needs approval unless its host is fixed. `is_own` marks tools of Skein's own service.
pub fn needs_approval(asked_by: CallOrigin, tool: &Tool, is_own: bool, arguments: &Value) -> bool {
    match asked_by {
        CallOrigin::Model(Some(Approval::Never)) => false,
        CallOrigin::Model(Some(Approval::Always | Approval::Once)) => true,
        CallOrigin::Model(None) => !only_reads(&tool.operation, is_own) || !has_fixed_host(tool, is_own, arguments),
        CallOrigin::Step => !has_fixed_host(tool, is_own, arguments),
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
/// the host that the argument names. A provider of models is sent text and fetches nothing.
fn has_fixed_host(tool: &Tool, is_own: bool, arguments: &Value) -> bool {
    let own = tool.address().unwrap_or_default();
    let names_host = || Reach { own }.names_host(arguments, &DeclaredArgument::of(&tool.input_schema), false);
    match &tool.operation {
        Operation::LlmCall(_) => true,
        Operation::McpTool(_) if is_own => true,
        Operation::RestCall(_) => !own.is_empty() && !own.contains('{') && !names_host(),
        Operation::McpTool(_) | Operation::GraphQuery(_) => !names_host(),
    }
}

/// The address a tool is for.
struct Reach<'a> {
    own: &'a str,
}

impl Reach<'_> {
    /// Whether a value names another host. An argument declared as an address names one whatever it says; values that the
    /// schema lists belong to the definition.
    fn names_host(&self, value: &Value, declared: &DeclaredArgument, is_address: bool) -> bool {
        if declared.is_listed() {
            return false;
        }
        let is_address = is_address || declared.is_address();
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(_) => is_address,
            Value::String(text) => self.is_foreign(text, is_address),
            Value::Array(values) => {
                let mut values = values.iter().enumerate();
                values.any(|(at, value)| self.names_host(value, &declared.element(at), is_address))
            }
            Value::Object(members) => members.iter().any(|(name, value)| {
                let is_address = is_address || is_address_name(name);
                names_address(name) || self.names_host(value, &declared.member(name), is_address)
            }),
        }
    }

    fn is_foreign(&self, text: &str, is_address: bool) -> bool {
        let own = Some(self.own).filter(|own| !own.is_empty()).and_then(|own| text.strip_prefix(own));
        match own.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#'])) {
            Some(rest) => names_address(rest.get(1..).unwrap_or_default()),
            None => names_address(text) || (is_address && !text.trim().is_empty()),
        }
    }
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
