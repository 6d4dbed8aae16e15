//! What is told of pods that run.

use super::container::RESOURCE_REQUIREMENTS;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    POD_STATUS {
        1 "phase" Text, 2 "conditions" Parts(POD_CONDITION), 3 "message" Text, 4 "reason" Text,
        5 "hostIP" Text, 6 "podIP" Text, 7 "startTime" Time, 8 "containerStatuses" Parts(CONTAINER_STATUS),
        9 "qosClass" Text, 10 "initContainerStatuses" Parts(CONTAINER_STATUS), 11 "nominatedNodeName" Text,
        12 "podIPs" Parts(POD_IP), 13 "ephemeralContainerStatuses" Parts(CONTAINER_STATUS), 14 "resize" Text,
        15 "resourceClaimStatuses" Parts(POD_RESOURCE_CLAIM_STATUS), 16 "hostIPs" Parts(HOST_IP),
        17 "observedGeneration" Number,
        18 "extendedResourceClaimStatus" PartKept(POD_EXTENDED_RESOURCE_CLAIM_STATUS),
        19 "allocatedResources" QuantityMap, 20 "resources" PartKept(RESOURCE_REQUIREMENTS),
    }
    POD_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastProbeTime" Time, 4 "lastTransitionTime" Time,
        5 "reason" Text, 6 "message" Text, 7 "observedGeneration" Number,
    }
    CONTAINER_STATUS {
        1 "name" TextKept, 2 "state" Part(CONTAINER_STATE), 3 "lastState" Part(CONTAINER_STATE),
        4 "ready" BoolKept, 5 "restartCount" NumberKept, 6 "image" TextKept, 7 "imageID" TextKept,
        8 "containerID" Text, 9 "started" BoolKept, 10 "allocatedResources" QuantityMap,
        11 "resources" PartKept(RESOURCE_REQUIREMENTS), 12 "volumeMounts" Parts(VOLUME_MOUNT_STATUS),
        13 "user" PartKept(CONTAINER_USER), 14 "allocatedResourcesStatus" Parts(RESOURCE_STATUS),
        15 "stopSignal" TextKept,
    }
    CONTAINER_STATE {
        1 "waiting" PartKept(CONTAINER_STATE_WAITING), 2 "running" PartKept(CONTAINER_STATE_RUNNING),
        3 "terminated" PartKept(CONTAINER_STATE_TERMINATED),
    }
    CONTAINER_STATE_WAITING { 1 "reason" Text, 2 "message" Text }
    CONTAINER_STATE_RUNNING { 1 "startedAt" Time }
    CONTAINER_STATE_TERMINATED {
        1 "exitCode" NumberKept, 2 "signal" Number, 3 "reason" Text, 4 "message" Text, 5 "startedAt" Time,
        6 "finishedAt" Time, 7 "containerID" Text,
    }
    VOLUME_MOUNT_STATUS {
        1 "name" TextKept, 2 "mountPath" TextKept, 3 "readOnly" Bool, 4 "recursiveReadOnly" TextKept,
    }
    CONTAINER_USER { 1 "linux" PartKept(LINUX_CONTAINER_USER) }
    LINUX_CONTAINER_USER { 1 "uid" NumberKept, 2 "gid" NumberKept, 3 "supplementalGroups" Numbers }
    RESOURCE_STATUS { 1 "name" TextKept, 2 "resources" Parts(RESOURCE_HEALTH) }
    RESOURCE_HEALTH { 1 "resourceID" TextKept, 2 "health" Text }
    POD_IP { 1 "ip" TextKept }
    POD_RESOURCE_CLAIM_STATUS { 1 "name" TextKept, 2 "resourceClaimName" TextKept }
    HOST_IP { 1 "ip" TextKept }
    POD_EXTENDED_RESOURCE_CLAIM_STATUS {
        1 "requestMappings" Parts(CONTAINER_EXTENDED_RESOURCE_REQUEST), 2 "resourceClaimName" TextKept,
    }
    CONTAINER_EXTENDED_RESOURCE_REQUEST {
        1 "containerName" TextKept, 2 "resourceName" TextKept, 3 "requestName" TextKept,
    }
}
