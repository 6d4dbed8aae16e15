//! The classes: which methods the objects of a kind have. They are listed, because the feed has metadata only.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use sexton_client::resources::{ListError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::class::Class;
use sexton_model::feed::FeedKind;
use sexton_model::{FieldError, Uid};

use super::View;

/// All classes, by the kind that each is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    by_kind: BTreeMap<(String, String), (Uid, Arc<Class>)>,
    /// Kinds with a class that cannot be parsed, and why. Their objects wait: the class may have methods.
    broken: BTreeMap<(String, String), (Uid, String)>,
    /// Errors of classes that cannot be parsed, one line for each.
    nonsense: Vec<String>,
}

impl Classes {
    /// The class of a kind.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Option<&Arc<Class>> {
        self.by_kind.get(&(group.to_owned(), kind.to_owned())).map(|(_, class)| class)
    }

    /// Why the class of a kind cannot be parsed and what to do, if that is so.
    pub(crate) fn broken(&self, group: &str, kind: &str) -> Option<&str> {
        self.broken.get(&(group.to_owned(), kind.to_owned())).map(|(_, why)| why.as_str())
    }

    /// Errors of classes that cannot be parsed.
    pub(crate) fn nonsense(&self) -> &[String] {
        &self.nonsense
    }

    /// The uid of the class of a kind.
    pub(crate) fn uid_of(&self, group: &str, kind: &str) -> Option<&Uid> {
        let kind = (group.to_owned(), kind.to_owned());
        let broken = || self.broken.get(&kind).map(|(uid, _)| uid);
        self.by_kind.get(&kind).map(|(uid, _)| uid).or_else(broken)
    }

    /// The uid of the class of each kind.
    pub(crate) fn bindings(&self) -> BTreeMap<(String, String), Uid> {
        let read = self.by_kind.iter().map(|(kind, (uid, _))| (kind.clone(), uid.clone()));
        read.chain(self.broken.iter().map(|(kind, (uid, _))| (kind.clone(), uid.clone()))).collect()
    }

    /// Reads all classes, unless the server has no such kind: it is not asked for what it does not serve, because
    /// users with few rights are refused that, too. The objects of a class that makes no sense wait until it does: without
    /// its methods they would leave behind what these destroy.
    pub(crate) async fn read(resources: &Resources, view: &View) -> Result<Classes, ListError> {
        let mut classes = Classes::default();
        let kind = served().resource;
        if !FeedKind::may_be_among(&view.kinds, &kind.group, &kind.resource) {
            return Ok(classes);
        }
        let documents =
            match resources.list_changed(&Place::new(&served(), None), view.class_versions()).await {
                // The kind went a moment ago.
                Err(ListError::Call(CallError::Refused(status))) if status.code == 404 => return Ok(classes),
                documents => documents?,
            };
        for document in documents.iter() {
            match Class::parse(document) {
                Ok(class) => {
                    let uid = Uid(text(document, "/metadata/uid").to_owned());
                    let kind = (class.group.clone(), class.kind.clone());
                    classes.by_kind.entry(kind).or_insert_with(|| (uid, Arc::new(class)));
                }
                Err(errors) => classes.note_broken(document, &errors),
            }
        }
        let by_kind = &classes.by_kind;
        classes.broken.retain(|kind, _| !by_kind.contains_key(kind));
        Ok(classes)
    }

    fn note_broken(&mut self, document: &Value, errors: &[FieldError]) {
        let name = text(document, "/metadata/name");
        let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let why = why.join("; ");
        let (group, kind) = (text(document, "/spec/for/group"), text(document, "/spec/for/kind"));
        let line = match kind {
            "" => format!("the class {name} is ignored: {why}"),
            kind => {
                let line = format!(
                    "the class {name} cannot be understood, so objects of the kind {kind} are not destroyed until it is \
                     mended or deleted: {why}"
                );
                let uid = Uid(text(document, "/metadata/uid").to_owned());
                self.broken.entry((group.to_owned(), kind.to_owned())).or_insert((uid, line.clone()));
                line
            }
        };
        tracing::warn!("{line}");
        self.nonsense.push(line);
    }
}

pub(super) fn served() -> ServedKind {
    ServedKind::of_ours("classes", "Class")
}
