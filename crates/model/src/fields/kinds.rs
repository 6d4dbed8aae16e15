//! The table of list and map rules for the kinds known by name.
//!
//! Paths are dotted; a path through a list goes into its items. Only what differs from the default
//! (granular maps, atomic lists) is listed. It must not know documents.

use std::sync::{Arc, LazyLock};

use super::schema::{ListKey, Node, Schema, SmpList, SsaList};

/// One row: where, and which rule.
type Row = (&'static str, Rule);

#[derive(Clone, Copy)]
enum Rule {
    /// Keyed alike for strategic merge and for ownership.
    By(&'static str),
    /// Keyed for strategic merge by the first; for ownership by all of the list.
    Keys(&'static str, &'static [(&'static str, Option<&'static str>)]),
    /// Keyed for strategic merge, atomic for ownership.
    SmpOnly(&'static str),
    /// Keyed for ownership, atomic for strategic merge.
    SsaOnly(&'static str),
    /// A set of primitives for both.
    Set,
    /// A set for ownership, atomic for strategic merge.
    SsaSet,
    /// A map (or the items of a list) with one owner.
    Atomic,
    /// The rules of another table, mounted here.
    Table(&'static [Row]),
}
use Rule::{Atomic, By, Keys, Set, SmpOnly, SsaOnly, SsaSet, Table};

const METADATA: &[Row] = &[("ownerReferences", By("uid")), ("ownerReferences", Atomic), ("finalizers", Set)];

const CONTAINER: &[Row] = &[
    ("env", By("name")),
    ("env.valueFrom.configMapKeyRef", Atomic),
    ("env.valueFrom.secretKeyRef", Atomic),
    ("env.valueFrom.fieldRef", Atomic),
    ("env.valueFrom.resourceFieldRef", Atomic),
    ("ports", Keys("containerPort", &[("containerPort", None), ("protocol", Some("TCP"))])),
    ("volumeMounts", By("mountPath")),
    ("volumeDevices", By("devicePath")),
    ("resources.claims", SsaOnly("name")),
];

const VOLUME: &[Row] = &[
    ("cephfs.secretRef", Atomic),
    ("cinder.secretRef", Atomic),
    ("csi.nodePublishSecretRef", Atomic),
    ("downwardAPI.items.fieldRef", Atomic),
    ("flexVolume.secretRef", Atomic),
    ("iscsi.secretRef", Atomic),
    ("rbd.secretRef", Atomic),
    ("ephemeral.volumeClaimTemplate.metadata", Table(METADATA)),
    ("ephemeral.volumeClaimTemplate.spec", Table(CLAIM_SPEC)),
];

const CLAIM_SPEC: &[Row] = &[("selector", Atomic), ("dataSource", Atomic)];

const POD_SPEC: &[Row] = &[
    ("containers", By("name")),
    ("containers", Table(CONTAINER)),
    ("initContainers", By("name")),
    ("initContainers", Table(CONTAINER)),
    ("ephemeralContainers", By("name")),
    ("ephemeralContainers", Table(CONTAINER)),
    ("volumes", By("name")),
    ("volumes", Table(VOLUME)),
    ("imagePullSecrets", By("name")),
    ("imagePullSecrets", Atomic),
    ("hostAliases", By("ip")),
    ("topologySpreadConstraints", Keys("topologyKey", &[("topologyKey", None), ("whenUnsatisfiable", None)])),
    ("topologySpreadConstraints.labelSelector", Atomic),
    ("schedulingGates", By("name")),
    ("resourceClaims", By("name")),
    ("nodeSelector", Atomic),
    ("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", Atomic),
];

const POD: &[Row] = &[
    ("spec", Table(POD_SPEC)),
    ("status.conditions", By("type")),
    ("status.podIPs", By("ip")),
    ("status.hostIPs", SmpOnly("ip")),
    ("status.resourceClaimStatuses", By("name")),
];

const TEMPLATE: &[Row] = &[("metadata", Table(METADATA)), ("spec", Table(POD_SPEC))];

const WORKLOAD: &[Row] =
    &[("spec.selector", Atomic), ("spec.template", Table(TEMPLATE)), ("status.conditions", By("type"))];

const JOB_SPEC: &[Row] = &[("selector", Atomic), ("template", Table(TEMPLATE))];

const JOB: &[Row] = &[
    ("spec", Table(JOB_SPEC)),
    ("status.conditions", SmpOnly("type")),
    ("status.uncountedTerminatedPods.failed", SsaSet),
    ("status.uncountedTerminatedPods.succeeded", SsaSet),
];

const CRON_JOB: &[Row] =
    &[("spec.jobTemplate.metadata", Table(METADATA)), ("spec.jobTemplate.spec", Table(JOB_SPEC))];

const SERVICE: &[Row] = &[
    ("spec.ports", Keys("port", &[("port", None), ("protocol", Some("TCP"))])),
    ("spec.selector", Atomic),
    ("status.conditions", By("type")),
];

const SERVICE_ACCOUNT: &[Row] = &[("secrets", By("name")), ("secrets", Atomic)];

const NODE: &[Row] =
    &[("spec.podCIDRs", Set), ("status.addresses", By("type")), ("status.conditions", By("type"))];

const CLAIM: &[Row] = &[("spec", Table(CLAIM_SPEC)), ("status.conditions", By("type"))];

const VOLUME_KIND: &[Row] = &[("spec.claimRef", Atomic), ("spec.nodeAffinity.required", Atomic)];

const CONDITIONS: &[Row] = &[("status.conditions", By("type"))];
const SELECTOR: &[Row] = &[("spec.selector", Atomic), ("status.conditions", By("type"))];
const POLICY: &[Row] = &[("spec.podSelector", Atomic)];
const QUOTA: &[Row] = &[("spec.scopeSelector", Atomic)];
const ROLE_BINDING: &[Row] = &[("roleRef", Atomic)];
const EVENT: &[Row] = &[("involvedObject", Atomic), ("related", Atomic), ("regarding", Atomic)];
const INGRESS: &[Row] = &[("spec.defaultBackend.resource", Atomic)];
const WEBHOOKS: &[Row] = &[
    ("webhooks", By("name")),
    ("webhooks.namespaceSelector", Atomic),
    ("webhooks.objectSelector", Atomic),
    ("webhooks.matchConditions", By("name")),
];
const NOTHING: &[Row] = &[];

/// Every kind known by name: group, kind, whether it has a status subresource, rules.
const KINDS: &[(&str, &str, bool, &[Row])] = &[
    ("", "ConfigMap", false, NOTHING),
    ("", "Secret", false, NOTHING),
    ("", "Namespace", true, CONDITIONS),
    ("", "Pod", true, POD),
    ("", "PodTemplate", false, &[("template", Table(TEMPLATE))]),
    ("", "ReplicationController", true, WORKLOAD),
    ("", "Service", true, SERVICE),
    ("", "ServiceAccount", false, SERVICE_ACCOUNT),
    ("", "Node", true, NODE),
    ("", "PersistentVolume", true, VOLUME_KIND),
    ("", "PersistentVolumeClaim", true, CLAIM),
    ("", "ResourceQuota", true, QUOTA),
    ("", "LimitRange", false, NOTHING),
    ("", "Endpoints", false, NOTHING),
    ("", "Event", false, EVENT),
    ("events.k8s.io", "Event", false, EVENT),
    ("apps", "Deployment", true, WORKLOAD),
    ("apps", "ReplicaSet", true, WORKLOAD),
    ("apps", "StatefulSet", true, WORKLOAD),
    ("apps", "DaemonSet", true, WORKLOAD),
    ("apps", "ControllerRevision", false, NOTHING),
    ("batch", "Job", true, JOB),
    ("batch", "CronJob", true, CRON_JOB),
    ("networking.k8s.io", "Ingress", true, INGRESS),
    ("networking.k8s.io", "NetworkPolicy", false, POLICY),
    ("networking.k8s.io", "IngressClass", false, NOTHING),
    ("policy", "PodDisruptionBudget", true, SELECTOR),
    ("autoscaling", "HorizontalPodAutoscaler", true, CONDITIONS),
    ("coordination.k8s.io", "Lease", false, NOTHING),
    ("discovery.k8s.io", "EndpointSlice", false, NOTHING),
    ("rbac.authorization.k8s.io", "Role", false, NOTHING),
    ("rbac.authorization.k8s.io", "ClusterRole", false, NOTHING),
    ("rbac.authorization.k8s.io", "RoleBinding", false, ROLE_BINDING),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", false, ROLE_BINDING),
    ("storage.k8s.io", "StorageClass", false, NOTHING),
    ("scheduling.k8s.io", "PriorityClass", false, NOTHING),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", false, WEBHOOKS),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", false, WEBHOOKS),
    ("apiextensions.k8s.io", "CustomResourceDefinition", true, CONDITIONS),
    ("apiregistration.k8s.io", "APIService", true, CONDITIONS),
];

static METADATA_NODE: LazyLock<Arc<Node>> = LazyLock::new(|| Arc::new(node(METADATA)));

/// The schemas in the order of group and kind.
static BUILTIN: LazyLock<Vec<(&str, &str, Schema)>> = LazyLock::new(|| {
    let schema = |&(group, kind, status, rows): &_| (group, kind, Schema::new(node(rows), status));
    let mut all: Vec<_> = KINDS.iter().map(schema).collect();
    all.sort_by_key(|&(group, kind, _)| (group, kind));
    all
});

/// The rules below `metadata`, the same for every kind.
pub(super) fn metadata() -> Arc<Node> {
    Arc::clone(&METADATA_NODE)
}

/// The rules of a kind known by name.
pub(super) fn builtin(group: &str, kind: &str) -> Option<&'static Schema> {
    let at = BUILTIN.binary_search_by(|known| (known.0, known.1).cmp(&(group, kind)));
    at.ok().map(|at| &BUILTIN[at].2)
}

/// The rules of a table. Tables nest by name, never in a circle, so the recursion ends.
fn node(rows: &'static [Row]) -> Node {
    let mut root = Node::default();
    mount(&mut root, rows);
    root
}

fn mount(root: &mut Node, rows: &'static [Row]) {
    for &(path, rule) in rows {
        let place = root.at(path);
        match rule {
            By(key) => {
                place.smp = SmpList::Map(key.into());
                place.ssa = keyed(&[(key, None)]);
            }
            Keys(smp, keys) => {
                place.smp = SmpList::Map(smp.into());
                place.ssa = keyed(keys);
            }
            SmpOnly(key) => place.smp = SmpList::Map(key.into()),
            SsaOnly(key) => place.ssa = keyed(&[(key, None)]),
            Set => {
                place.smp = SmpList::Set;
                place.ssa = SsaList::Set;
            }
            SsaSet => place.ssa = SsaList::Set,
            Atomic => place.atomic = true,
            Table(rows) => mount(place, rows),
        }
    }
}

fn keyed(keys: &[(&'static str, Option<&'static str>)]) -> SsaList {
    let key = |&(name, default): &(&'static str, Option<&'static str>)| ListKey {
        name: name.into(),
        default: default.map(Into::into),
    };
    SsaList::Map(keys.iter().map(key).collect())
}
