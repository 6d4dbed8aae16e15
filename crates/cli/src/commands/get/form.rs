//! The form of an answer to `sexton get`, and objects in it.

use std::str::FromStr;

use serde_json::Value;
use sexton_client::ServedKind;
use sexton_client::resources::text;

use crate::failure::Failure;
use crate::output::Output;
use crate::output::object::list;
use crate::output::template::Template;

/// The forms without a part of their own.
const WORDS: [(&str, Form); 5] = [
    ("table", Form::Table),
    ("wide", Form::Wide),
    ("json", Form::Json),
    ("yaml", Form::Yaml),
    ("name", Form::Name),
];

/// The form of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// For people.
    Table,
    /// For people with wide screens.
    Wide,
    /// One document.
    Json,
    /// One document.
    Yaml,
    /// KIND/NAME lines.
    Name,
    /// A template, filled in with what `Json` would print.
    JsonPath(Template),
}

impl FromStr for Form {
    type Err = String;

    fn from_str(typed: &str) -> Result<Form, String> {
        if let Some(template) = typed.strip_prefix("jsonpath=") {
            return Template::parse(template).map(Form::JsonPath).map_err(|error| error.to_string());
        }
        let form = WORDS.iter().find(|(word, _)| *word == typed).map(|(_, form)| form.clone());
        form.ok_or_else(|| {
            let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
            format!("possible forms: {}, jsonpath=TEMPLATE", words.join(", "))
        })
    }
}

impl Form {
    /// Whether the server makes rows for it.
    pub(super) fn has_rows(&self) -> bool {
        matches!(self, Form::Table | Form::Wide)
    }

    /// Writes objects: one that was named as it is, everything else as a list.
    pub(super) fn write(
        &self,
        mut objects: Vec<(ServedKind, Value)>,
        one: bool,
        output: &Output,
    ) -> Result<(), Failure> {
        if *self == Form::Name {
            let names =
                objects.iter().map(|(kind, object)| kind.label(text(object, "/metadata/name")) + "\n");
            return output.data(&names.collect::<String>());
        }
        if one && objects.is_empty() {
            return Ok(());
        }
        let shown = match one {
            true => objects.remove(0).1,
            false => list(objects.into_iter().map(|(_, object)| object).collect()),
        };
        match self {
            Form::Json => output.json(&shown),
            Form::Yaml => output.yaml(&shown),
            Form::JsonPath(template) => output.exact(&template.fill(&shown)),
            Form::Name | Form::Table | Form::Wide => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_words_or_templates() {
        assert_eq!("wide".parse(), Ok(Form::Wide));
        assert!(matches!("jsonpath={.a}".parse(), Ok(Form::JsonPath(_))));
        for other in ["", "jsonpath", "jsonpath={", "tables"] {
            assert!(other.parse::<Form>().is_err(), "{other}");
        }
    }
}
