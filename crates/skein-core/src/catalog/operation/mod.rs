//! Defines the operation of a tool: one request, as data with placeholders for its inputs.
//!
//! Its variables are found by parsing ([`Operation::variables`]), and filling them in gives a value that somebody else
//! sends: [`rest::RestCall::render`], [`prompt::LlmCall::render`], [`GraphQuery::parameters`], [`McpCall::render`].

pub mod cypher;
pub mod prompt;
pub mod rest;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::json_template::JsonTemplate;
use crate::catalog::operation::prompt::LlmCall;
use crate::catalog::operation::rest::RestCall;
use crate::catalog::placeholder::Inputs;
use crate::catalog::schema::{AtOnce, SchemaJudge};
use crate::rule::RuleViolation;

/// Longest graph query, in bytes.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Longest name of a tool on an MCP server, in bytes.
const TOOL_NAME_BYTES_MAX: usize = 200;

/// Which kind of operation; a service's type decides it (decision A53).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationType {
    GraphQuery,
    RestCall,
    LlmCall,
    McpTool,
}

impl OperationType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GraphQuery => "graph_query",
            Self::RestCall => "rest_call",
            Self::LlmCall => "llm_call",
            Self::McpTool => "mcp_tool",
        }
    }
}

/// One thing to do, tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Operation {
    GraphQuery(GraphQuery),
    RestCall(Box<RestCall>),
    LlmCall(LlmCall),
    McpTool(McpCall),
}

/// A Cypher query; its parameters are the inputs of the same names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    pub query: String,
}

/// A call of a tool that an MCP server offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpCall {
    /// The name the server knows it by.
    pub tool: String,
    #[serde(default = "no_arguments")]
    pub arguments: JsonTemplate,
}

fn no_arguments() -> JsonTemplate {
    JsonTemplate::Object(Vec::new())
}

impl Operation {
    /// Understands an operation as a client sends it.
    pub fn parse(operation: &Value) -> Result<Self, RuleViolation> {
        Self::parse_by(operation, &AtOnce)
    }

    /// [`Self::parse`] with a judge of the schemas in it.
    pub fn parse_by<J: SchemaJudge>(operation: &Value, judge: &J) -> Result<Self, J::Error> {
        let parsed: Self = serde_json::from_value(operation.clone()).map_err(|error| {
            let problem = format!("the operation is not understood: {error}");
            RuleViolation::new("BR-TOOL-002", problem, "describe a graph_query, rest_call, llm_call or mcp_tool")
        })?;
        parsed.check(judge)?;
        Ok(parsed)
    }

    fn check<J: SchemaJudge>(&self, judge: &J) -> Result<(), J::Error> {
        match self {
            Self::GraphQuery(query) => Ok(query.check()?),
            Self::RestCall(call) => Ok(call.check()?),
            Self::LlmCall(call) => call.check(judge),
            Self::McpTool(call) => Ok(call.check()?),
        }
    }

    pub fn kind(&self) -> OperationType {
        match self {
            Self::GraphQuery(_) => OperationType::GraphQuery,
            Self::RestCall(_) => OperationType::RestCall,
            Self::LlmCall(_) => OperationType::LlmCall,
            Self::McpTool(_) => OperationType::McpTool,
        }
    }

    /// The names of all inputs it mentions.
    pub fn variables(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        match self {
            Self::GraphQuery(query) => names = cypher::parameters(&query.query),
            Self::RestCall(call) => call.variables(&mut names),
            Self::LlmCall(call) => call.variables(&mut names),
            Self::McpTool(call) => call.arguments.variables(&mut names),
        }
        names
    }
}

impl GraphQuery {
    fn check(&self) -> Result<(), RuleViolation> {
        if !self.query.trim().is_empty() && self.query.len() <= QUERY_BYTES_MAX {
            return Ok(());
        }
        Err(RuleViolation::new("BR-TOOL-002", "a graph_query has a query of up to 64 KiB", "give a Cypher query"))
    }

    /// The values of the query's parameters; one without an input is `null`.
    pub fn parameters(&self, inputs: &Inputs) -> Map<String, Value> {
        let value = |name: &String| inputs.get(name).cloned().unwrap_or(Value::Null);
        cypher::parameters(&self.query).into_iter().map(|name| (name.clone(), value(&name))).collect()
    }
}

impl McpCall {
    fn check(&self) -> Result<(), RuleViolation> {
        let has_name = !self.tool.trim().is_empty() && self.tool.len() <= TOOL_NAME_BYTES_MAX;
        if has_name && matches!(self.arguments, JsonTemplate::Object(_)) {
            return Ok(());
        }
        let remedy = "give the tool's name, and its arguments as an object";
        Err(RuleViolation::new("BR-TOOL-002", "an mcp_tool names a tool and maps its arguments", remedy))
    }

    /// The arguments with every place filled.
    pub fn render(&self, inputs: &Inputs) -> Result<Map<String, Value>, RuleViolation> {
        match self.arguments.render(inputs)? {
            Some(Value::Object(arguments)) => Ok(arguments),
            _ => Ok(Map::new()),
        }
    }
}
