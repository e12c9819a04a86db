//! Facts: what an entry says, as named values with exactly one encoding.
//!
//! Facts hold texts, integers, booleans, lists and maps (and null, though leaving a fact out says the same). Floats are
//! refused: two programs print one float differently, and then a chain would break over nothing. An amount is an integer
//! of its smallest unit, or a text. Whether a fact may be said at all (no personal data, no secrets) its author decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The named values of an entry. Built fluently: `Facts::new().with("verdict", "accepted").maybe("ordinal", ordinal)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, Value>", try_from = "BTreeMap<String, Value>")]
pub struct Facts(BTreeMap<String, Value>);

/// A float (or an integer beyond 64 bits) stood among facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fact `{name}` holds a number that is not a 64-bit integer")]
pub struct NotAFact {
    /// The fact, by its outermost name.
    pub name: String,
}

impl Facts {
    /// No facts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// These facts and one more; a fact of the same name is replaced.
    ///
    /// # Panics
    /// On a float: our own code writes facts, so one is a mistake that must not reach a chain.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let (name, value) = (name.into(), value.into());
        assert!(has_one_encoding(&value), "fact `{name}` holds a number that is not a 64-bit integer");
        self.0.insert(name, value);
        self
    }

    /// These facts and, if there is a value, one more.
    #[must_use]
    pub fn maybe(self, name: impl Into<String>, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The fact of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The fact of this name, if it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// All facts, by name in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one encoding, which the chain hashes: JSON without white space, the keys of every map sorted by their bytes.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = String::new();
        write_map(&mut out, self.0.iter());
        out.into_bytes()
    }
}

impl TryFrom<BTreeMap<String, Value>> for Facts {
    type Error = NotAFact;

    fn try_from(map: BTreeMap<String, Value>) -> Result<Self, NotAFact> {
        match map.iter().find(|(_, value)| !has_one_encoding(value)) {
            Some((name, _)) => Err(NotAFact { name: name.clone() }),
            None => Ok(Self(map)),
        }
    }
}

impl From<Facts> for BTreeMap<String, Value> {
    fn from(facts: Facts) -> Self {
        facts.0
    }
}

fn has_one_encoding(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Array(items) => items.iter().all(has_one_encoding),
        Value::Object(map) => map.values().all(has_one_encoding),
    }
}

/// Sorts by itself: whether `serde_json`'s own maps are sorted hangs on a feature that any dependency may turn on.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => write_map(out, map.iter().collect::<BTreeMap<_, _>>().into_iter()),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(out, item);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

/// The pairs must come sorted.
fn write_map<'a>(out: &mut String, pairs: impl Iterator<Item = (&'a String, &'a Value)>) {
    out.push('{');
    for (index, (name, value)) in pairs.enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        write(out, value);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(facts: &Facts) -> String {
        String::from_utf8(facts.canonical()).unwrap()
    }

    #[test]
    fn the_order_of_telling_does_not_matter_at_any_depth() {
        let one = Facts::new().with("b", 1).with("a", json!({"y": [{"d": 1, "c": true}], "x": "q\"\n"}));
        let two = Facts::new().with("a", json!({"x": "q\"\n", "y": [{"c": true, "d": 1}]})).with("b", 1);
        assert_eq!(text(&one), r#"{"a":{"x":"q\"\n","y":[{"c":true,"d":1}]},"b":1}"#);
        assert_eq!(text(&one), text(&two));
        assert_eq!(text(&Facts::new()), "{}");
    }

    #[test]
    fn the_order_within_a_list_does_matter() {
        assert_ne!(text(&Facts::new().with("l", vec![1, 2])), text(&Facts::new().with("l", vec![2, 1])));
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let facts = Facts::new().maybe("here", Some("x")).maybe("gone", None::<i64>);
        assert_eq!(text(&facts), r#"{"here":"x"}"#);
        assert_eq!((facts.text("here"), facts.get("gone")), (Some("x"), None));
    }

    #[test]
    fn facts_read_back_from_their_own_encoding() {
        let facts = Facts::new().with("n", u64::MAX).with("m", i64::MIN).with("t", "ü ").with("z", Value::Null);
        assert_eq!(serde_json::from_slice::<Facts>(&facts.canonical()).unwrap(), facts);
    }

    #[test]
    fn a_float_from_outside_is_an_error() {
        let error = serde_json::from_str::<Facts>(r#"{"a": {"b": [1.5]}}"#).unwrap_err();
        assert!(error.to_string().contains("fact `a`"), "{error}");
        assert!(serde_json::from_str::<Facts>(r#"{"a": 18446744073709551616}"#).is_err());
    }

    #[test]
    #[should_panic(expected = "fact `rate`")]
    fn a_float_from_our_own_code_is_a_mistake() {
        drop(Facts::new().with("rate", 0.5));
    }
}
