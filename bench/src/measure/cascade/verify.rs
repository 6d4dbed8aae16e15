//! The list after a cascade: nothing may be left, or of orphans everything, with the right owners.
//! Must not know: what the watch saw.

use std::borrow::Cow;

use serde::Deserialize;

use super::course::Fate;
use super::metadata::{self, Metadata, Object};
use super::planting::Planting;
use super::plot::Plot;
use crate::bench::Bench;
use crate::conn::Conn;
use crate::error::{Error, Result};
use crate::pages;

const LIMIT: u64 = 1000;
/// How many names a message shows.
const SHOWN: usize = 3;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    metadata: PageMeta<'a>,
    #[serde(borrow, default)]
    items: Option<Vec<Object<'a>>>,
}

#[derive(Deserialize)]
struct PageMeta<'a> {
    #[serde(borrow, default, rename = "continue")]
    next: Cow<'a, str>,
}

/// What the list shows.
#[derive(Default)]
pub(crate) struct Remains {
    /// Objects that are not as they should be: still there, still owned by the root, or, of orphans, missing.
    pub(crate) wrong: u64,
    examples: Vec<String>,
}

/// Lists the namespace and looks at every object of the plot.
pub(crate) async fn list(bench: &Bench, plot: &Plot, fate: Fate) -> Result<Remains> {
    let mut conn = Conn::open(&bench.target).await?;
    let mut check = Check { plot, fate, found: 0, remains: Remains::default() };
    let mut next = String::new();
    loop {
        let request =
            metadata::of_lists(bench.target.get(&pages::path_of(&bench.collection(), LIMIT, &next))?);
        let body = conn.fetch_ok("list", request).await?;
        let page: Page<'_> = serde_json::from_slice(&body)
            .map_err(|source| Error::Unreadable { what: "list".to_owned(), source })?;
        page.items.iter().flatten().for_each(|object| check.object(&object.metadata));
        if page.metadata.next.is_empty() {
            return Ok(check.finish());
        }
        next = page.metadata.next.into_owned();
    }
}

struct Check<'a> {
    plot: &'a Plot,
    fate: Fate,
    found: u64,
    remains: Remains,
}

impl Check<'_> {
    fn object(&mut self, metadata: &Metadata<'_>) {
        let Some(number) = self.plot.number(&metadata.name) else { return };
        let right = match self.fate {
            Fate::Gone => false,
            Fate::Orphaned => {
                let owner = self.plot.shape.owner(number).filter(|owner| *owner != 0);
                let owner = owner.map(|owner| self.plot.name(owner));
                self.found += u64::from(number != 0);
                number != 0 && metadata.owners().eq(owner.as_deref())
            }
        };
        if !right {
            self.remains.add(1, || metadata.name.to_string());
        }
    }

    fn finish(mut self) -> Remains {
        let missing = (self.plot.shape.objects() - 1).saturating_sub(self.found);
        if self.fate == Fate::Orphaned && missing > 0 {
            self.remains.add(missing, || format!("{missing} orphans that are missing"));
        }
        self.remains
    }
}

impl Remains {
    fn add(&mut self, count: u64, example: impl FnOnce() -> String) {
        self.wrong += count;
        if self.examples.len() < SHOWN {
            self.examples.push(example());
        }
    }

    /// The first of them, for a message.
    pub(crate) fn examples(&self) -> String {
        let more = if self.wrong > self.examples.len() as u64 { ", …" } else { "" };
        format!("{}{more}", self.examples.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::cascade::shape::Shape;

    fn check(fate: Fate, objects: &[&str]) -> Remains {
        let plot = Plot::new(Shape::Chain(4), "ns", "c".to_owned());
        let mut check = Check { plot: &plot, fate, found: 0, remains: Remains::default() };
        for text in objects {
            check.object(&serde_json::from_str::<Metadata<'_>>(text).unwrap());
        }
        check.finish()
    }

    #[test]
    fn nothing_may_be_left_but_what_others_made() {
        assert_eq!(check(Fate::Gone, &[r#"{"name":"kube-root-ca.crt"}"#]).wrong, 0);
        let left = check(Fate::Gone, &[r#"{"name":"c-00000002"}"#]);
        assert_eq!((left.wrong, left.examples()), (1, "c-00000002".to_owned()));
    }

    #[test]
    fn orphans_are_all_there_with_the_right_owners() {
        let freed = r#"{"name":"c-00000001"}"#;
        let second = r#"{"name":"c-00000002","ownerReferences":[{"name":"c-00000001"}]}"#;
        let third = r#"{"name":"c-00000003","ownerReferences":[{"name":"c-00000002"}]}"#;
        assert_eq!(check(Fate::Orphaned, &[freed, second, third]).wrong, 0);
        assert_eq!(check(Fate::Orphaned, &[freed, third]).wrong, 1, "one is missing");
        let owned = r#"{"name":"c-00000001","ownerReferences":[{"name":"c-00000000"}]}"#;
        assert_eq!(check(Fate::Orphaned, &[owned, second, third]).wrong, 1, "still owned by the root");
        let root = r#"{"name":"c-00000000"}"#;
        assert_eq!(check(Fate::Orphaned, &[root, freed, second, third]).wrong, 1, "the root is there");
        let stripped = r#"{"name":"c-00000003"}"#;
        assert_eq!(check(Fate::Orphaned, &[freed, second, stripped]).wrong, 1, "freed, but not an orphan");
    }
}
