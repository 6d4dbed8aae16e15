//! How the stub deletes: at once, with all that hangs on the object, in the order that was asked for.
//! Must not know: HTTP, or which test runs against it.

use serde_json::{Value, json};

use crate::state::{Fault, State};

impl State {
    /// Deletes an object as a policy says; the answer's status and body.
    pub(crate) fn delete(&mut self, name: &str, policy: Option<&str>) -> (u16, Value) {
        self.policies.push(policy.map(str::to_owned));
        let Some(root) = self.objects.get(name).cloned() else {
            return (404, json!({"kind": "Status", "code": 404}));
        };
        let gone = json!({"kind": "Status", "status": "Success", "metadata": {}});
        match policy.unwrap_or(if self.default_waits { "Foreground" } else { "Background" }) {
            "Background" => {
                let order = self.family(name);
                self.remove_all(order);
                (200, gone)
            }
            "Foreground" => {
                let mut marked = root;
                marked["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
                marked["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
                let marked = self.store("MODIFIED", name.to_owned(), marked);
                let mut order = self.family(name);
                if self.fault != Fault::OwnersFirst {
                    order.reverse();
                }
                self.remove_all(order);
                (200, marked)
            }
            "Orphan" => {
                self.orphan(name);
                self.remove_all(vec![name.to_owned()]);
                (200, gone)
            }
            other => panic!("no such policy: {other}"),
        }
    }

    /// An object and all that hangs on it, owners before what they own.
    fn family(&self, root: &str) -> Vec<String> {
        let mut family = vec![root.to_owned()];
        let mut at = 0;
        while at < family.len() {
            family.extend(self.owned_by(&family[at]));
            at += 1;
        }
        family
    }

    fn owned_by(&self, owner: &str) -> Vec<String> {
        let uid = format!("uid-of-{owner}");
        let owned = |object: &Value| {
            let references = object["metadata"]["ownerReferences"].as_array();
            references.is_some_and(|all| all.iter().any(|reference| reference["uid"] == uid.as_str()))
        };
        self.objects.iter().filter(|(_, object)| owned(object)).map(|(name, _)| name.clone()).collect()
    }

    fn orphan(&mut self, owner: &str) {
        let orphans = self.owned_by(owner);
        for (index, name) in orphans.iter().enumerate() {
            let last = index + 1 == orphans.len();
            if last && self.fault == Fault::Survivor {
                continue;
            }
            let mut object = self.objects[name].clone();
            object["metadata"].as_object_mut().unwrap().remove("ownerReferences");
            self.store("MODIFIED", name.clone(), object);
            if last && self.fault == Fault::LostOrphan {
                self.remove_all(vec![name.clone()]);
            }
        }
    }

    fn remove_all(&mut self, order: Vec<String>) {
        let count = order.len();
        for (index, name) in order.into_iter().enumerate() {
            let last = count > 1 && index + 1 == count;
            if last && self.fault == Fault::Survivor {
                return;
            }
            let object = match last && self.fault == Fault::FalseEnd {
                true => self.objects[&name].clone(),
                false => self.objects.remove(&name).unwrap(),
            };
            match self.fault {
                Fault::SilentEnd if last => {}
                Fault::FailedWatch if last => {
                    let namespace = &object["metadata"]["namespace"];
                    let expired =
                        json!({"kind": "Status", "code": 410, "metadata": {"namespace": namespace}});
                    self.tell("ERROR", &expired);
                }
                _ => self.tell("DELETED", &object),
            }
        }
    }
}
