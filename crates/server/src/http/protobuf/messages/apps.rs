//! Messages of the group `apps`, and scales.

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use super::pod::POD_TEMPLATE_SPEC;
use super::volume::PERSISTENT_VOLUME_CLAIM;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    DEPLOYMENT {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(DEPLOYMENT_SPEC), 3 "status" Part(DEPLOYMENT_STATUS),
    }
    DEPLOYMENT_SPEC {
        1 "replicas" NumberKept, 2 "selector" PartKept(LABEL_SELECTOR), 3 "template" Part(POD_TEMPLATE_SPEC),
        4 "strategy" Part(DEPLOYMENT_STRATEGY), 5 "minReadySeconds" Number,
        6 "revisionHistoryLimit" NumberKept, 7 "paused" Bool, 9 "progressDeadlineSeconds" NumberKept,
    }
    DEPLOYMENT_STRATEGY { 1 "type" Text, 2 "rollingUpdate" PartKept(ROLLING_UPDATE_DEPLOYMENT) }
    ROLLING_UPDATE_DEPLOYMENT { 1 "maxUnavailable" IntOrTextKept, 2 "maxSurge" IntOrTextKept }
    DEPLOYMENT_STATUS {
        1 "observedGeneration" Number, 2 "replicas" Number, 3 "updatedReplicas" Number,
        4 "availableReplicas" Number, 5 "unavailableReplicas" Number,
        6 "conditions" Parts(DEPLOYMENT_CONDITION), 7 "readyReplicas" Number, 8 "collisionCount" NumberKept,
        9 "terminatingReplicas" NumberKept,
    }
    DEPLOYMENT_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 4 "reason" Text, 5 "message" Text, 6 "lastUpdateTime" Time,
        7 "lastTransitionTime" Time,
    }
    REPLICA_SET {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(REPLICA_SET_SPEC), 3 "status" Part(REPLICA_SET_STATUS),
    }
    REPLICA_SET_SPEC {
        1 "replicas" NumberKept, 2 "selector" PartKept(LABEL_SELECTOR), 3 "template" Part(POD_TEMPLATE_SPEC),
        4 "minReadySeconds" Number,
    }
    REPLICA_SET_STATUS {
        1 "replicas" NumberKept, 2 "fullyLabeledReplicas" Number, 3 "observedGeneration" Number,
        4 "readyReplicas" Number, 5 "availableReplicas" Number, 6 "conditions" Parts(REPLICA_SET_CONDITION),
        7 "terminatingReplicas" NumberKept,
    }
    REPLICA_SET_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastTransitionTime" Time, 4 "reason" Text,
        5 "message" Text,
    }
    STATEFUL_SET {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(STATEFUL_SET_SPEC),
        3 "status" Part(STATEFUL_SET_STATUS),
    }
    STATEFUL_SET_SPEC {
        1 "replicas" NumberKept, 2 "selector" PartKept(LABEL_SELECTOR), 3 "template" Part(POD_TEMPLATE_SPEC),
        4 "volumeClaimTemplates" Parts(PERSISTENT_VOLUME_CLAIM), 5 "serviceName" TextKept,
        6 "podManagementPolicy" Text, 7 "updateStrategy" Part(STATEFUL_SET_UPDATE_STRATEGY),
        8 "revisionHistoryLimit" NumberKept, 9 "minReadySeconds" Number,
        10 "persistentVolumeClaimRetentionPolicy" PartKept(STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY),
        11 "ordinals" PartKept(STATEFUL_SET_ORDINALS),
    }
    STATEFUL_SET_UPDATE_STRATEGY {
        1 "type" Text, 2 "rollingUpdate" PartKept(ROLLING_UPDATE_STATEFUL_SET_STRATEGY),
    }
    ROLLING_UPDATE_STATEFUL_SET_STRATEGY { 1 "partition" NumberKept, 2 "maxUnavailable" IntOrTextKept }
    STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY { 1 "whenDeleted" Text, 2 "whenScaled" Text }
    STATEFUL_SET_ORDINALS { 1 "start" NumberKept }
    STATEFUL_SET_STATUS {
        1 "observedGeneration" Number, 2 "replicas" NumberKept, 3 "readyReplicas" Number,
        4 "currentReplicas" Number, 5 "updatedReplicas" Number, 6 "currentRevision" Text,
        7 "updateRevision" Text, 9 "collisionCount" NumberKept, 10 "conditions" Parts(STATEFUL_SET_CONDITION),
        11 "availableReplicas" NumberKept,
    }
    STATEFUL_SET_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastTransitionTime" Time, 4 "reason" Text,
        5 "message" Text,
    }
    DAEMON_SET {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(DAEMON_SET_SPEC), 3 "status" Part(DAEMON_SET_STATUS),
    }
    DAEMON_SET_SPEC {
        1 "selector" PartKept(LABEL_SELECTOR), 2 "template" Part(POD_TEMPLATE_SPEC),
        3 "updateStrategy" Part(DAEMON_SET_UPDATE_STRATEGY), 4 "minReadySeconds" Number,
        6 "revisionHistoryLimit" NumberKept,
    }
    DAEMON_SET_UPDATE_STRATEGY { 1 "type" Text, 2 "rollingUpdate" PartKept(ROLLING_UPDATE_DAEMON_SET) }
    ROLLING_UPDATE_DAEMON_SET { 1 "maxUnavailable" IntOrTextKept, 2 "maxSurge" IntOrTextKept }
    DAEMON_SET_STATUS {
        1 "currentNumberScheduled" NumberKept, 2 "numberMisscheduled" NumberKept,
        3 "desiredNumberScheduled" NumberKept, 4 "numberReady" NumberKept, 5 "observedGeneration" Number,
        6 "updatedNumberScheduled" Number, 7 "numberAvailable" Number, 8 "numberUnavailable" Number,
        9 "collisionCount" NumberKept, 10 "conditions" Parts(DAEMON_SET_CONDITION),
    }
    DAEMON_SET_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastTransitionTime" Time, 4 "reason" Text,
        5 "message" Text,
    }
    SCALE { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(SCALE_SPEC), 3 "status" Part(SCALE_STATUS) }
    SCALE_SPEC { 1 "replicas" Number }
    SCALE_STATUS { 1 "replicas" NumberKept, 2 "selector" Text }
}
