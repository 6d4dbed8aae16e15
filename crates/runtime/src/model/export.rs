//! Export: everything reachable from the root over persistable properties, as JSON. Each object is written once, nested
//! at a reference from its owner if there is one, else at the first reference to it; other references are `{"?":
//! {"ref": id}}`.

use serde_json::ser::{CompactFormatter, Formatter};

use super::nesting::{Nesting, fields};
use super::{HEADER, MAX_NESTING};
use crate::gc::masks;
use crate::world::{Class, Handle, Object, ObjectKey, Store, StoredValue, World};

/// Why a world cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The root belongs to another world.
    #[error("the root is of another world")]
    Foreign,
    /// The text could not be written.
    #[error("the model could not be written")]
    Text(#[source] std::io::Error),
}

/// Everything reachable from a root over persistable properties, as compact JSON. The same objects give the same text.
///
/// # Errors
/// If the root is not of this world.
pub fn export(world: &World, root: Option<&Handle>) -> Result<String, ExportError> {
    let mut text: Vec<u8> = Vec::new();
    match root {
        None => text.extend(br#"{"Objects":null}"#),
        Some(root) if !root.world().is(world) => return Err(ExportError::Foreign),
        Some(root) => {
            let (masks, classes) = (masks(world), world.classes());
            let document = |store: &Store| {
                let nesting = Nesting::new(store, root.key(), &masks);
                let written = vec![false; nesting.order.len()];
                let (too_deep, text) = (Vec::new(), &mut text);
                let mut writer =
                    Writer { store, classes: &classes, masks: &masks, nesting, written, too_deep, text };
                writer.document()
            };
            world.read(document).map_err(ExportError::Text)?;
        }
    }
    // Only JSON was written, and that is text.
    String::from_utf8(text).map_err(|error| ExportError::Text(std::io::Error::other(error)))
}

struct Writer<'a> {
    store: &'a Store,
    classes: &'a [Class],
    masks: &'a [Vec<bool>],
    nesting: Nesting,
    written: Vec<bool>,
    /// Objects that would have been nested too deeply; written under `Also`.
    too_deep: Vec<usize>,
    text: &'a mut Vec<u8>,
}

type WriteResult = std::io::Result<()>;

