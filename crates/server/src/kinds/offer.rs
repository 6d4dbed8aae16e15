//! What a kind offers beside its objects: columns, a scale, a schema to read, a word of warning.
//!
//! Plain facts, compiled once per definition. It must not know requests, nor what is stored.

use std::sync::Arc;

use serde_json::Value;
use sexton_model::jsonpath::JsonPath;

/// What a kind in one version offers.
#[derive(Debug, Default)]
pub struct Offer {
    /// The columns that a definition names behind the name; `None` means those that every kind has.
    pub columns: Option<Vec<PrinterColumn>>,
    /// Where the number of replicas is, of kinds that can be scaled.
    pub scale: Option<ScalePaths>,
    /// Fields beside name and namespace that a definition lets objects be selected by, as dotted paths.
    pub selectable: Vec<String>,
    /// What every client that uses this version is told.
    pub warning: Option<String>,
    /// What a definition says of its objects.
    pub openapi: Option<Arc<Value>>,
    /// Two definitions with the same stamp are the same; empty for kinds that are always there.
    pub stamp: String,
}

/// How the values of a column are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Any value as text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A time, shown as how long ago it was.
    Date,
}

impl ColumnType {
    /// The words of a definition.
    pub const WORDS: [&'static str; 5] = ["boolean", "date", "integer", "number", "string"];

    /// What a word means.
    pub fn parse(word: &str) -> Option<ColumnType> {
        match word {
            "string" => Some(ColumnType::Text),
            "integer" => Some(ColumnType::Integer),
            "number" => Some(ColumnType::Number),
            "boolean" => Some(ColumnType::Boolean),
            "date" => Some(ColumnType::Date),
            _ => None,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            ColumnType::Text => "string",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
        }
    }
}

/// A column that a definition names.
#[derive(Debug, Clone, PartialEq)]
pub struct PrinterColumn {
    /// Its heading.
    pub name: String,
    /// How values are meant.
    pub kind: ColumnType,
    /// More about that, for clients that read it.
    pub format: String,
    /// For people.
    pub description: String,
    /// Zero is always shown, more only on `-o wide`.
    pub priority: i64,
    /// Where the value is.
    pub path: JsonPath,
}

/// Where the parts of a scale are in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalePaths {
    /// The number that is wanted.
    pub wanted: Vec<String>,
    /// The number that is there.
    pub present: Vec<String>,
    /// Which objects are counted.
    pub selector: ScaleSelector,
    /// How many are wanted where nothing is said; of custom kinds that is nothing.
    pub unsaid: Option<i64>,
}

/// How an object says which others it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScaleSelector {
    /// Not at all.
    None,
    /// As text at a path.
    Text(Vec<String>),
    /// As labels under `spec.selector`.
    Labels,
    /// As a selector with labels and expressions under `spec.selector`.
    Selector,
}

/// The scale of a kind that is always there.
pub(super) fn built_in(group: &str, kind: &str) -> Offer {
    let selector = match (group, kind) {
        ("", "ReplicationController") => ScaleSelector::Labels,
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") => ScaleSelector::Selector,
        _ => return Offer::default(),
    };
    let path = |part: &str| vec![part.to_owned(), "replicas".to_owned()];
    let scale = ScalePaths { wanted: path("spec"), present: path("status"), selector, unsaid: Some(1) };
    Offer { scale: Some(scale), ..Offer::default() }
}

/// What one version of a definition offers. What cannot be read was stored by another program, and is left out.
pub(super) fn defined(spec: &Value, version: &Value, stamp: String) -> Offer {
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
    let columns = columns.filter(|columns| !columns.is_empty());
    Offer {
        columns: columns
            .map(|columns| columns.iter().filter_map(|column| read_column(column).ok()).collect()),
        scale: version.pointer("/subresources/scale").and_then(read_scale),
        selectable: selectable(version),
        warning: warning(spec, version),
        openapi: version.pointer("/schema/openAPIV3Schema").map(|schema| Arc::new(schema.clone())),
        stamp,
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

/// A column; the field that cannot be read otherwise.
fn read_column(column: &Value) -> Result<PrinterColumn, &'static str> {
    Ok(PrinterColumn {
        name: text(column, "name").to_owned(),
        kind: ColumnType::parse(text(column, "type")).ok_or("type")?,
        format: text(column, "format").to_owned(),
        description: text(column, "description").to_owned(),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
        path: JsonPath::parse(text(column, "jsonPath")).map_err(|_| "jsonPath")?,
    })
}

/// The names of the fields on a plain path.
pub(super) fn plain_path(text: &str) -> Option<Vec<String>> {
    let path = JsonPath::parse(text).ok()?;
    let fields = path.fields()?;
    (!fields.is_empty()).then(|| fields.into_iter().map(str::to_owned).collect())
}

fn read_scale(scale: &Value) -> Option<ScalePaths> {
    let selector = match text(scale, "labelSelectorPath") {
        "" => ScaleSelector::None,
        path => ScaleSelector::Text(plain_path(path)?),
    };
    Some(ScalePaths {
        wanted: plain_path(text(scale, "specReplicasPath"))?,
        present: plain_path(text(scale, "statusReplicasPath"))?,
        selector,
        unsaid: None,
    })
}

fn selectable(version: &Value) -> Vec<String> {
    let fields = version.get("selectableFields").and_then(Value::as_array);
    let paths = fields.into_iter().flatten().filter_map(|field| plain_path(text(field, "jsonPath")));
    paths.map(|path| path.join(".")).collect()
}

fn warning(spec: &Value, version: &Value) -> Option<String> {
    if version.get("deprecated") != Some(&Value::Bool(true)) {
        return None;
    }
    match text(version, "deprecationWarning") {
        "" => {
            let kind = spec.pointer("/names/kind").and_then(Value::as_str).unwrap_or("");
            Some(format!("{}/{} {kind} is deprecated", text(spec, "group"), text(version, "name")))
        }
        given => Some(given.to_owned()),
    }
}
