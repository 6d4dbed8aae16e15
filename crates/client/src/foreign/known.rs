//! What the reader of the feed was told of one kind, and so what it has to be told next.
//!
//! Pure. An object is known by its uid: a successor of the same name is another one.

use std::collections::BTreeMap;

use sexton_model::feed::{FeedObject, Line, Partial};

/// What a watch says of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// It is there, new or changed.
    There,
    /// It is gone.
    Gone,
}

/// The objects of one kind by uid, as they were told last.
#[derive(Debug, Default)]
pub(super) struct Known {
    resource: String,
    lives: BTreeMap<String, Partial>,
}

impl Known {
    pub(super) fn new(resource: &str) -> Known {
        Known { resource: resource.to_owned(), lives: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lives.is_empty()
    }

    /// A full list: tells the difference to what is known. What vanished comes first, so that no two objects of one
    /// name are told at the same time; of its end nothing is known, so it is told as it was last.
    pub(super) fn listed(&mut self, found: Vec<Partial>) -> Vec<Line> {
        let before = std::mem::take(&mut self.lives);
        let mut lines = Vec::new();
        let mut vanished = before;
        let mut there = Vec::with_capacity(found.len());
        for object in found {
            let known = vanished.remove(&object.metadata.uid);
            there.push((known, object));
        }
        lines.extend(vanished.into_values().map(|object| Line::Deleted(self.about(object))));
        for (known, object) in there {
            lines.extend(self.difference(known.as_ref(), &object));
            self.lives.insert(object.metadata.uid.clone(), object);
        }
        lines
    }

    /// An event of a watch. The same thing twice is told once; the end of an object that was never told is told, too.
    pub(super) fn event(&mut self, said: Said, object: Partial) -> Option<Line> {
        match said {
            Said::There => {
                let line = self.difference(self.lives.get(&object.metadata.uid), &object);
                self.lives.insert(object.metadata.uid.clone(), object);
                line
            }
            Said::Gone => {
                self.lives.remove(&object.metadata.uid);
                Some(Line::Deleted(self.about(object)))
            }
        }
    }

    /// The kind is gone, and with it all its objects.
    pub(super) fn all_gone(&mut self) -> Vec<Line> {
        self.listed(Vec::new())
    }

    fn difference(&self, known: Option<&Partial>, object: &Partial) -> Option<Line> {
        match known {
            None => Some(Line::Added(self.about(object.clone()))),
            Some(known) if known == object => None,
            Some(_) => Some(Line::Modified(self.about(object.clone()))),
        }
    }

    fn about(&self, object: Partial) -> FeedObject {
        FeedObject { resource: self.resource.clone(), object, by: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sexton_model::feed::Metadata;

    fn object(name: &str, uid: &str, version: u32) -> Partial {
        let metadata = Metadata {
            name: name.into(),
            uid: uid.into(),
            resource_version: version.to_string(),
            ..Metadata::default()
        };
        Partial { metadata, ..Partial::default() }
    }

    fn words(lines: &[Line]) -> Vec<String> {
        let word = |line: &Line| match line {
            Line::Added(told) => format!("+{}", told.object.metadata.uid),
            Line::Modified(told) => format!("~{}", told.object.metadata.uid),
            Line::Deleted(told) => {
                format!("-{}@{}", told.object.metadata.uid, told.object.metadata.resource_version)
            }
            other => format!("{other:?}"),
        };
        lines.iter().map(word).collect()
    }

    /// Race 19: what ended during a gap is told with its last known metadata; and a successor of the same name is told
    /// after the end of its predecessor.
    #[test]
    fn a_list_after_a_gap_tells_the_difference() {
        let mut known = Known::new("configmaps");
        let before = vec![object("same", "1", 1), object("changed", "2", 2), object("slot", "3", 3)];
        assert_eq!(words(&known.listed(before)), ["+1", "+2", "+3"]);
        let after = vec![object("same", "1", 1), object("changed", "2", 8), object("slot", "4", 9)];
        assert_eq!(words(&known.listed(after)), ["-3@3", "~2", "+4"]);
        assert_eq!(words(&known.all_gone()), ["-1@1", "-2@8", "-4@9"]);
    }

    /// Race 9: a server that begins a watch with what is there repeats itself; and an end may be the first that is
    /// heard of an object.
    #[test]
    fn events_are_told_as_what_they_are_to_the_reader() {
        let mut known = Known::new("configmaps");
        let told = [
            known.event(Said::There, object("a", "1", 1)),
            known.event(Said::There, object("a", "1", 1)),
            known.event(Said::There, object("a", "1", 2)),
            known.event(Said::Gone, object("a", "1", 3)),
            known.event(Said::Gone, object("b", "2", 4)),
        ];
        assert_eq!(words(&told.into_iter().flatten().collect::<Vec<_>>()), ["+1", "~1", "-1@3", "-2@4"]);
    }

    proptest! {
        /// Whatever lists and events come, a reader that only applies lines has what the last word was.
        #[test]
        fn the_reader_has_what_was_said(
            steps in proptest::collection::vec((0..3_u8, proptest::collection::btree_map(0..6_u8, 0..4_u32, 0..6)), 1..12)
        ) {
            let mut known = Known::new("configmaps");
            let (mut reader, mut truth) = (BTreeMap::new(), BTreeMap::new());
            for (step, lives) in steps {
                let found = lives.iter().map(|(uid, version)| object("x", &uid.to_string(), *version));
                let said = if step == 1 { Said::Gone } else { Said::There };
                let lines: Vec<Line> = match step {
                    0 => {
                        truth.clear();
                        known.listed(found.collect())
                    }
                    _ => found.filter_map(|object| known.event(said, object)).collect(),
                };
                for (uid, version) in lives {
                    match said {
                        Said::Gone => drop(truth.remove(&uid.to_string())),
                        Said::There => drop(truth.insert(uid.to_string(), version.to_string())),
                    }
                }
                for line in lines {
                    match line {
                        Line::Added(told) => {
                            let metadata = told.object.metadata;
                            prop_assert!(reader.insert(metadata.uid, metadata.resource_version).is_none());
                        }
                        Line::Modified(told) => {
                            let metadata = told.object.metadata;
                            prop_assert!(reader.insert(metadata.uid, metadata.resource_version).is_some());
                        }
                        Line::Deleted(told) => drop(reader.remove(&told.object.metadata.uid)),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                prop_assert_eq!(&reader, &truth);
            }
        }
    }
}
