//! Text to [`Arithmetic`], by recursive descent with a limited depth.

use super::{Arithmetic, ArithmeticError, Name, Operator, Step, Unit};
use crate::nearest;

/// A longer text is no plain arithmetic.
const MAX_TEXT: usize = 500;
/// Brackets and signs inside of each other; bounds the recursion.
const MAX_NESTING: u32 = 32;

/// What a part of a text is: a number, or true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Truth,
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Number(f64, &'a str),
    Word(&'a str),
    Sign(&'static str),
}

/// Longer ones before those that they begin with.
const SIGNS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","];

/// Reads `text`, in which `allowed` can be asked for and a number's unit is a `unit`.
///
/// # Errors
/// Says what in the text is no arithmetic, and what to write instead.
pub fn parse(text: &str, unit: Unit, allowed: &[Name]) -> Result<Arithmetic, ArithmeticError> {
    if text.len() > MAX_TEXT {
        return Err(ArithmeticError::new(
            format!("a computation of {} characters", text.len()),
            format!("write at most {MAX_TEXT}"),
        ));
    }
    let tokens = tokens(text, unit)?;
    let mut parser = Parser { tokens, at: 0, nesting: 0, allowed, steps: Vec::new() };
    let kind = parser.condition()?;
    match parser.peek() {
        None => Ok(Arithmetic {
            text: text.to_owned(),
            steps: parser.steps,
            is_condition: kind == Kind::Truth,
        }),
        Some(_) => Err(parser.unexpected("an operator")),
    }
}

fn tokens(text: &str, unit: Unit) -> Result<Vec<Token<'_>>, ArithmeticError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(rest, unit)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end =
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Token::Word(&rest[..end]), end)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(ArithmeticError::new(
                format!("`{first}` is no part of a computation"),
                "write numbers, names, + - * / ( ), min(a, b), max(a, b) and floor(a)",
            ));
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// A number with the unit that adjoins it, and how many bytes of the text it takes.
fn number(text: &str, unit: Unit) -> Result<(Token<'_>, usize), ArithmeticError> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let word = &text[..end];
    let value = match word.parse::<f64>() {
        Ok(value) if value.is_finite() => value,
        _ => unit.value(word)?,
    };
    Ok((Token::Number(value, word), end))
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    nesting: u32,
    allowed: &'a [Name],
    steps: Vec<Step>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    /// Takes the next token if it is the sign or word `text`.
    fn take(&mut self, text: &str) -> bool {
        let is = match self.peek() {
            Some(Token::Sign(sign)) => *sign == text,
            Some(Token::Word(word)) => *word == text,
            _ => false,
        };
        self.at += usize::from(is);
        is
    }

    fn unexpected(&self, wanted: &str) -> ArithmeticError {
        let found = match self.peek() {
            None => "its end".to_owned(),
            Some(Token::Number(_, text) | Token::Word(text)) => format!("`{text}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        ArithmeticError::new(
            format!("expected {wanted}, found {found}"),
            "write it as in \"2 * memory / workers\"",
        )
    }

    fn expect(&mut self, kind: Kind, wanted: Kind) -> Result<(), ArithmeticError> {
        match (kind == wanted, wanted) {
            (true, _) => Ok(()),
            (false, Kind::Number) => Err(ArithmeticError::new(
                "computes with true and false",
                "compare numbers: \"workers * depth > 256\"",
            )),
            (false, Kind::Truth) => Err(ArithmeticError::new(
                "a number stands where a comparison belongs",
                "compare it: \"workers * depth > 256\"",
            )),
        }
    }

    fn condition(&mut self) -> Result<Kind, ArithmeticError> {
        self.chain(&[("or", Operator::Or)], Kind::Truth, |parser| {
            parser.chain(&[("and", Operator::And)], Kind::Truth, Parser::not)
        })
    }

    fn sum(&mut self) -> Result<Kind, ArithmeticError> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Kind::Number, |parser| {
            parser.chain(
                &[("*", Operator::Multiply), ("/", Operator::Divide)],
                Kind::Number,
                Parser::factor,
            )
        })
    }

    /// Parts with operators between them, from left to right; both sides of an operator are of kind
    /// `wanted`.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        wanted: Kind,
        part: fn(&mut Self) -> Result<Kind, ArithmeticError>,
    ) -> Result<Kind, ArithmeticError> {
        let kind = part(self)?;
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.take(text)) {
            self.expect(kind, wanted)?;
            let right = part(self)?;
            self.expect(right, wanted)?;
            self.steps.push(Step::Apply(*operator));
        }
        Ok(kind)
    }

    fn not(&mut self) -> Result<Kind, ArithmeticError> {
        if !self.take("not") {
            return self.test();
        }
        let kind = self.nested(Parser::not)?;
        self.expect(kind, Kind::Truth)?;
        self.steps.push(Step::Not);
        Ok(Kind::Truth)
    }

    fn test(&mut self) -> Result<Kind, ArithmeticError> {
        let kind = self.sum()?;
        let operators = [
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let Some((_, operator)) = operators.iter().find(|(text, _)| self.take(text)) else {
            return Ok(kind);
        };
        self.expect(kind, Kind::Number)?;
        let right = self.sum()?;
        self.expect(right, Kind::Number)?;
        self.steps.push(Step::Apply(*operator));
        Ok(Kind::Truth)
    }

    fn factor(&mut self) -> Result<Kind, ArithmeticError> {
        if self.take("-") {
            let kind = self.nested(Parser::factor)?;
            self.expect(kind, Kind::Number)?;
            self.steps.push(Step::Negate);
            return Ok(Kind::Number);
        }
        if self.take("(") {
            let kind = self.nested(Parser::condition)?;
            return self.close().map(|()| kind);
        }
        match self.peek() {
            Some(Token::Number(value, _)) => self.steps.push(Step::Push(*value)),
            Some(Token::Word(word)) => {
                let word = *word;
                self.at += 1;
                return self.word(word);
            }
            _ => return Err(self.unexpected("a number or a name")),
        }
        self.at += 1;
        Ok(Kind::Number)
    }

    fn word(&mut self, word: &str) -> Result<Kind, ArithmeticError> {
        match word {
            "min" => return self.arguments(Operator::Min),
            "max" => return self.arguments(Operator::Max),
            "floor" => return self.floor(),
            _ => {}
        }
        let Some(name) = self.allowed.iter().find(|name| name.word() == word) else {
            return Err(self.unknown(word));
        };
        self.steps.push(Step::Ask(*name));
        // `memory(clients)` says whose memory is meant, which is that of the hosts in any case.
        if *name == Name::Memory && self.take("(") {
            if !self.take("clients") {
                return Err(self.unexpected("`clients`"));
            }
            self.close()?;
        }
        Ok(Kind::Number)
    }

    fn unknown(&self, word: &str) -> ArithmeticError {
        let words = || self.allowed.iter().map(|name| name.word());
        let all: Vec<&str> = words().collect();
        let message = match Name::ALL.iter().any(|name| name.word() == word) {
            true => format!("`{word}` is not yet known where this field is computed"),
            false => format!("`{word}` is not a known name"),
        };
        let remedy = match nearest(word, words().chain(["min", "max", "floor"])) {
            _ if all.is_empty() => "write numbers only".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", all.join(", ")),
        };
        ArithmeticError::new(message, remedy)
    }

    fn arguments(&mut self, operator: Operator) -> Result<Kind, ArithmeticError> {
        if !self.take("(") {
            return Err(self.unexpected("`(`"));
        }
        let first = self.nested(Parser::sum)?;
        self.expect(first, Kind::Number)?;
        while self.take(",") {
            let next = self.nested(Parser::sum)?;
            self.expect(next, Kind::Number)?;
            self.steps.push(Step::Apply(operator));
        }
        self.close().map(|()| Kind::Number)
    }

    fn floor(&mut self) -> Result<Kind, ArithmeticError> {
        if !self.take("(") {
            return Err(self.unexpected("`(`"));
        }
        let kind = self.nested(Parser::sum)?;
        self.expect(kind, Kind::Number)?;
        self.steps.push(Step::Floor);
        self.close().map(|()| Kind::Number)
    }

    fn close(&mut self) -> Result<(), ArithmeticError> {
        if self.take(")") { Ok(()) } else { Err(self.unexpected("`)`")) }
    }

    fn nested(
        &mut self,
        part: fn(&mut Self) -> Result<Kind, ArithmeticError>,
    ) -> Result<Kind, ArithmeticError> {
        if self.nesting >= MAX_NESTING {
            return Err(ArithmeticError::new(
                "too many brackets or signs inside of each other",
                "write it flatter",
            ));
        }
        self.nesting += 1;
        let kind = part(self)?;
        self.nesting -= 1;
        Ok(kind)
    }
}
