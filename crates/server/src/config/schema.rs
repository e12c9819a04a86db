//! The JSON Schema (draft 2020-12) of the configuration, made from the table of keys: for editors, and for whoever writes the
//! file by a program.
//!
//! It knows shapes, words, bounds and what belongs where; what only a whole file shows (names that exist, clients that cross)
//! is for `oncebook config check`.

use serde_json::{Map, Value, json};

use super::keys::{self, Key, Shape, Table, Usual};

/// The schema.
pub fn schema() -> Value {
    let mut schema = object(&keys::ROOT, None);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Oncebook configuration");
    schema
}

/// A table: of the one form it has, or of one form for each word that decides.
fn table(table: &Table) -> Value {
    match table.words().as_slice() {
        [None] => object(table, None),
        words => json!({"type": "object", "oneOf": words.iter().map(|word| object(table, *word)).collect::<Vec<_>>()}),
    }
}

fn object(table: &Table, word: Option<&'static str>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in table.keys_for(word) {
        let mut property = of(key);
        if table.by == Some(key.name) {
            property["const"] = json!(word);
            drop(property.as_object_mut().and_then(|property| property.remove("enum")));
        }
        if key.is_needed() {
            required.push(key.name);
        }
        properties.insert(key.name.to_owned(), property);
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn of(key: &Key) -> Value {
    let mut property = of_shape(key.shape);
    let says = match key.usual {
        Usual::Follows { what, .. } => format!("{} Default: {what}.", key.says),
        _ => key.says.to_owned(),
    };
    property["description"] = json!(says);
    if let Usual::Is(text) = key.usual {
        property["default"] = keys::value(text).and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default();
    }
    property
}

fn of_shape(shape: Shape) -> Value {
    let texts = |pattern: &str| json!({"type": "string", "pattern": pattern});
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Name => texts("^[a-z0-9][a-z0-9_-]*$"),
        Shape::Span => texts("^[0-9]+(ms|s|m|h|d)$"),
        Shape::Size => texts("^0*[1-9][0-9]*(B|KiB|MiB)$"),
        Shape::Allowance => texts("^0*[1-9][0-9]*/(0*[1-9][0-9]*)?(ms|s|m|h|d)$"),
        Shape::Consistency => texts("^(strong|unique|upsert|(lagging|window):[0-9]+(ms|s|m|h|d))$"),
        Shape::Place => texts("^(/.*|header:[!#$%&'*+.^_`|~0-9A-Za-z-]+)$"),
        Shape::Pointer | Shape::Pattern => texts("^/"),
        Shape::Secret => texts("^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"),
        Shape::Address => texts("^[hH][tT][tT][pP][sS]?://"),
        Shape::Word(words) => json!({"type": "string", "enum": words}),
        Shape::Whole(from, to) => json!({"type": "integer", "minimum": from, "maximum": to}),
        Shape::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Many(shape) => several(&of_shape(*shape)),
        Shape::Statuses => several(&json!({"type": "integer", "minimum": 400, "maximum": 599})),
        Shape::Pairs(shape) => json!({"type": "object", "additionalProperties": of_shape(*shape)}),
        Shape::Table(inner) => table(inner),
        Shape::Tables(inner) => json!({"type": "array", "items": table(inner)}),
    }
}

/// One, or a list of them.
fn several(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}
