//! The table of served kinds: the built-in ones and those that stored definitions add.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use sexton_model::class::Class;
use sexton_model::feed::FeedKind;
use sexton_model::rule::{Detector, Rule};
use sexton_model::stored::NotStored;
use sexton_model::{GroupResource, Revision};
use sexton_store::engine::RawKey;
use sexton_store::{At, Object, Scope, Store, StoreError};
use tokio::sync::{Mutex, watch as watch_flag};

use super::defined::Defined;
use super::naming::{self, Taken};
use super::{Kind, KindRef, builtin};

/// The group of the kinds that only we have.
const OWN_GROUP: &str = "sexton.dev";

/// All kinds served at one moment.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_path: BTreeMap<(String, String, String), KindRef>,
    /// Whether there is nothing that only we have.
    plain: bool,
    /// Everything that may be stored, served or not, and whether it is namespaced.
    stored: BTreeMap<GroupResource, bool>,
    /// Every version of every kind, served or not.
    listed: BTreeMap<(String, String, String), FeedKind>,
    /// The code that kinds bring, by group and kind.
    classes: BTreeMap<(String, String), Arc<Class>>,
    /// Rules that hold names of a kind, by group and kind.
    holds: BTreeMap<(String, String), Vec<Arc<Rule>>>,
    /// Everything that may be stored, in one of its versions: objects are the same in all of them.
    kept: BTreeMap<GroupResource, KindRef>,
    /// The names that definitions have, by group.
    taken: BTreeMap<String, Taken>,
    /// Definitions that do not have all the names that they ask for.
    unsettled: Vec<String>,
    /// What each definition comes to, by its key.
    defined: BTreeMap<RawKey, Arc<Defined>>,
}

impl Registry {
    /// The built-in kinds and those of these definitions.
    fn read(definitions: &[Object], plain: bool, before: &Registry) -> Result<Registry, NotStored> {
        let mut registry = Registry { plain, ..Registry::default() };
        let here: Vec<Kind> = builtin::kinds().filter(|kind| registry.has_builtin(kind)).collect();
        here.into_iter().for_each(|kind| registry.add(Arc::new(kind)));
        for object in definitions {
            let defined = Defined::read(object, before.defined.get(&object.key))?;
            registry.define(&defined);
            registry.defined.insert(object.key.clone(), defined);
        }
        Ok(registry)
    }

    fn define(&mut self, defined: &Defined) {
        match self.taken.get_mut(&defined.group) {
            Some(taken) => taken.extend(&defined.names),
            None => drop(self.taken.insert(defined.group.clone(), defined.names.clone())),
        }
        if !defined.settled {
            self.unsettled.push(defined.name.clone());
        }
        defined.listed.iter().for_each(|kind| self.list(kind.clone()));
        defined.kinds.iter().for_each(|kind| self.add(kind.clone()));
        if let Some(kind) = &defined.unserved {
            // No request can name it, although its objects are there.
            self.kept.entry(kind.resource.clone()).or_insert_with(|| kind.clone());
        }
    }

    /// The names that definitions of a group have.
    pub(crate) fn taken(&self, group: &str) -> &Taken {
        self.taken.get(group).unwrap_or(&naming::NONE_TAKEN)
    }

    /// Definitions that do not have all the names that they ask for.
    pub(crate) fn unsettled(&self) -> &[String] {
        &self.unsettled
    }

    /// Takes in the code that kinds bring.
    fn classify(&mut self, classes: &[Object]) -> Result<(), NotStored> {
        for object in classes {
            let document = object.document()?;
            match Class::parse(document.value()) {
                Ok(class) => {
                    let kind = (class.group.clone(), class.kind.clone());
                    self.classes.entry(kind).or_insert_with(|| Arc::new(class));
                }
                // Only what another version of this program stored can be so.
                Err(errors) => {
                    tracing::error!(class = document.name(), ?errors, "a stored class cannot be read");
                }
            }
        }
        Ok(())
    }