impl Writer<'_> {
    fn document(&mut self) -> WriteResult {
        self.raw(br#"{"Objects":"#);
        self.object(0, None, 1)?;
        let (mut next, mut cursor, mut beside) = (0, 0, 0);
        loop {
            // First the objects that were too deep, then those that are in a circle of owners.
            let number = match self.too_deep.get(next) {
                Some(number) => {
                    next += 1;
                    Some(*number)
                }
                None => {
                    cursor += self.written[cursor..].iter().take_while(|written| **written).count();
                    (cursor < self.written.len()).then_some(cursor)
                }
            };
            let Some(number) = number else { break };
            if !self.written[number] {
                self.raw(if beside == 0 { br#","Also":["# } else { b"," });
                beside += 1;
                self.object(number, None, 2)?;
            }
        }
        self.raw(if beside == 0 { b"}" } else { b"]}" });
        Ok(())
    }

    /// Writes an object in full, at a depth of the text. `enclosing` is the object that it is nested in.
    fn object(&mut self, number: usize, enclosing: Option<ObjectKey>, depth: usize) -> WriteResult {
        self.written[number] = true;
        let key = self.nesting.order[number];
        let (store, classes, masks) = (self.store, self.classes, self.masks);
        let Some(object) = store.get(key) else { return self.null() };
        let Some(class) = classes.get(object.class as usize) else { return self.null() };
        self.raw(b"{");
        self.string(HEADER)?;
        self.raw(br#":{"type":"#);
        self.string(class.name())?;
        self.raw(br#","id":"#);
        self.string(object.id.as_str())?;
        self.header(object, key, enclosing)?;
        self.raw(b"}");
        let names: Vec<&str> = class.properties().map(|(name, _)| name).collect();
        for (place, field) in fields(object, masks).filter(|(_, field)| **field != StoredValue::Null) {
            self.raw(b",");
            self.string(names.get(place).copied().unwrap_or_default())?;
            self.raw(b":");
            self.value(field, number, key, depth + 1)?;
        }
        self.raw(b"}");
        Ok(())
    }

    /// Writes the rest of an object's header after its type and id.
    fn header(&mut self, object: &Object, key: ObjectKey, enclosing: Option<ObjectKey>) -> WriteResult {
        if let Some(name) = object.rare.as_ref().and_then(|rare| rare.name.as_ref()) {
            self.raw(br#","name":"#);
            self.string(name)?;
        }
        if object.is_destroyed() {
            self.raw(br#","destroyed":true"#);
        }
        let owner = object.owner.filter(|owner| self.nesting.numbers.contains_key(owner));
        if owner != enclosing {
            self.raw(br#","owner":"#);
            match owner.and_then(|owner| self.store.get(owner)) {
                Some(owner) => self.string(owner.id.as_str())?,
                None => self.null()?,
            }
        }
        let store = self.store;
        let mut targets: Vec<(usize, ObjectKey)> = object
            .targets()
            .filter_map(|target| Some((*self.nesting.numbers.get(&target)?, target)))
            .collect();
        targets.sort_unstable();
        let known = targets.into_iter().filter_map(|(_, target)| {
            let target = store.get(target).filter(|target| !target.is_inert())?;
            Some((target, target.subscriber(key)?))
        });
        let known: Vec<_> = known.collect();
        if known.is_empty() || object.is_inert() {
            return Ok(());
        }
        self.raw(br#","dependencies":{"onDestruction":["#);
        for (at, (target, subscriber)) in known.into_iter().enumerate() {
            self.raw(if at == 0 { br#"{"target":"# } else { br#",{"target":"# });
            self.string(target.id.as_str())?;
            if let Some(handler) = &subscriber.handler {
                self.raw(br#","handler":"#);
                self.string(handler)?;
            }
            if subscriber.count > 1 {
                self.raw(format!(r#","count":{}"#, subscriber.count).as_bytes());
            }
            self.raw(b"}");
        }
        self.raw(b"]}");
        Ok(())
    }

    fn value(&mut self, value: &StoredValue, home: usize, enclosing: ObjectKey, depth: usize) -> WriteResult {
        match value {
            StoredValue::Null => self.null(),
            StoredValue::Bool(value) => CompactFormatter.write_bool(self.text, *value),
            StoredValue::Number(number) => {
                serde_json::to_writer(&mut *self.text, &json_number(*number)).map_err(Into::into)
            }
            StoredValue::String(text) => self.string(text),
            StoredValue::List(items) => {
                self.raw(b"[");
                for (at, item) in items.iter().enumerate() {
                    self.raw(if at == 0 { b"" } else { b"," });
                    self.value(item, home, enclosing, depth + 1)?;
                }
                self.raw(b"]");
                Ok(())
            }
            StoredValue::Map(entries) => self.map(entries, home, enclosing, depth),
            StoredValue::Object(key) => self.reference(*key, home, enclosing, depth),
        }
    }

    fn map(
        &mut self,
        entries: &[(std::rc::Rc<str>, StoredValue)],
        home: usize,
        enclosing: ObjectKey,
        depth: usize,
    ) -> WriteResult {
        let hidden = entries.iter().any(|(name, _)| &**name == HEADER);
        self.raw(if hidden { br#"{"?":{"map":{"# } else { b"{" });
        for (at, (name, value)) in entries.iter().enumerate() {
            self.raw(if at == 0 { b"" } else { b"," });
            self.string(name)?;
            self.raw(b":");
            self.value(value, home, enclosing, depth + 1)?;
        }
        self.raw(if hidden { b"}}}" } else { b"}" });
        Ok(())
    }

    /// Writes a reference: the object in full if this is its place, else its id.
    fn reference(&mut self, key: ObjectKey, home: usize, enclosing: ObjectKey, depth: usize) -> WriteResult {
        let Some(number) = self.nesting.numbers.get(&key).copied() else { return self.null() };
        if self.nesting.homes[number] == home && !self.written[number] && number != 0 {
            if depth <= MAX_NESTING {
                return self.object(number, Some(enclosing), depth);
            }
            self.too_deep.push(number);
        }
        let Some(object) = self.store.get(key) else { return self.null() };
        self.raw(br#"{"?":{"ref":"#);
        self.string(object.id.as_str())?;
        self.raw(b"}}");
        Ok(())
    }

    fn string(&mut self, text: &str) -> WriteResult {
        serde_json::to_writer(&mut *self.text, text).map_err(Into::into)
    }

    fn null(&mut self) -> WriteResult {
        CompactFormatter.write_null(self.text)
    }

    fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }
}

/// A number, without a fraction if it is whole.
fn json_number(number: f64) -> serde_json::Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < WHOLE {
        return serde_json::Value::from(number as i64);
    }
    serde_json::Value::from(number)
}
