//! Defines the supported JavaScript: the tree of an expression, and its construction from the parser's tree.
//!
//! The parser sees a text only if it is short and has few brackets, for it calls itself at each. All else that
//! JavaScript has (assignments, functions, `new`, `this`, regular expressions, names that were not declared) is
//! refused by name.

use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_ast::ast;
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use crate::flow::scope::{Names, Spelling, Variable};

/// Longest expression, in bytes.
pub const CONDITION_BYTES_MAX: usize = 2_048;
/// Most parts of an expression.
pub const CONDITION_NODES_MAX: usize = 500;
/// Deepest nesting of an expression.
pub const CONDITION_DEPTH_MAX: usize = 100;
/// Most opening brackets.
const BRACKETS_MAX: usize = 64;
/// Most operators that the parser nests to the right.
const PREFIXES_MAX: usize = 128;
const PREFIXES: [&str; 7] = ["?", "!", "~", "**", "=>", "new", "async"];

/// What is wrong with an expression, and what to do.
pub(super) type Refused = (String, &'static str);

/// An expression of the kinds that are understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    Text(Arc<[u16]>),
    Variable(Variable),
    /// `object.name`, `object["name"]`; `optional` with `?.`.
    Member {
        object: Box<Expr>,
        key: Box<Expr>,
        optional: bool,
    },
    Call {
        object: Box<Expr>,
        method: Method,
        arguments: Vec<Expr>,
        optional: bool,
    },
    /// How far a `?.` that finds nothing reaches.
    Chain(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Logical(Logical, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
    Template(Vec<Arc<[u16]>>, Vec<Expr>),
}

/// Methods that change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Includes,
    StartsWith,
    EndsWith,
    Trim,
    ToLowerCase,
    ToUpperCase,
}

impl Method {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "includes" => Self::Includes,
            "startsWith" => Self::StartsWith,
            "endsWith" => Self::EndsWith,
            "trim" => Self::Trim,
            "toLowerCase" => Self::ToLowerCase,
            "toUpperCase" => Self::ToUpperCase,
            _ => return None,
        })
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Includes => "includes",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Trim => "trim",
            Self::ToLowerCase => "toLowerCase",
            Self::ToUpperCase => "toUpperCase",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
    Plus,
    Typeof,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logical {
    And,
    Or,
    Coalesce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Equal,
    NotEqual,
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    In,
}

const SIMPLIFY: &str = "split the work among steps, and test a variable of theirs";
const ALLOWED: &str = "use literals, variables, members, lists, comparisons, && || ?? !, ?:, arithmetic, in, typeof, \
                       .length, .includes, .startsWith, .endsWith, .trim, .toLowerCase, .toUpperCase";

pub(super) fn parse(source: &str, names: &Names) -> Result<Expr, Refused> {
    check_bounds(source)?;
    let allocator = Allocator::new();
    let parsed = Parser::new(&allocator, source, SourceType::script()).parse_expression();
    let expression = parsed.map_err(|errors| {
        let reason = errors.first().map_or_else(|| "it is incomplete".to_owned(), |error| error.message.to_string());
        (format!("it is not JavaScript: {reason}"), "write one JavaScript expression")
    })?;
    Reader { names, nodes: 0 }.read(&expression, 0)
}

fn check_bounds(source: &str) -> Result<(), Refused> {
    if source.trim().is_empty() {
        return Err(("it is empty".to_owned(), "leave the condition out, or write one"));
    }
    if source.len() > CONDITION_BYTES_MAX {
        let problem = format!("it has {} bytes; the limit is {CONDITION_BYTES_MAX}", source.len());
        return Err((problem, SIMPLIFY));
    }
    let brackets = source.bytes().filter(|byte| b"([{".contains(byte)).count();
    let prefixes: usize = PREFIXES.iter().map(|prefix| source.matches(prefix).count()).sum();
    if brackets > BRACKETS_MAX || prefixes > PREFIXES_MAX {
        return Err(("it has too many brackets or operators".to_owned(), SIMPLIFY));
    }
    Ok(())
}

struct Reader<'n> {
    names: &'n Names<'n>,
    nodes: usize,
}

