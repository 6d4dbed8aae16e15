//! Fields that expressions name: one that no document can have is a mistake in the expression.
//!
//! Follows what certainly has a schema, and says nothing of everything else.

use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, operators};
use serde_json::Value;

use super::functions::making::{COUNT, FORMAT, MADE};
use super::seen::typed;

/// What every resource has, whether its schema names it or not.
const OF_ANY_RESOURCE: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The first field that an expression names and its schema does not.
pub(super) fn unknown(expr: &IdedExpr, schema: &Value, optional_old: bool) -> Option<String> {
    let mut known = vec![("self", Some(schema))];
    if !optional_old {
        known.push(("oldSelf", Some(schema)));
    }
    let mut walk = Walk { known, unknown: None };
    walk.schema_of(expr);
    walk.unknown
}

struct Walk<'a> {
    /// Variables and their schemas, the innermost last.
    known: Vec<(&'a str, Option<&'a Value>)>,
    unknown: Option<String>,
}

impl<'a> Walk<'a> {
    /// The schema of what an expression comes to, if that is certain.
    fn schema_of(&mut self, expr: &'a IdedExpr) -> Option<&'a Value> {
        match &expr.expr {
            Expr::Ident(name) => self.known.iter().rev().find(|(known, _)| known == name)?.1,
            Expr::Select(select) => {
                let schema = self.schema_of(&select.operand)?;
                self.field(schema, &select.field)
            }
            Expr::Call(call) => {
                let target = call.target.iter().map(AsRef::as_ref);
                let parts: Vec<Option<&Value>> =
                    target.chain(&call.args).map(|part| self.schema_of(part)).collect();
                match call.func_name.as_str() {
                    COUNT | FORMAT | MADE => parts[0],
                    operators::INDEX => inside(parts[0]?),
                    _ => None,
                }
            }
            Expr::Comprehension(loop_) => {
                self.loop_(loop_);
                None
            }
            Expr::List(list) => {
                for element in &list.elements {
                    self.schema_of(element);
                }
                None
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let cel::common::ast::EntryExpr::MapEntry(entry) = &entry.expr {
                        self.schema_of(&entry.key);
                        self.schema_of(&entry.value);
                    }
                }
                None
            }
            _ => None,
        }
    }

    fn loop_(&mut self, loop_: &'a ComprehensionExpr) {
        let range = self.schema_of(&loop_.iter_range);
        self.schema_of(&loop_.accu_init);
        // Of a list these are items; of a map they are its keys.
        let items = range.and_then(|range| range.get("items")).filter(|_| loop_.iter_var2.is_none());
        let outside = self.known.len();
        self.known.push((&loop_.iter_var, items));
        self.known.extend(loop_.iter_var2.iter().map(|name| (name.as_str(), None)));
        self.known.push((&loop_.accu_var, None));
        for part in [&loop_.loop_cond, &loop_.loop_step, &loop_.result] {
            self.schema_of(part);
        }
        self.known.truncate(outside);
    }

    fn field(&mut self, schema: &'a Value, name: &str) -> Option<&'a Value> {
        if let Some(each) = schema.get("additionalProperties") {
            return Some(each).filter(|each| each.is_object());
        }
        let named = schema.get("properties").and_then(Value::as_object)?;
        let found = named.iter().find(|(known, _)| typed(known) == name).map(|(_, schema)| schema);
        let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
        if found.is_none() && !open && !OF_ANY_RESOURCE.contains(&name) {
            self.unknown.get_or_insert_with(|| name.to_owned());
        }
        found
    }
}

/// What is in a list or a map.
fn inside(schema: &Value) -> Option<&Value> {
    schema.get("items").or_else(|| schema.get("additionalProperties")).filter(|inside| inside.is_object())
}
