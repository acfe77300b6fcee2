//! The text a process answers with: Handlebars, of which `{{path}}`, `#if`, `#each` and `else` are understood.
//!
//! Nothing is escaped, for the text is no HTML. A variable is written `{{x}}`, `{{context.x}}` or `{{step.x}}` and must
//! be declared (BR-PROCESS-005); inside `#each` a path begins at the element, `../x` and `@root.x` lead out of it, and
//! `@index`, `@key`, `@first`, `@last` say which one it is. Texts are written as they are, null and nothing as nothing,
//! anything else as JSON. An empty list or object, zero and the empty text count as false.
//!
//! A template is parsed by the Handlebars parser, after [`syntax_check`] has seen that it is small and has nothing else in it,
//! and rendered by [`render`], which counts what it does.

mod render;
mod syntax_check;
#[cfg(test)]
mod tests;

use handlebars::template::{HelperTemplate, Parameter, TemplateElement};

use crate::flow::scope::{Names, Spelling, Variable, VariableScope};
use crate::rule::RuleViolation;

pub use render::OUTPUT_BYTES_MAX;
pub use syntax_check::{TEMPLATE_BYTES_MAX, TEMPLATE_TAGS_MAX};

/// Deepest nesting of blocks, those of `else if` included.
pub const TEMPLATE_DEPTH_MAX: usize = 64;

const ALLOWED: &str =
    "use {{path}}, {{#if path}}, {{#each path}}, {{else}} and their ends; \\{{ for braces that are meant";

/// A template that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Value(Path),
    If { test: Path, then: Vec<Piece>, otherwise: Vec<Piece> },
    Each { list: Path, body: Vec<Piece>, otherwise: Vec<Piece> },
}

/// Where a value is found.
#[derive(Debug, Clone, PartialEq)]
enum Path {
    Variable(Variable, Vec<String>),
    /// In the element of the block that many levels up.
    Element(usize, Vec<String>),
    Which(usize, ElementPosition),
}

/// Which element of a list it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementPosition {
    Index,
    Key,
    First,
    Last,
}

impl Template {
    /// Understands a template; each variable must be known (BR-PROCESS-005).
    pub(crate) fn parse(source: &str, names: &Names) -> Result<Self, RuleViolation> {
        syntax_check::check(source).and_then(|()| parse(source, names)).map(|pieces| Self { pieces }).map_err(
            |problem| {
                RuleViolation::new("BR-PROCESS-005", format!("the outputTemplate cannot be used: {problem}"), ALLOWED)
            },
        )
    }

    pub(crate) fn render(&self, scope: &VariableScope) -> Result<String, RuleViolation> {
        render::render(&self.pieces, scope).map_err(|problem| {
            let remedy = "let the process answer with less of what its steps found";
            RuleViolation::new("BR-PROCESS-005", problem, remedy)
        })
    }

    /// The variable that alone fills the template, as it is or by its member `text`; white space around it is nothing.
    pub(crate) fn sole_variable(&self) -> Option<&Variable> {
        let is_space = |piece: &&Piece| matches!(piece, Piece::Text(text) if text.trim().is_empty());
        let mut pieces = self.pieces.iter().filter(|piece| !is_space(piece));
        let (Some(Piece::Value(Path::Variable(variable, members))), None) = (pieces.next(), pieces.next()) else {
            return None;
        };
        (members.is_empty() || *members == ["text"]).then_some(variable)
    }
}

fn parse(source: &str, names: &Names) -> Result<Vec<Piece>, String> {
    let parsed = handlebars::Template::compile(source).map_err(|error| format!("{}", error.reason()))?;
    Reader { names }.pieces(&parsed, 0, 0)
}

struct Reader<'n> {
    names: &'n Names<'n>,
}