impl Reader<'_> {
    fn read(&mut self, expression: &ast::Expression, depth: usize) -> Result<Expr, Refused> {
        self.nodes += 1;
        if self.nodes > CONDITION_NODES_MAX || depth > CONDITION_DEPTH_MAX {
            let problem = format!("it has more than {CONDITION_NODES_MAX} parts or {CONDITION_DEPTH_MAX} levels");
            return Err((problem, SIMPLIFY));
        }
        let depth = depth + 1;
        Ok(match expression {
            ast::Expression::ParenthesizedExpression(inner) => self.read(&inner.expression, depth)?,
            ast::Expression::BooleanLiteral(literal) => Expr::Boolean(literal.value),
            ast::Expression::NullLiteral(_) => Expr::Null,
            ast::Expression::NumericLiteral(literal) => Expr::Number(literal.value),
            ast::Expression::StringLiteral(literal) => Expr::Text(text(&literal.value, literal.lone_surrogates)?),
            ast::Expression::TemplateLiteral(literal) => self.read_template(literal, depth)?,
            ast::Expression::Identifier(name) => self.read_name(Spelling::Bare(&name.name))?,
            ast::Expression::ArrayExpression(list) => self.read_list(list, depth)?,
            ast::Expression::UnaryExpression(unary) => {
                Expr::Unary(unary_operator(unary.operator)?, self.read_boxed(&unary.argument, depth)?)
            }
            ast::Expression::BinaryExpression(binary) => {
                let operator = binary_operator(binary.operator)?;
                let left = self.read_boxed(&binary.left, depth)?;
                Expr::Binary(operator, left, self.read_boxed(&binary.right, depth)?)
            }
            ast::Expression::LogicalExpression(logical) => {
                let left = self.read_boxed(&logical.left, depth)?;
                Expr::Logical(logical_operator(logical.operator), left, self.read_boxed(&logical.right, depth)?)
            }
            ast::Expression::ConditionalExpression(choice) => Expr::Choice(
                self.read_boxed(&choice.test, depth)?,
                self.read_boxed(&choice.consequent, depth)?,
                self.read_boxed(&choice.alternate, depth)?,
            ),
            ast::Expression::ChainExpression(chain) => Expr::Chain(Box::new(self.read_chain(chain, depth)?)),
            ast::Expression::StaticMemberExpression(member) => self.read_static_member(member, depth)?,
            ast::Expression::ComputedMemberExpression(member) => self.read_computed_member(member, depth)?,
            ast::Expression::CallExpression(call) => self.read_call(call, depth)?,
            other => return Err((format!("it has {}", kind(other)), ALLOWED)),
        })
    }

    fn read_boxed(&mut self, expression: &ast::Expression, depth: usize) -> Result<Box<Expr>, Refused> {
        self.read(expression, depth).map(Box::new)
    }

    fn read_name(&self, spelling: Spelling) -> Result<Expr, Refused> {
        if let Some(variable) = self.names.find(spelling) {
            return Ok(Expr::Variable(variable));
        }
        let shown = match spelling {
            Spelling::Bare("undefined") => return Ok(Expr::Undefined),
            Spelling::Bare("NaN") => return Ok(Expr::Number(f64::NAN)),
            Spelling::Bare("Infinity") => return Ok(Expr::Number(f64::INFINITY)),
            Spelling::Bare(name) => name.to_owned(),
            Spelling::Context(name) => format!("context.{name}"),
            Spelling::Step(name) => format!("step.{name}"),
        };
        let problem = format!("{shown} names no variable that is known there; {}", self.names.describe());
        Err((problem, "name a variable of the initialContext, or of a step in the dependsOn chain"))
    }

    /// `context.x` and `step.x`, unless a variable is called so.
    fn read_qualified(&self, object: &ast::Expression, name: &str) -> Option<Result<Expr, Refused>> {
        let ast::Expression::Identifier(space) = object else { return None };
        Spelling::qualified(&space.name, name).map(|spelling| self.read_name(spelling))
    }

    fn read_static_member(&mut self, member: &ast::StaticMemberExpression, depth: usize) -> Result<Expr, Refused> {
        let name = member.property.name.as_str();
        if let Some(variable) = self.read_qualified(&member.object, name) {
            return variable;
        }
        check_member(name)?;
        let object = self.read_boxed(&member.object, depth)?;
        let key = Box::new(Expr::Text(name.encode_utf16().collect()));
        Ok(Expr::Member { object, key, optional: member.optional })
    }

    fn read_computed_member(&mut self, member: &ast::ComputedMemberExpression, depth: usize) -> Result<Expr, Refused> {
        if let ast::Expression::StringLiteral(name) = &member.expression {
            if let Some(variable) = self.read_qualified(&member.object, &name.value) {
                return variable;
            }
            check_member(&name.value)?;
        }
        let object = self.read_boxed(&member.object, depth)?;
        let key = self.read_boxed(&member.expression, depth)?;
        Ok(Expr::Member { object, key, optional: member.optional })
    }

    fn read_chain(&mut self, chain: &ast::ChainExpression, depth: usize) -> Result<Expr, Refused> {
        match &chain.expression {
            ast::ChainElement::CallExpression(call) => self.read_call(call, depth),
            ast::ChainElement::StaticMemberExpression(member) => self.read_static_member(member, depth),
            ast::ChainElement::ComputedMemberExpression(member) => self.read_computed_member(member, depth),
            _ => Err(("it has a member that is not understood".to_owned(), ALLOWED)),
        }
    }

    fn read_call(&mut self, call: &ast::CallExpression, depth: usize) -> Result<Expr, Refused> {
        let ast::Expression::StaticMemberExpression(callee) = &call.callee else {
            return Err(("it calls a function".to_owned(), ALLOWED));
        };
        let Some(method) = Method::parse(&callee.property.name).filter(|_| !call.optional) else {
            return Err((format!("it calls {:?}", callee.property.name.as_str()), ALLOWED));
        };
        let object = self.read_boxed(&callee.object, depth)?;
        let arguments = call.arguments.iter().map(|argument| match argument.as_expression() {
            Some(expression) => self.read(expression, depth),
            None => Err(("it spreads its arguments".to_owned(), ALLOWED)),
        });
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(Expr::Call { object, method, arguments, optional: callee.optional })
    }

    fn read_list(&mut self, list: &ast::ArrayExpression, depth: usize) -> Result<Expr, Refused> {
        let elements = list.elements.iter().map(|element| match element.as_expression() {
            Some(expression) => self.read(expression, depth),
            None => Err(("it has a list with holes or spreads".to_owned(), ALLOWED)),
        });
        elements.collect::<Result<_, _>>().map(Expr::List)
    }

    fn read_template(&mut self, template: &ast::TemplateLiteral, depth: usize) -> Result<Expr, Refused> {
        let literals = template.quasis.iter().map(|quasi| match &quasi.value.cooked {
            Some(cooked) => text(cooked, quasi.lone_surrogates),
            None => Err(("it has a broken escape".to_owned(), "write the characters themselves")),
        });
        let literals = literals.collect::<Result<_, _>>()?;
        let values = template.expressions.iter().map(|value| self.read(value, depth)).collect::<Result<_, _>>()?;
        Ok(Expr::Template(literals, values))
    }
}

