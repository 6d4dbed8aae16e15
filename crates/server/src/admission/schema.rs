//! Objects by the schemas of their kinds: what is not in a schema goes and is told, what is left out is filled in, and
//! what does not fit is refused. A kind without a schema costs a look.

use sexton_model::schema::METADATA_FIELDS;
use sexton_model::{Document, FieldError, Status};

use super::Change;
use super::typed::small;
use crate::api::{FieldValidation, Result, Target, WriteOptions};
use crate::kinds::unknown_fields;

/// More are not told.
const MOST_TOLD: usize = 64;

/// Takes out what a schema does not name. Says what the writer may want to hear of that, and of fields that it wrote
/// twice, in the words of Kubernetes.
pub(crate) fn take_out_unknown(
    target: &Target,
    document: &mut Document,
    options: &WriteOptions,
) -> Vec<String> {
    let pruned = match &target.kind.structural {
        Some(schema) => schema.prune(document.value_mut()),
        None => Vec::new(),
    };
    if options.field_validation == FieldValidation::Ignore {
        return Vec::new();
    }
    let mut told: Vec<String> =
        options.repeated.iter().map(|path| format!("duplicate field \"{path}\"")).collect();
    told.extend(pruned.into_iter().chain(unknown_of(target, document)).map(unknown));
    told.truncate(MOST_TOLD);
    told
}

fn unknown(path: String) -> String {
    format!("unknown field \"{path}\"")
}

/// What is not a field of the metadata, or of a built-in kind.
fn unknown_of(target: &Target, document: &Document) -> Vec<String> {
    let kind = &target.kind;
    let small = small(kind);
    if let (None, Some(component)) = (small, kind.known_fields()) {
        return unknown_fields(component, document.value());
    }
    let metadata = document.metadata().keys().map(String::as_str);
    let metadata = metadata.filter(|name| METADATA_FIELDS.binary_search(name).is_err());
    let mut found: Vec<String> = metadata.map(|name| format!("metadata.{name}")).collect();
    if let Some(known) = small {
        let of_any = ["apiVersion", "kind", "metadata"];
        let fields = document.object().keys().map(String::as_str);
        let known = |name: &str| known.iter().any(|(known, _)| *known == name);
        let fields = fields.filter(|name| !of_any.contains(name) && !known(name));
        found.extend(fields.map(str::to_owned));
    }
    found
}

/// Refuses the write if the client asked for strictness; other clients are warned with what is handed back.
pub(crate) fn refuse_strictly(target: &Target, told: &[String], options: &WriteOptions) -> Result<()> {
    if told.is_empty() || options.field_validation != FieldValidation::Strict {
        return Ok(());
    }
    let (kind, version, told) = (&target.kind.kind, target.kind.version.as_str(), told.join(", "));
    let message =
        format!("{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {told}");
    Err(Status::bad_request(message).into())
}

/// The same for a patch: it is what comes out of it that is looked at.
pub(crate) fn refuse_patch_strictly(
    told: &[String],
    document: &Document,
    options: &WriteOptions,
) -> Result<()> {
    if told.is_empty() || options.field_validation != FieldValidation::Strict {
        return Ok(());
    }
    let detail = format!("strict decoding error: {}", told.join(", "));
    let error = FieldError::invalid("patch", document.value().to_string(), detail);
    Err(Status::invalid("", "", "", &[error]).into())
}

/// Gives a document the values that it leaves out. Refused with 413 if they are too large together.
pub(crate) fn fill(target: &Target, document: &mut Document) -> Result<()> {
    let Some(schema) = &target.kind.structural else { return Ok(()) };
    let filled = schema.fill(document.value_mut());
    Ok(filled.map_err(|error| Status::grown_too_large(error.to_string()))?)
}

/// What is stored as a kind knows it now: definitions change, and objects do not change with them. Defaults that do not
/// fit any more are left out, as nothing is written here.
pub(crate) fn conform(target: &Target, document: &mut Document) {
    if let Some(schema) = &target.kind.structural {
        schema.prune(document.value_mut());
        let _ = schema.fill(document.value_mut());
    }
}

/// An object must be as its definition says.
pub(super) fn fits(target: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    if let Some(schema) = &target.kind.structural {
        errors.extend(schema.validate(change.new.value(), change.old.map(Document::value)));
    }
}