    /// Takes in the rules that hold names.
    fn hold_names(&mut self, rules: &[Object]) -> Result<(), NotStored> {
        for object in rules {
            // A rule that cannot be read holds nothing; the collector reports it.
            let Ok(rule) = Rule::parse(object.document()?.value()) else { continue };
            let Detector::Leftover(leftover) = &rule.detector else { continue };
            if leftover.hold {
                let kind = (leftover.owner.group.clone(), leftover.owner.kind.clone());
                self.holds.entry(kind).or_default().push(Arc::new(rule));
            }
        }
        Ok(())
    }

    /// Whether any rule holds names.
    pub(crate) fn holds_names(&self) -> bool {
        !self.holds.is_empty()
    }

    /// The rules that hold names of a kind.
    pub(crate) fn name_holds(&self, group: &str, kind: &str) -> &[Arc<Rule>] {
        self.holds.get(&(group.to_owned(), kind.to_owned())).map_or(&[], Vec::as_slice)
    }

    fn list(&mut self, kind: FeedKind) {
        self.stored.entry(GroupResource::new(&kind.group, &kind.resource)).or_insert(kind.namespaced);
        let path = (kind.group.clone(), kind.version.clone(), kind.resource.clone());
        self.listed.entry(path).or_insert(kind);
    }

    fn add(&mut self, kind: KindRef) {
        self.list(kind.listed());
        let path = (kind.resource.group.clone(), kind.version.clone(), kind.resource.resource.clone());
        // The first wins: a definition can never take the place of a built-in kind.
        let kind = self.by_path.entry(path).or_insert(kind).clone();
        self.kept.entry(kind.resource.clone()).or_insert(kind);
    }

    /// The kind at a path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&KindRef> {
        self.by_path.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// All kinds, by group, version and plural.
    pub fn all(&self) -> impl Iterator<Item = &KindRef> {
        self.by_path.values()
    }

    /// All that may be stored, and whether it is namespaced. More than is served: switching a definition's
    /// versions off does not make its objects go away.
    pub fn stored(&self) -> impl Iterator<Item = (&GroupResource, bool)> {
        self.stored.iter().map(|(resource, namespaced)| (resource, *namespaced))
    }

    /// Every version of every kind, served or not, as a feed over all kinds tells them.
    pub fn listed(&self) -> impl Iterator<Item = &FeedKind> {
        self.listed.values()
    }

    /// Where the objects of a kind are, in whichever version.
    pub fn resources_of<'a>(&'a self, group: &'a str, kind: &'a str) -> BTreeSet<GroupResource> {
        let meant = self.listed().filter(|listed| listed.group == group && listed.kind == kind);
        meant.map(|listed| GroupResource::new(&listed.group, &listed.resource)).collect()
    }

    /// The code that a kind brings for the end of its objects.
    pub fn class_of(&self, group: &str, kind: &str) -> Option<Arc<Class>> {
        if self.classes.is_empty() {
            return None;
        }
        self.classes.get(&(group.to_owned(), kind.to_owned())).cloned()
    }

    /// The kind of a resource in whichever version, served or not.
    pub fn kept(&self, resource: &GroupResource) -> Option<&KindRef> {
        self.kept.get(resource)
    }

    /// Whether a kind brings code of its own for the end of its objects, by a class.
    pub fn has_class(&self, kind: &Kind) -> bool {
        self.class_of(&kind.resource.group, &kind.kind).is_some()
    }

    /// Whether a kind that is always there is there: a plain server leaves ours out.
    pub(super) fn has_builtin(&self, kind: &Kind) -> bool {
        !(self.plain && kind.resource.group == OWN_GROUP)
    }

    /// The kinds of one group and version.
    pub fn of<'a>(&'a self, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a KindRef> {
        let from = (group.to_owned(), version.to_owned(), String::new());
        let rest = self.by_path.range(from..).map(|(_, kind)| kind);
        rest.take_while(move |kind| kind.resource.group == group && kind.version == version)
    }

    /// The groups with their versions, in order, without the core group.
    pub fn groups(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for kind in self.all().filter(|kind| !kind.resource.group.is_empty()) {
            let versions = groups.entry(&kind.resource.group).or_default();
            if !versions.contains(&kind.version.as_str()) {
                versions.push(&kind.version);
            }
        }
        groups
    }

    /// The kind that an owner reference names.
    pub fn named(&self, api_version: &str, kind: &str) -> Option<&KindRef> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.all().find(|candidate| {
            candidate.kind == kind && candidate.resource.group == group && candidate.version == version
        })
    }
}

