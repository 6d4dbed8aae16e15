//! Which lists are keyed, sets or atomic, and which maps are atomic: the shape rules of one kind.
//!
//! A [`Schema`] is plain data, so that built-in tables and CRD schemas feed the same code.
//! It must not know how patches or ownership use the rules.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::kinds;

/// How strategic merge patch treats a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SmpList {
    /// The patch replaces the list.
    #[default]
    Atomic,
    /// Items are primitives; the patch adds to them.
    Set,
    /// Items are maps matched by this key.
    Map(Cow<'static, str>),
}

/// How server-side apply and field ownership treat a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SsaList {
    /// The list has one owner as a whole.
    #[default]
    Atomic,
    /// Every primitive item has its own owners.
    Set,
    /// Items are maps matched by all of these keys, sorted by name.
    Map(Vec<ListKey>),
}

/// One key of an associative list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListKey {
    /// The field of the item that is (part of) its identity.
    pub name: Cow<'static, str>,
    /// What the key is taken to be where an item does not say.
    pub default: Option<Value>,
}

/// The rules at one place of a document. For a list, `fields` describe the fields of its items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The list rule for strategic merge patch.
    pub smp: SmpList,
    /// The list rule for ownership.
    pub ssa: SsaList,
    /// Whether a map here (or each map item of a list here) has one owner as a whole.
    pub atomic: bool,
    fields: Vec<(Cow<'static, str>, Arc<Node>)>,
    any: Option<Arc<Node>>,
}

impl Node {
    /// The rules below this node for the field `name`; `None` means the default rules.
    pub fn child(&self, name: &str) -> Option<&Node> {
        match self.fields.binary_search_by(|(field, _)| field.as_ref().cmp(name)) {
            Ok(at) => Some(&self.fields[at].1),
            Err(_) => self.any.as_deref(),
        }
    }

    /// Sets the rules for the field `name`; the name `*` stands for every field not named.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, node: Arc<Node>) {
        let name = name.into();
        if name == "*" {
            self.any = Some(node);
            return;
        }
        match self.fields.binary_search_by(|(field, _)| field.cmp(&name)) {
            Ok(at) => self.fields[at].1 = node,
            Err(at) => self.fields.insert(at, (name, node)),
        }
    }

    /// The node at a dotted path, made where missing. An empty path is this node.
    pub fn at(&mut self, path: &'static str) -> &mut Node {
        let mut node = self;
        for name in path.split('.').filter(|name| !name.is_empty()) {
            let place = match node.fields.binary_search_by(|(field, _)| field.as_ref().cmp(name)) {
                Ok(at) => at,
                Err(at) => {
                    node.fields.insert(at, (name.into(), Arc::default()));
                    at
                }
            };
            node = Arc::make_mut(&mut node.fields[place].1);
        }
        node
    }
}

/// The shape rules of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    root: Node,
    has_status: bool,
}

impl Schema {
    /// A schema from its rules; the rules of `metadata` are added where missing.
    pub fn new(mut root: Node, has_status: bool) -> Self {
        if root.child("metadata").is_none() {
            root.set("metadata", kinds::metadata());
        }
        Self { root, has_status }
    }

    /// The rules of a resource nothing more is known of: maps granular, lists atomic, metadata as ever.
    pub fn custom(has_status: bool) -> Self {
        Self::new(Node::default(), has_status)
    }

    /// The built-in rules of a kind, or `None` where the kind is not in the table.
    pub fn builtin(group: &str, kind: &str) -> Option<&'static Schema> {
        kinds::builtin(group, kind)
    }

    /// The rules at the root of the document.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Whether `status` is written only through its own subresource.
    pub fn has_status(&self) -> bool {
        self.has_status
    }
}
