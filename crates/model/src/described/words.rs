//! What people write: classes, modules and rules, field by field.

/// Code for the end of objects.
pub(super) const CLASS: &str = "
A class gives a kind the code that is run when an object of it ends.
spec object: What the class is for, and what it does.
spec.for object: The kind whose objects end in this way. There is one class for a kind.
spec.for.group string: The group of the kind; left out for the core group.
spec.for.kind string: The name of the kind, such as Vm.
spec.destroy object: What ends an object. It runs until it says that the object is destroyed, or somebody gives up.
spec.destroy.exec object: A program that is run; it reads the call on standard input and prints a verdict.
spec.destroy.exec.argv strings: The program and its arguments.
spec.destroy.exec.dir string: Where it is run.
spec.destroy.exec.env texts: Variables of its environment.
spec.destroy.http object: A service that is asked with a POST.
spec.destroy.http.url string: Where it listens.
spec.destroy.lua object: A script that is run in a sandbox.
spec.destroy.lua.source string: Its text.
spec.destroy.deadlineSeconds integer: How long one call may take; 60 if nothing is said.
spec.destroy.maxOutputBytes integer: How much it may answer; 65536 if nothing is said.
spec.handlers map: What objects of the kind hear with when something that they subscribed to ends, by name. Each is \
written like destroy.
spec.retry object: How failed calls are repeated.
spec.retry.limit integer: Calls after the first one; then somebody has to look. 10 if nothing is said.
spec.retry.backoffSeconds integer: The pause after the first failure; it doubles with each one. 1 if nothing is said.
spec.retry.maxBackoffSeconds integer: The longest pause; 300 if nothing is said.
";

/// What is deployed together.
pub(super) const MODULE: &str = "
A module is the record of documents that are deployed together, and of what may be swept when one is left out.
spec object: Whose resources these are.
spec.manager string: The name of the module, as the label of all that it manages.
spec.scope texts: Which resources it may sweep: labels that they have, its own manager among them.
spec.supportGc boolean: Whether anything is swept at all.
spec.maxDelete string: How much may be destroyed at once, as 20 or 30%.
spec.order string: documents, files or edges: which documents have equal places, and may be destroyed in parallel.
spec.parallel integer: How many of its members are destroyed at the same time.
status object: How far it is.
status.phase string: What is going on; whether the last deployment was put completely.
status.intent object: The deployment that was begun last, if it has not been sealed.
status.intent.deploymentId string: Which one.
status.intent.startedAt time: When it began.
status.intent.by string: Who began it.
status.intent.count integer: How many resources it has.
status.intent.digest string: The digest of its plan.
status.sealed object: The deployment that was sealed last: all of it was put.
status.sealed.deploymentId string: Which one.
status.sealed.at time: When it was sealed.
status.sealed.by string: Who sealed it.
status.sealed.count integer: How many resources it has.
status.sealed.swept integer: How many were accused by its sweep.
status.sealed.scope texts: What its scope was.
status.history objects: Former deployments, the newest first.
status.history[].deploymentId string: Which one.
status.history[].at time: When it was over.
status.history[].by string: Who did it.
status.history[].phase string: How it ended.
status.history[].count integer: How many resources it had.
status.history[].swept integer: How many were accused by its sweep.
status.history[].error string: What went wrong.
status.kinds strings: Every resource and group that was ever put, or was about to be.
";

/// Standing orders.
pub(super) const RULE: &str = "
A rule is a standing order to look for garbage of some kinds, and what to do when some is found.
spec object: What is looked for, where and how often.
spec.detector string: orphaned: whoever names owners of whom none exists. leftover: what a former owner of a name left.
spec.kinds anys: Which kinds are looked at, each with group and kind; or a single * for all.
spec.selector any: Only objects with these labels: a text, or matchLabels and matchExpressions.
spec.namespaces strings: Only in these namespaces; without it in all.
spec.interval string: How often, from 1s to 24h; 10m if nothing is said.
spec.minAge string: How old garbage is at least; 60s if nothing is said.
spec.mode string: report tells of what is found and is the default; collect has it destroyed.
spec.maxDelete number-or-text: How much may be destroyed at once, as 20 or 30%.
spec.owner object: For leftovers: the kind of the owners.
spec.owner.group string: Its group; left out for the core group.
spec.owner.kind string: Its name.
spec.labels texts: For leftovers: labels of what belongs to an owner; {name} stands for the name of the owner.
spec.on strings: For leftovers: when is looked, at the create or the delete of an owner, or both.
spec.hold boolean: For leftovers: whether a new owner is refused while a former one of its name left something.
status object: What was found.
status.observedGeneration integer: Which version of the rule was followed.
status.lastScan time: When was looked.
status.nextScan time: When will be looked next.
status.scope integer: Among how many objects.
status.counts numbers: How many there are of each verdict.
status.found objects: The first of them, each with verdict and evidence.
status.found[].object string: What was found.
status.found[].namespace string: Where it is.
status.found[].uid string: Its life.
status.found[].verdict string: What it is taken for.
status.found[].evidence string: Why.
status.found[].dying boolean: Whether it is on its way out.
status.accused integer: How many are accused now.
status.collection string: The record of their end.
status.weaker string: What could not be proved with the accusation itself.
status.held string: Why nothing was taken, and what to type.
status.error string: What could not be looked at, or not be accused.
status.waiting strings: Owners that wait for leftovers, and for which.
";