/// Where definitions are.
pub(crate) fn definitions() -> Scope {
    Scope { kind: GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions"), namespace: None }
}

/// Where classes are.
pub(crate) fn classes() -> Scope {
    Scope { kind: GroupResource::new("sexton.dev", "classes"), namespace: None }
}

/// Where rules are.
pub(crate) fn rules() -> Scope {
    Scope { kind: GroupResource::new("sexton.dev", "rules"), namespace: None }
}

/// The current registry, and the only place that changes it.
#[derive(Debug)]
pub struct Kinds {
    current: ArcSwap<Registry>,
    /// Whether there is nothing that only we have.
    plain: bool,
    /// Reloads one after the other, so that an older reading never replaces a newer one. Holds up to when all changes
    /// have been read.
    reloading: Mutex<Revision>,
    /// Told whenever there is another registry.
    changed: watch_flag::Sender<()>,
}

impl Kinds {
    /// The built-in kinds and those of the stored definitions.
    pub async fn load(store: &Store, plain: bool) -> Result<Kinds, StoreError> {
        let (current, reloading) = (ArcSwap::default(), Mutex::new(Revision::NONE));
        let kinds = Kinds { current, plain, reloading, changed: watch_flag::Sender::new(()) };
        kinds.reload(store).await?;
        Ok(kinds)
    }

    /// Whether there is nothing that only we have: no kinds of ours, no verbs of ours.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// The kinds served now.
    pub fn current(&self) -> Arc<Registry> {
        self.current.load_full()
    }

    /// Tells of every change of the kinds from now on.
    pub fn changes(&self) -> watch_flag::Receiver<()> {
        self.changed.subscribe()
    }

    /// Reads definitions, classes and rules again whenever one changes, until the store is closed. A request that
    /// changes one reloads at once, too; this is for requests that were dropped in the middle, and for changes that
    /// others make.
    pub async fn follow(self: &Arc<Self>, store: &Store) -> Result<(), StoreError> {
        for scope in [definitions(), classes(), rules()] {
            self.follow_scope(store, &scope).await?;
        }
        Ok(())
    }

    async fn follow_scope(self: &Arc<Self>, store: &Store, scope: &Scope) -> Result<(), StoreError> {
        let after = store.engine().head().await?;
        let mut feed = store.changes(scope, after).await?;
        // Neither the table nor the store is kept alive by this.
        let (kinds, engine) = (Arc::downgrade(self), Arc::downgrade(store.engine()));
        tokio::spawn(async move {
            while let Ok(batch) = feed.next().await {
                let (Some(kinds), Some(engine)) = (kinds.upgrade(), engine.upgrade()) else { return };
                // The request that made the change has mostly read it already.
                if *kinds.reloading.lock().await >= batch.seen {
                    continue;
                }
                if let Err(error) = kinds.reload(&Store::new(engine)).await {
                    tracing::error!(%error, "the definitions and classes cannot be read");
                }
            }
        });
        Ok(())
    }

    /// Reads the definitions and classes again.
    pub async fn reload(&self, store: &Store) -> Result<(), StoreError> {
        let mut read = self.reloading.lock().await;
        let page = store.list(&definitions(), At::Latest, None, None).await?;
        let mut registry = Registry::read(&page.objects, self.plain, &self.current())?;
        // What lies there on a plain server are objects like any other.
        if !self.plain {
            registry.classify(&store.list(&classes(), At::Latest, None, None).await?.objects)?;
            registry.hold_names(&store.list(&rules(), At::Latest, None, None).await?.objects)?;
        }
        self.current.store(Arc::new(registry));
        self.changed.send_replace(());
        *read = page.revision;
        Ok(())
    }
}
