//! Finds rules that cannot be parsed. A server of ours refuses them; any other stores what it is given.

use sexton_client::resources::{ListAsk, ListError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::rule::Rule;

/// Errors in the rules of a server, one line for each rule. Rules that the user may not read are left out.
///
/// # Errors
/// They cannot be listed.
pub async fn nonsense(resources: &Resources) -> Result<Vec<String>, ListError> {
    let place = Place::new(&ServedKind::of_ours("rules", "Rule"), None);
    let kinds = resources.kinds().await.map_err(|error| ListError::Call(error.0))?;
    if !kinds.may_serve(&place.kind.resource) {
        return Ok(Vec::new());
    }
    let listed = match resources.list(&place, &ListAsk::default()).await {
        Err(ListError::Call(CallError::Refused(status))) if matches!(status.code, 403 | 404) => {
            return Ok(Vec::new());
        }
        listed => listed?.found,
    };
    let wrong = |document: &serde_json::Value| {
        let errors = Rule::parse(document).err()?;
        let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Some(format!("the rule {} is ignored: {}", text(document, "/metadata/name"), why.join("; ")))
    };
    Ok(listed.iter().filter_map(wrong).collect())
}
