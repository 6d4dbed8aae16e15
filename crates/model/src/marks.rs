//! The names of our marks on ordinary resources: annotations and finalizers, so that they work anywhere.

/// "true" or a reason: the collector never destroys what carries it.
pub const PROTECT: &str = "sexton.dev/protect";
/// What an object wants to be told of, and outlive: see [`crate::subscription`].
pub const DEPENDENCIES: &str = "sexton.dev/destruction-dependencies";
/// The same, added by `sexton subscribe`: a field of its own, so that it never conflicts with the document of the object.
pub const SUBSCRIPTIONS: &str = "sexton.dev/subscriptions";
/// The journal of an object that is being destroyed.
pub const JOURNAL: &str = "sexton.dev/destruction";
/// "true" on what was destroyed and is still there to be read.
pub const DESTROYED: &str = "sexton.dev/destroyed";
/// The requester of the deletion from which this one follows.
pub const DELETED_BY: &str = "sexton.dev/deleted-by";
/// The collection in which an object ends.
pub const COLLECTION: &str = "sexton.dev/collection";
/// The digest of the plan that was approved: what was not in it does not follow.
pub const APPROVED: &str = "sexton.dev/approved";
/// What a user wants of the collector about a blocked object: to try again, or to give something up.
pub const REQUEST: &str = "sexton.dev/request";
/// A detector says that the object is garbage: see [`crate::accusation`].
pub const ACCUSED: &str = "sexton.dev/accused";
/// Which deployment put an object last: an annotation, or a label where changing annotations has effects (see
/// docs/decisions/0015). Read it with [`deployment_id`].
pub const DEPLOYMENT_ID: &str = "sexton.dev/deployment-id";
/// Where an object stands in its module; higher ones go first.
pub const DEPENDENCY_ORDER: &str = "sexton.dev/dependency-order";
/// On an owner without status: "waiting" while there are leftovers of its name, then "gone".
pub const LEFTOVERS: &str = "sexton.dev/leftovers";
/// The condition that says the same in a status.
pub const LEFTOVERS_GONE: &str = "sexton.dev/LeftoversGone";
/// The label that names the manager of an object, such as its module.
pub const MANAGER: &str = "sexton.dev/manager";

/// Holds a terminating object until its subscribers were notified, it was destroyed, and they were told of that.
pub const DESTROY_FINALIZER: &str = "sexton.dev/destroy";
/// Holds a terminating class while objects of its kind exist.
pub const IN_USE_FINALIZER: &str = "sexton.dev/in-use";
/// A namespace's own hold, in its spec.
pub const NAMESPACE_HOLD: &str = "kubernetes";
/// A definition's hold while it has instances.
pub const DEFINITION_HOLD: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Annotations that tell what was done to an object: only the holder of a lease writes them, through the bulk verb and with
/// its proof. A forged one could have an object removed that was never destroyed.
pub const OF_THE_COLLECTOR: [&str; 2] = [JOURNAL, DESTROYED];

/// Annotations that lead to a deletion, or bound one: through the bulk verb only, under the same proof or by a requester that
/// may delete the object.
pub const OF_DELETIONS: [&str; 2] = [ACCUSED, APPROVED];

/// Annotations that are written when an object becomes terminating, or with its cascade: no other write adds or changes
/// them.
pub const OF_MARKS: [&str; 2] = [DELETED_BY, COLLECTION];

/// Finalizers that go when a destruction is through, which only the holder of a lease can say.
pub const OF_DESTRUCTION: [&str; 2] = [DESTROY_FINALIZER, IN_USE_FINALIZER];

/// Annotations that change nothing else of what a server knows of an object: they are written by the thousands.
pub const SILENT: &[&str] =
    &[JOURNAL, DESTROYED, DELETED_BY, COLLECTION, APPROVED, ACCUSED, DEPLOYMENT_ID, DEPENDENCY_ORDER];

/// The finalizers that the collector takes off once an object may go. All others belong to other controllers.
pub const OURS: [&str; 7] = [
    crate::delete_options::CASCADE_FINALIZER,
    crate::delete_options::QUALIFIED_CASCADE_FINALIZER,
    crate::delete_options::FOREGROUND_FINALIZER,
    crate::delete_options::ORPHAN_FINALIZER,
    DESTROY_FINALIZER,
    IN_USE_FINALIZER,
    DEFINITION_HOLD,
];

/// Which deployment put an object last, as `label` and `annotation` answer for [`DEPLOYMENT_ID`]. The label wins: an
/// annotation beside it is from before, or was copied there.
pub fn deployment_id<T>(
    label: impl FnOnce(&str) -> Option<T>,
    annotation: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    label(DEPLOYMENT_ID).or_else(|| annotation(DEPLOYMENT_ID))
}

/// Whether a finalizer is one that the collector takes off.
pub fn is_ours(finalizer: &str) -> bool {
    OURS.contains(&finalizer)
}
