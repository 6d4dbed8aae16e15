//! What an ordinary write may do to an object that is being deleted: take away what is its own to take away.
//!
//! The holds of the destruction go when that is through, which only the bulk verb says; and the hold of the cascade
//! goes when nothing names the object as its owner any more, which is checked in the committing transaction.

use sexton_model::delete_options::CASCADE_FINALIZER;
use sexton_model::marks::OF_DESTRUCTION;
use sexton_model::{Document, Key, Status, Term};
use sexton_store::Guard;

use super::{Api, Result, Target};

/// As many referrers are named.
const NAMED: usize = 3;

/// The guard of a write that rests on nothing naming this object as its owner. References of the object to itself do
/// not count.
pub(super) fn unowned(uid: &str, except: &[String]) -> Guard {
    let others = std::iter::once(uid).chain(except.iter().map(String::as_str)).map(Term::uid).collect();
    Guard::OnlyWith { term: Term::owner(uid), others }
}

/// Refuses to take off what others have to take off; gives the guard under which the rest may go.
pub(super) fn check_holds(target: &Target, old: &Document, new: &Document) -> Result<Option<Guard>> {
    if !old.is_terminating() {
        return Ok(None);
    }
    let (had, has) = (old.finalizers(), new.finalizers());
    let gone = |finalizer: &str| had.contains(&finalizer) && !has.contains(&finalizer);
    if let Some(hold) = OF_DESTRUCTION.into_iter().find(|hold| gone(hold)) {
        return Err(held(target, old.name(), hold).into());
    }
    Ok(gone(CASCADE_FINALIZER).then(|| unowned(old.uid(), &[])))
}

fn held(target: &Target, name: &str, hold: &str) -> Status {
    let place = match target.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    };
    let object = format!("{}/{name}{place}", target.kind.singular);
    let why = format!(
        "the finalizer {hold} goes when its destruction is through; to see what it waits for, type: \
         sexton why {object}; to give up on that, type: sexton force {object}"
    );
    Status::forbidden(&target.kind.resource, name, why)
}

impl Api {
    /// Whether another object names this one as its owner, as far as can be said without a commit.
    pub(super) async fn is_owner(&self, uid: &str) -> Result<bool> {
        let engine = self.store.engine();
        let own = engine.with_term(Term::uid(uid), 1).await?;
        Ok(engine.with_term(Term::owner(uid), 2).await?.iter().any(|key| !own.contains(key)))
    }

    /// Why something that must not be referred to cannot go: the first few objects that refer to it.
    pub(super) async fn still_referenced(&self, target: &Target, name: &str, uid: &str) -> Result<Status> {
        // One more, because it may itself be among them.
        let keys = self.store.engine().with_term(Term::owner(uid), NAMED + 1).await?;
        let own = target.key(name);
        let referrers = keys.iter().filter_map(|key| Key::decode(key)).filter(|key| *key != own).take(NAMED);
        let referrers: Vec<String> = referrers.map(|key| key.to_string()).collect();
        let status = Status::still_referenced(&target.kind.resource, name, &referrers.join(", "));
        Ok(referrers.iter().fold(status, |status, referrer| {
            let message = format!("{referrer} names it as an owner");
            status.because("StillReferenced", message, "metadata.ownerReferences")
        }))
    }
}
