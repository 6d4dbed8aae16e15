//! Where pods may run: affinities, tolerations, spreading.

use super::core::CLIENT_IP_CONFIG;
use super::meta::LABEL_SELECTOR;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    AFFINITY {
        1 "nodeAffinity" PartKept(NODE_AFFINITY), 2 "podAffinity" PartKept(POD_AFFINITY),
        3 "podAntiAffinity" PartKept(POD_ANTI_AFFINITY),
    }
    NODE_AFFINITY {
        1 "requiredDuringSchedulingIgnoredDuringExecution" PartKept(NODE_SELECTOR),
        2 "preferredDuringSchedulingIgnoredDuringExecution" Parts(PREFERRED_SCHEDULING_TERM),
    }
    NODE_SELECTOR { 1 "nodeSelectorTerms" Parts(NODE_SELECTOR_TERM) }
    NODE_SELECTOR_TERM {
        1 "matchExpressions" Parts(NODE_SELECTOR_REQUIREMENT),
        2 "matchFields" Parts(NODE_SELECTOR_REQUIREMENT),
    }
    NODE_SELECTOR_REQUIREMENT { 1 "key" TextKept, 2 "operator" TextKept, 3 "values" Texts }
    PREFERRED_SCHEDULING_TERM { 1 "weight" NumberKept, 2 "preference" Part(NODE_SELECTOR_TERM) }
    POD_AFFINITY {
        1 "requiredDuringSchedulingIgnoredDuringExecution" Parts(POD_AFFINITY_TERM),
        2 "preferredDuringSchedulingIgnoredDuringExecution" Parts(WEIGHTED_POD_AFFINITY_TERM),
    }
    POD_AFFINITY_TERM {
        1 "labelSelector" PartKept(LABEL_SELECTOR), 2 "namespaces" Texts, 3 "topologyKey" TextKept,
        4 "namespaceSelector" PartKept(LABEL_SELECTOR), 5 "matchLabelKeys" Texts, 6 "mismatchLabelKeys" Texts,
    }
    WEIGHTED_POD_AFFINITY_TERM { 1 "weight" NumberKept, 2 "podAffinityTerm" Part(POD_AFFINITY_TERM) }
    POD_ANTI_AFFINITY {
        1 "requiredDuringSchedulingIgnoredDuringExecution" Parts(POD_AFFINITY_TERM),
        2 "preferredDuringSchedulingIgnoredDuringExecution" Parts(WEIGHTED_POD_AFFINITY_TERM),
    }
    TOLERATION {
        1 "key" Text, 2 "operator" Text, 3 "value" Text, 4 "effect" Text, 5 "tolerationSeconds" NumberKept,
    }
    TOPOLOGY_SPREAD_CONSTRAINT {
        1 "maxSkew" NumberKept, 2 "topologyKey" TextKept, 3 "whenUnsatisfiable" TextKept,
        4 "labelSelector" PartKept(LABEL_SELECTOR), 5 "minDomains" NumberKept,
        6 "nodeAffinityPolicy" TextKept, 7 "nodeTaintsPolicy" TextKept, 8 "matchLabelKeys" Texts,
    }
    SESSION_AFFINITY_CONFIG { 1 "clientIP" PartKept(CLIENT_IP_CONFIG) }
}