fn text(value: &str, lone_surrogates: bool) -> Result<Arc<[u16]>, Refused> {
    if lone_surrogates {
        return Err(("it has half a character".to_owned(), "write whole characters"));
    }
    Ok(value.encode_utf16().collect())
}

fn check_member(name: &str) -> Result<(), Refused> {
    if ["constructor", "prototype", "__proto__"].contains(&name) {
        return Err((format!("it reaches for {name}"), ALLOWED));
    }
    Ok(())
}

fn unary_operator(operator: UnaryOperator) -> Result<Unary, Refused> {
    match operator {
        UnaryOperator::LogicalNot => Ok(Unary::Not),
        UnaryOperator::UnaryNegation => Ok(Unary::Minus),
        UnaryOperator::UnaryPlus => Ok(Unary::Plus),
        UnaryOperator::Typeof => Ok(Unary::Typeof),
        other => Err((format!("it has the operator {}", other.as_str()), ALLOWED)),
    }
}

fn logical_operator(operator: LogicalOperator) -> Logical {
    match operator {
        LogicalOperator::And => Logical::And,
        LogicalOperator::Or => Logical::Or,
        LogicalOperator::Coalesce => Logical::Coalesce,
    }
}

fn binary_operator(operator: BinaryOperator) -> Result<Binary, Refused> {
    Ok(match operator {
        BinaryOperator::Equality => Binary::Equal,
        BinaryOperator::Inequality => Binary::NotEqual,
        BinaryOperator::StrictEquality => Binary::Same,
        BinaryOperator::StrictInequality => Binary::NotSame,
        BinaryOperator::LessThan => Binary::Less,
        BinaryOperator::LessEqualThan => Binary::LessOrEqual,
        BinaryOperator::GreaterThan => Binary::Greater,
        BinaryOperator::GreaterEqualThan => Binary::GreaterOrEqual,
        BinaryOperator::Addition => Binary::Add,
        BinaryOperator::Subtraction => Binary::Subtract,
        BinaryOperator::Multiplication => Binary::Multiply,
        BinaryOperator::Division => Binary::Divide,
        BinaryOperator::Remainder => Binary::Remainder,
        BinaryOperator::Exponential => Binary::Power,
        BinaryOperator::In => Binary::In,
        other => return Err((format!("it has the operator {}", other.as_str()), ALLOWED)),
    })
}

/// What was found that is not understood, in words.
fn kind(expression: &ast::Expression) -> &'static str {
    match expression {
        ast::Expression::AssignmentExpression(_) | ast::Expression::UpdateExpression(_) => "an assignment",
        ast::Expression::ArrowFunctionExpression(_) | ast::Expression::FunctionExpression(_) => "a function",
        ast::Expression::NewExpression(_) => "new",
        ast::Expression::ThisExpression(_) => "this",
        ast::Expression::RegExpLiteral(_) => "a regular expression",
        ast::Expression::BigIntLiteral(_) => "a big integer",
        ast::Expression::ObjectExpression(_) => "an object",
        ast::Expression::SequenceExpression(_) => "a comma",
        _ => "something that is not understood",
    }
}
