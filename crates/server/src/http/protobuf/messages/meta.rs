//! What all messages share: metadata, selectors, conditions; and the options of a deletion.

use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    OBJECT_META {
        1 "name" Text, 2 "generateName" Text, 3 "namespace" Text, 4 "selfLink" Text, 5 "uid" Text,
        6 "resourceVersion" Text, 7 "generation" Number, 8 "creationTimestamp" Time,
        9 "deletionTimestamp" Time, 10 "deletionGracePeriodSeconds" NumberKept, 11 "labels" TextMap,
        12 "annotations" TextMap, 13 "ownerReferences" Parts(OWNER_REFERENCE), 14 "finalizers" Texts,
        15 "clusterName" Ignored, 17 "managedFields" Parts(MANAGED_FIELDS),
    }
    OWNER_REFERENCE {
        1 "kind" TextKept, 3 "name" TextKept, 4 "uid" TextKept, 5 "apiVersion" TextKept,
        6 "controller" BoolKept, 7 "blockOwnerDeletion" BoolKept,
    }
    MANAGED_FIELDS {
        1 "manager" Text, 2 "operation" Text, 3 "apiVersion" Text, 4 "time" Time, 6 "fieldsType" Text,
        7 "fieldsV1" Json, 8 "subresource" Text,
    }
    LABEL_SELECTOR { 1 "matchLabels" TextMap, 2 "matchExpressions" Parts(LABEL_SELECTOR_REQUIREMENT) }
    LABEL_SELECTOR_REQUIREMENT { 1 "key" TextKept, 2 "operator" TextKept, 3 "values" Texts }
    CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "observedGeneration" Number, 4 "lastTransitionTime" Time,
        5 "reason" TextKept, 6 "message" TextKept,
    }
    FIELD_SELECTOR_REQUIREMENT { 1 "key" TextKept, 2 "operator" TextKept, 3 "values" Texts }
    DELETE_OPTIONS {
        1 "gracePeriodSeconds" NumberKept, 2 "preconditions" PartKept(PRECONDITIONS),
        3 "orphanDependents" BoolKept, 4 "propagationPolicy" TextKept, 5 "dryRun" Texts,
        6 "ignoreStoreReadErrorWithClusterBreakingPotential" BoolKept,
    }
    PRECONDITIONS { 1 "uid" TextKept, 2 "resourceVersion" TextKept }
}
