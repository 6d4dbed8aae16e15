//! What a query string asks for.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use sexton_model::delete_options::dry_run_error;
use sexton_model::{DeleteOptions, FieldError, FieldSelector, LabelSelector, Status};

use crate::api::{FeedOptions, FieldValidation, GetOptions, ListOptions, Result, WatchOptions, WriteOptions};

/// A query string, split and decoded.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

/// More parameters are nonsense.
const MOST: usize = 64;

impl Query {
    pub(super) fn parse(text: Option<&str>) -> Result<Query> {
        let mut pairs = Vec::new();
        for pair in text.unwrap_or("").split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decode(name)?, decode(value)?));
        }
        if pairs.len() > MOST {
            return Err(Status::bad_request(format!("more than {MOST} query parameters")).into());
        }
        Ok(Query(pairs))
    }

    /// The first value of a parameter; empty if missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// A switch: `true` or `1`; nothing is false.
    pub(super) fn switch(&self, name: &str) -> Result<bool> {
        match self.text(name) {
            "" => Ok(self.has(name) && name == "watch"),
            "true" | "1" | "True" | "t" | "T" | "TRUE" => Ok(true),
            "false" | "0" | "False" | "f" | "F" | "FALSE" => Ok(false),
            other => Err(Status::bad_request(format!("{name}={other}: expected true or false")).into()),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u64>> {
        match self.text(name) {
            "" => Ok(None),
            text => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(Status::bad_request(format!("{name}={text}: expected a whole number")).into()),
            },
        }
    }

    pub(super) fn get_options(&self) -> GetOptions {
        GetOptions { resource_version: self.text("resourceVersion").to_owned() }
    }

    fn labels(&self) -> Result<LabelSelector> {
        LabelSelector::parse(self.text("labelSelector"))
            .map_err(|bad| Status::bad_request(bad.to_string()).into())
    }

    fn fields(&self) -> Result<FieldSelector> {
        FieldSelector::parse(self.text("fieldSelector"))
            .map_err(|bad| Status::bad_request(bad.to_string()).into())
    }

    pub(super) fn list_options(&self) -> Result<ListOptions> {
        if self.has("sendInitialEvents") {
            let error = FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]).into());
        }
        Ok(ListOptions {
            labels: self.labels()?,
            fields: self.fields()?,
            limit: self.limit()?,
            continue_token: self.text("continue").to_owned(),
            resource_version: self.text("resourceVersion").to_owned(),
            version_match: self.text("resourceVersionMatch").to_owned(),
        })
    }

    /// How many items at most. A limit below zero is none, as in Kubernetes.
    fn limit(&self) -> Result<Option<usize>> {
        if self.text("limit").parse::<i64>().is_ok_and(|limit| limit < 0) {
            return Ok(None);
        }
        Ok(self.number("limit")?.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)))
    }

    pub(super) fn watch_options(&self) -> Result<WatchOptions> {
        let initial = self.has("sendInitialEvents").then(|| self.switch("sendInitialEvents")).transpose()?;
        Ok(WatchOptions {
            labels: self.labels()?,
            fields: self.fields()?,
            resource_version: self.text("resourceVersion").to_owned(),
            version_match: self.text("resourceVersionMatch").to_owned(),
            bookmarks: self.switch("allowWatchBookmarks")?,
            send_initial_events: initial,
            timeout: self.timeout()?,
        })
    }

    pub(super) fn feed_options(&self) -> Result<FeedOptions> {
        Ok(FeedOptions {
            resource_version: self.text("resourceVersion").to_owned(),
            timeout: self.timeout()?,
        })
    }

    /// How long a stream lasts.
    fn timeout(&self) -> Result<Option<Duration>> {
        Ok(self.number("timeoutSeconds")?.filter(|seconds| *seconds > 0).map(Duration::from_secs))
    }

    /// Options of a write; `agent` names the manager if the caller does not.
    pub(super) fn write_options(&self, agent: &str) -> Result<WriteOptions> {
        let stages: Vec<String> =
            self.0.iter().filter(|(name, _)| name == "dryRun").map(|(_, stage)| stage.clone()).collect();
        let mut errors: Vec<FieldError> = dry_run_error(&stages).into_iter().collect();
        let manager = self.text("fieldManager");
        if manager.len() > 128 || manager.chars().any(char::is_control) {
            let detail = "must be no longer than 128 characters and printable";
            errors.push(FieldError::invalid("fieldManager", manager, detail));
        }
        let validation = self.text("fieldValidation");
        if !matches!(validation, "" | "Ignore" | "Warn" | "Strict") {
            let known = ["", "Ignore", "Strict", "Warn"];
            errors.push(FieldError::not_supported("fieldValidation", validation, &known));
        }
        if !errors.is_empty() {
            return Err(Status::invalid("meta.k8s.io", "WriteOptions", "", &errors).into());
        }
        Ok(WriteOptions {
            dry_run: !stages.is_empty(),
            manager_named: !manager.is_empty(),
            field_manager: if manager.is_empty() { agent.to_owned() } else { manager.to_owned() },
            force: self.switch("force")?,
            field_validation: match validation {
                "Strict" => FieldValidation::Strict,
                "Ignore" => FieldValidation::Ignore,
                _ => FieldValidation::Warn,
            },
            repeated: Vec::new(),
        })
    }

    /// Delete options of a request without a body.
    pub(super) fn delete_options(&self) -> Result<DeleteOptions> {
        let text = |name: &str| self.has(name).then(|| self.text(name).to_owned());
        let stages: Vec<String> =
            self.0.iter().filter(|(name, _)| name == "dryRun").map(|(_, stage)| stage.clone()).collect();
        Ok(DeleteOptions {
            grace_period_seconds: match self.text("gracePeriodSeconds") {
                "" => None,
                text => {
                    Some(text.parse().map_err(|_| Status::bad_request("gracePeriodSeconds: not a number"))?)
                }
            },
            orphan_dependents: self
                .has("orphanDependents")
                .then(|| self.switch("orphanDependents"))
                .transpose()?,
            propagation_policy: text("propagationPolicy"),
            dry_run: (!stages.is_empty()).then_some(stages),
            ..DeleteOptions::default()
        })
    }
}

