//! The classes: which methods the objects of a kind have. Read whole, because the feed tells only metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_client::resources::{ListAsk, ListError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::Uid;
use sexton_model::class::Class;
use sexton_model::feed::FeedKind;

/// All classes, by the kind that each is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    by_kind: BTreeMap<(String, String), (Uid, Arc<Class>)>,
    /// What is wrong with classes that cannot be understood, a line for each.
    nonsense: Vec<String>,
}

impl Classes {
    /// The class of a kind.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Option<&Arc<Class>> {
        self.by_kind.get(&(group.to_owned(), kind.to_owned())).map(|(_, class)| class)
    }

    /// What is wrong with those that are ignored.
    pub(crate) fn nonsense(&self) -> &[String] {
        &self.nonsense
    }

    /// The uid of the class of a kind.
    pub(crate) fn uid_of(&self, group: &str, kind: &str) -> Option<&Uid> {
        self.by_kind.get(&(group.to_owned(), kind.to_owned())).map(|(uid, _)| uid)
    }

    /// Which class gives code to which kind.
    pub(crate) fn bindings(&self) -> BTreeMap<(String, String), Uid> {
        self.by_kind.iter().map(|(kind, (uid, _))| (kind.clone(), uid.clone())).collect()
    }

    /// Reads all classes, unless the server has no such kind: it is not asked for what it does not serve, because
    /// users with few rights are refused that, too. A class that makes no sense is told and left out: its kind has no
    /// class then.
    pub(crate) async fn read(resources: &Resources, kinds: &[FeedKind]) -> Result<Classes, ListError> {
        let mut classes = Classes::default();
        let kind = served().resource;
        if !FeedKind::may_be_among(kinds, &kind.group, &kind.resource) {
            return Ok(classes);
        }
        let listed = match resources.list(&Place::new(&served(), None), &ListAsk::default()).await {
            // The kind went a moment ago.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 404 => return Ok(classes),
            listed => listed?,
        };
        for document in &listed.found {
            match Class::parse(document) {
                Ok(class) => {
                    let uid = Uid(text(document, "/metadata/uid").to_owned());
                    let kind = (class.group.clone(), class.kind.clone());
                    classes.by_kind.entry(kind).or_insert_with(|| (uid, Arc::new(class)));
                }
                Err(errors) => {
                    let name = text(document, "/metadata/name");
                    let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    let line = format!("the class {name} is ignored: {}", why.join("; "));
                    tracing::warn!("{line}");
                    classes.nonsense.push(line);
                }
            }
        }
        Ok(classes)
    }
}

fn served() -> ServedKind {
    ServedKind::of_ours("classes", "Class")
}
