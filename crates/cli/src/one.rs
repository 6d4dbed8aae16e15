//! The one object that a command is about: found, or an error that proposes similar names; and its annotations.

use serde_json::{Map, Value, json};
use sexton_client::kinds::nearest;
use sexton_client::resources::{ListAsk, PutError, text};
use sexton_client::{Kinds, Place};

use crate::failure::Failure;
use crate::naming::Names;
use crate::targets;
use crate::world::World;

/// An object that is there.
#[derive(Debug, Clone)]
pub(crate) struct One {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// What it is called, as it can be typed: `Vm/web-1`, or `Vm/other/web-1`.
    pub(crate) label: String,
    pub(crate) object: Value,
}

/// Attempts to write an annotation, if other writers change the same object.
const TRIES: usize = 5;

impl One {
    /// The object of a word `KIND/NAME` or `KIND/NAMESPACE/NAME`.
    pub(crate) async fn find(world: &World, kinds: &Kinds, word: &str) -> Result<One, Failure> {
        let (place, name) = One::meant(world, kinds, word)?;
        match world.resources.find(&place, &name).await? {
            Some(object) => {
                let label = Names::new(kinds, &world.namespace).at(&place, &name);
                Ok(One { place, name, label, object })
            }
            None => Err(absent(world, &place, &name).await),
        }
    }

    /// Where that object would be.
    pub(crate) fn meant(world: &World, kinds: &Kinds, word: &str) -> Result<(Place, String), Failure> {
        let wanted = targets::with_name(kinds, word)?;
        let place = wanted.place(Some(&world.namespace));
        Ok((place, wanted.name.unwrap_or_default()))
    }

    pub(crate) fn uid(&self) -> &str {
        text(&self.object, "/metadata/uid")
    }

    /// An annotation, if it is there.
    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.object.pointer("/metadata/annotations")?.get(name)?.as_str()
    }

    /// Sets or removes an annotation of exactly this incarnation of the object. `note` computes the new value from the
    /// current one; after a conflict the object is read again and `note` is called again.
    pub(crate) async fn annotate(
        &mut self,
        world: &World,
        name: &str,
        mut note: impl FnMut(Option<&str>) -> Result<Option<String>, Failure>,
    ) -> Result<(), Failure> {
        for _ in 1..TRIES {
            match self.write(world, name, note(self.annotation(name))?).await {
                Err(PutError::Conflict(_)) => {}
                result => return Ok(result.map(|object| self.object = object)?),
            }
            let now = world.resources.find(&self.place, &self.name).await?;
            match now.filter(|now| text(now, "/metadata/uid") == self.uid()) {
                Some(now) => self.object = now,
                None => return Err(absent(world, &self.place, &self.name).await),
            }
        }
        self.object = self.write(world, name, note(self.annotation(name))?).await?;
        Ok(())
    }

    async fn write(&self, world: &World, name: &str, note: Option<String>) -> Result<Value, PutError> {
        let annotations: Map<String, Value> = [(name.to_owned(), json!(note))].into_iter().collect();
        let patch = json!({"metadata": {
            "uid": self.uid(),
            "resourceVersion": text(&self.object, "/metadata/resourceVersion"),
            "annotations": annotations,
        }});
        world.resources.merge(&self.place, &self.name, &patch).await
    }
}

/// There is no such object; perhaps another one was meant.
pub(crate) async fn absent(world: &World, place: &Place, name: &str) -> Failure {
    let whereabouts = match &place.namespace {
        Some(namespace) => format!(" in the namespace {namespace}"),
        None => String::new(),
    };
    let failure = Failure::new(format!("there is no {}/{name}{whereabouts}", place.kind.kind));
    let listed = world.resources.list_metadata(place, &ListAsk::default()).await;
    let Ok(listed) = listed else { return failure };
    let names = listed.found.iter().map(|object| text(object, "/metadata/name"));
    let near = nearest(name, names);
    let failure = match near.is_empty() {
        true => failure,
        false => failure.detail(format!("did you mean {}?", near.join(" or "))),
    };
    let see = format!("sexton get {}", place.kind.resource.resource);
    failure.next("see all of them", see)
}