impl Reader<'_> {
    /// What stands inside `each` blocks of that number, at that depth of blocks of any kind.
    fn pieces(&self, template: &handlebars::Template, each: usize, depth: usize) -> Result<Vec<Piece>, String> {
        if depth > TEMPLATE_DEPTH_MAX {
            return Err(format!("its blocks are nested deeper than {TEMPLATE_DEPTH_MAX} levels"));
        }
        let mut pieces = Vec::with_capacity(template.elements.len());
        for element in &template.elements {
            match element {
                TemplateElement::RawString(text) => pieces.push(Piece::Text(text.clone())),
                TemplateElement::Expression(tag) | TemplateElement::HtmlExpression(tag) => {
                    if !tag.params.is_empty() || !tag.hash.is_empty() {
                        return Err(format!("it calls the helper {:?}", tag.name.as_name().unwrap_or_default()));
                    }
                    pieces.push(Piece::Value(self.path(&tag.name, each)?));
                }
                TemplateElement::HelperBlock(block) => pieces.push(self.block(block, each, depth)?),
                TemplateElement::Comment(_) => {}
                _ => return Err("it has a partial or a decorator".to_owned()),
            }
        }
        Ok(pieces)
    }

    fn block(&self, block: &HelperTemplate, each: usize, depth: usize) -> Result<Piece, String> {
        let name = block.name.as_name().unwrap_or_default();
        let [parameter] = block.params.as_slice() else {
            return Err(format!("the block #{name} has not one path"));
        };
        if !block.hash.is_empty() || block.block_param.is_some() {
            return Err(format!("the block #{name} has more than one path"));
        }
        let path = self.path(parameter, each)?;
        let inner = |template: Option<&handlebars::Template>, each| match template {
            Some(template) => self.pieces(template, each, depth + 1),
            None => Ok(Vec::new()),
        };
        let otherwise = inner(block.inverse.as_ref(), each)?;
        match name {
            "if" => Ok(Piece::If { test: path, then: inner(block.template.as_ref(), each)?, otherwise }),
            "each" => Ok(Piece::Each { list: path, body: inner(block.template.as_ref(), each + 1)?, otherwise }),
            _ => Err(format!("it has a block #{name}")),
        }
    }

    fn path(&self, parameter: &Parameter, each: usize) -> Result<Path, String> {
        let source = match parameter {
            Parameter::Name(name) => name.as_str(),
            Parameter::Path(handlebars::Path::Relative((_, raw)) | handlebars::Path::Local((_, _, raw))) => raw,
            _ => return Err("a path is expected where it has a value".to_owned()),
        };
        let (local, rest) = match source.strip_prefix('@') {
            Some("root") => return Err("@root is no value".to_owned()),
            Some(rest) => match rest.strip_prefix("root.").or_else(|| rest.strip_prefix("root/")) {
                Some(rest) => return self.variable(rest, source),
                None => (true, rest),
            },
            None => (false, source),
        };
        let mut rest = rest.strip_prefix("./").unwrap_or(rest);
        let mut up = 0;
        while let Some(outer) = rest.strip_prefix("../") {
            (up, rest) = (up + 1, outer);
        }
        if local {
            return which(rest)
                .filter(|_| up < each)
                .map(|which| Path::Which(up, which))
                .ok_or_else(|| format!("{{{{{source}}}}} is none of @index, @key, @first and @last inside #each"));
        }
        if up < each {
            return Ok(Path::Element(up, members(rest)));
        }
        if up > each {
            return Err(format!("{{{{{source}}}}} leads out of the template"));
        }
        self.variable(rest, source)
    }

    /// A path that begins among the variables.
    fn variable(&self, rest: &str, source: &str) -> Result<Path, String> {
        let mut words = members(rest);
        let qualified = match words.as_slice() {
            [space, name, ..] => Spelling::qualified(space, name),
            _ => None,
        };
        let spelling = qualified.unwrap_or(Spelling::Bare(words.first().map_or("", String::as_str)));
        let used = if qualified.is_some() { 2 } else { 1 };
        let variable = self
            .names
            .find(spelling)
            .ok_or_else(|| format!("{{{{{source}}}}} names no variable of the process; {}", self.names.describe()))?;
        Ok(Path::Variable(variable, words.split_off(used)))
    }
}

fn members(path: &str) -> Vec<String> {
    path.split(['.', '/']).filter(|word| !word.is_empty() && *word != "this").map(str::to_owned).collect()
}

fn which(word: &str) -> Option<ElementPosition> {
    match word {
        "index" => Some(ElementPosition::Index),
        "key" => Some(ElementPosition::Key),
        "first" => Some(ElementPosition::First),
        "last" => Some(ElementPosition::Last),
        _ => None,
    }
}
