//! JSON of the wire: one value a line, numbers as doubles in their shortest form.
use crate::solver::{Matrix, Vector};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Truth(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// What is asked of a value that is not there, or of another kind: params that do not fit.
#[derive(Debug)]
pub struct Misfit;
type Fits<T> = Result<T, Misfit>;

static NULL: Json = Json::Null;

impl Json {
    pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
    pub fn rows(values: &[Vector]) -> Json {
        Json::Array(values.iter().map(|row| Json::from(row.as_slice())).collect())
    }
    pub fn get(&self, name: &str) -> &Json {
        if let Json::Object(fields) = self { fields.get(name).unwrap_or(&NULL) } else { &NULL }
    }
    pub fn has(&self, name: &str) -> bool {
        *self.get(name) != Json::Null
    }
    pub fn number(&self) -> Fits<f64> {
        if let Json::Number(value) = self { Ok(*value) } else { Err(Misfit) }
    }
    pub fn size(&self) -> Fits<usize> {
        Ok(self.number()? as usize)
    }
    pub fn text(&self) -> Fits<&str> {
        if let Json::Text(value) = self { Ok(value) } else { Err(Misfit) }
    }
    pub fn array(&self) -> Fits<&[Json]> {
        if let Json::Array(entries) = self { Ok(entries) } else { Err(Misfit) }
    }
    pub fn vector(&self) -> Fits<Vector> {
        self.array()?.iter().map(Json::number).collect()
    }
    pub fn matrix(&self) -> Fits<Matrix> {
        self.array()?.iter().map(Json::vector).collect()
    }

    /// The value that a whole line holds, if it is one.
    pub fn read(line: &str) -> Option<Json> {
        let mut reader = Reader { line: line.as_bytes(), at: 0 };
        let value = reader.value()?;
        reader.skip();
        (reader.at == line.len()).then_some(value)
    }
    pub fn write(&self, line: &mut String) {
        match self {
            Json::Null => line.push_str("null"),
            Json::Truth(value) => line.push_str(&value.to_string()),
            Json::Number(value) => line.push_str(&format!("{value:e}")),
            Json::Text(text) => quote(text, line),
            Json::Array(entries) => {
                line.push('[');
                for (i, entry) in entries.iter().enumerate() {
                    line.push_str(if i > 0 { "," } else { "" });
                    entry.write(line);
                }
                line.push(']');
            }
            Json::Object(fields) => {
                line.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    line.push_str(if i > 0 { "," } else { "" });
                    quote(name, line);
                    line.push(':');
                    value.write(line);
                }
                line.push('}');
            }
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json { Json::Text(text.to_string()) }
}
impl From<f64> for Json {
    fn from(value: f64) -> Json { Json::Number(value) }
}
impl From<&[f64]> for Json {
    fn from(values: &[f64]) -> Json { Json::Array(values.iter().copied().map(Json::Number).collect()) }
}

fn quote(text: &str, line: &mut String) {
    line.push('"');
    for c in text.chars() {
        if c == '"' || c == '\\' { line.push('\\') }
        line.push(if c < ' ' { ' ' } else { c });
    }
    line.push('"');
}

struct Reader<'a> {
    line: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while self.line.get(self.at).is_some_and(|c| b" \t\r\n".contains(c)) { self.at += 1 }
    }
    fn take(&mut self, wanted: &str) -> bool {
        self.skip();
        let found = self.line[self.at..].starts_with(wanted.as_bytes());
        if found { self.at += wanted.len() }
        found
    }
    fn value(&mut self) -> Option<Json> {
        if self.take("{") {
            let mut fields = BTreeMap::new();
            if self.take("}") { return Some(Json::Object(fields)) }
            loop {
                if !self.take("\"") { return None }
                let name = self.text()?;
                if !self.take(":") { return None }
                fields.insert(name, self.value()?);
                if !self.take(",") { return self.take("}").then_some(Json::Object(fields)) }
            }
        }
        if self.take("[") {
            let mut entries = Vec::new();
            if self.take("]") { return Some(Json::Array(entries)) }
            loop {
                entries.push(self.value()?);
                if !self.take(",") { return self.take("]").then_some(Json::Array(entries)) }
            }
        }
        if self.take("\"") { return self.text().map(Json::Text) }
        for (word, value) in [("null", Json::Null), ("true", Json::Truth(true)), ("false", Json::Truth(false))] {
            if self.take(word) { return Some(value) }
        }
        let start = self.at;
        while self.line.get(self.at).is_some_and(|c| b"+-.eE0123456789".contains(c)) { self.at += 1 }
        let number: f64 = std::str::from_utf8(&self.line[start..self.at]).ok()?.parse().ok()?;
        number.is_finite().then_some(Json::Number(number))
    }
    fn text(&mut self) -> Option<String> {
        let mut made = Vec::new();
        loop {
            let c = *self.line.get(self.at)?;
            self.at += 1;
            match c {
                b'"' => return String::from_utf8(made).ok(),
                b'\\' => {
                    let escaped = *self.line.get(self.at)?;
                    self.at += 1;
                    match escaped {
                        b'"' | b'\\' | b'/' => made.push(escaped),
                        b'n' | b't' | b'r' | b'b' | b'f' => made.push(b' '),
                        b'u' => { self.at += 4; made.push(b'?') } // no name that matters here has such letters
                        _ => return None,
                    }
                }
                _ => made.push(c),
            }
        }
    }
}