fn decode(text: &str) -> Result<String> {
    if !text.bytes().any(|byte| matches!(byte, b'+' | b'%')) {
        return Ok(text.to_owned());
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    Ok(decoded.map_err(|_| Status::bad_request("the query is not valid UTF-8"))?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_decoded_and_typed() {
        let query =
            Query::parse(Some("watch&limit=5&labelSelector=a%3Db%2Cc&dryRun=All&fieldManager=me")).unwrap();
        assert!(query.switch("watch").unwrap());
        assert_eq!(query.list_options().unwrap().limit, Some(5));
        let options = query.write_options("agent").unwrap();
        assert!(options.dry_run && options.manager_named && options.field_manager == "me");
        let limit = |text| Query::parse(Some(text)).unwrap().list_options().unwrap().limit;
        assert_eq!((limit("limit=-1"), limit("limit="), limit("limit=0")), (None, None, Some(0)));
        for bad in ["limit=--1", "limit=-", "limit=x", "labelSelector=%3D", "fieldSelector=a", "continue=%ff"]
        {
            let query = Query::parse(Some(bad));
            assert!(query.and_then(|query| query.list_options()).is_err(), "{bad}");
        }
        assert!(Query::parse(Some("dryRun=Some")).unwrap().write_options("x").is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[a-zA-Z=&%+,0-9]{0,60}|\\PC{0,60}") {
            if let Ok(query) = Query::parse(Some(&text)) {
                let _ = (query.list_options(), query.watch_options(), query.write_options("x"), query.delete_options());
            }
        }
    }
}
