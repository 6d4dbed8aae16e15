//! What is recorded: collections, tombstones and environments, field by field.

/// A collection and how far it is.
pub(super) const COLLECTION: &str = "
A collection is the record of lives that end together: what began it, how far it is, what it waits for.
spec object: What it is about. This does not change.
spec.trigger string: What began it: delete, orphans, sweep, leftovers or program.
spec.by string: Who began it; nobody if the collector itself did.
spec.roots objects: From what everything else follows.
spec.roots[].group string: The group; left out for the core group.
spec.roots[].kind string: The kind.
spec.roots[].namespace string: The namespace; left out for kinds without one.
spec.roots[].name string: The name.
spec.roots[].uid string: The life.
spec.roots[].policy string: What becomes of dependents.
spec.rootsOmitted integer: Roots that are not named.
spec.digest string: The digest of the plan.
spec.approved boolean: Whether somebody has seen the plan and agreed to it.
spec.startedAt time: When it began.
status object: How far it is.
status.phase string: running, blocked, held, done or cancelled.
status.doomed integer: Lives that end in it.
status.gone integer: Of these, those that are gone.
status.blocked integer: Of these, those that wait for something.
status.held integer: Lives that are not destroyed, although something would have it.
status.kinds map: The same per kind.
status.kinds{}.doomed integer: Lives that end.
status.kinds{}.gone integer: Those that are gone.
status.kindsOmitted integer: Kinds that are not counted one by one.
status.blockers objects: What is waited for.
status.blockers[].object object: The life that waits.
status.blockers[].waitsFor string: The object that has to go first.
status.blockers[].who string: Who has to do something: a controller, a hook, a person.
status.blockers[].what string: What has to be done.
status.blockers[].reason string: Why it waits.
status.blockers[].since time: Since when.
status.blockers[].next time: When it is tried again.
status.blockers[].clears string: What can be typed to get it out of the way.
status.blockersOmitted integer: Blockers that are not named.
status.unknown strings: What could not be judged and was left alone.
status.finishedAt time: When it was over.
status.outcome string: How it ended, in one word.
status.message string: The same for people.
";

/// What remains of an object.
pub(super) const TOMBSTONE: &str = "
A tombstone is what remains of a life: what it was, why and how it ended.
spec object: The life and its end.
spec.object object: The life.
spec.object.group string: Its group; left out for the core group.
spec.object.kind string: Its kind.
spec.object.namespace string: Its namespace; left out for kinds without one.
spec.object.name string: Its name.
spec.object.uid string: Its uid.
spec.reason string: Why it ended, in one line.
spec.causes strings: From the life itself up to what was asked for.
spec.by string: Who asked.
spec.collection string: The collection in which it ended.
spec.outcome string: Whether its class destroyed it, it went without further ado, or somebody gave it up.
spec.outputs texts: What methods left behind, by their names.
spec.outputsOmitted integer: Outputs that are not kept.
spec.owners strings: Its owners.
spec.subscriptions strings: What it had subscribed to.
spec.document any: Its last document.
spec.documentOmitted boolean: Whether the document was too large.
spec.destroyedAt time: When it ended.
";

/// A program and its objects.
pub(super) const ENVIRONMENT: &str = "
An environment is a program and the objects that it keeps.
spec object: What is run in it.
spec.program object: The program whose classes the stored objects have, complete: whoever destroys them needs no file.
spec.program.name string: The name of its file, for messages.
spec.program.source string: Its text.
spec.program.exec strings: Programs of the machine that it may run, by name.
spec.program.http strings: Hosts that it may ask.
status object: How it stands.
status.phase string: Whether a program runs in it, and whether the last one failed.
status.generation integer: Rises with each model that is stored.
status.objects integer: How many objects the model has.
status.root string: The id of the object from which all others are reached.
status.run object: The last run.
status.run.at time: When it began.
status.run.by string: Who ran it.
status.run.outcome string: What became of it; empty while it runs.
status.destroying strings: Objects whose end was about to be called, by their uids.
status.pending object: A model that is decided but not completely stored.
status.pending.generation integer: The generation that it becomes.
status.pending.parts integer: In how many parts it is written down.
";
