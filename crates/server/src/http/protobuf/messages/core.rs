//! Messages of the core group and of leases, without pods.

use super::meta::{CONDITION, OBJECT_META};
use super::placement::SESSION_AFFINITY_CONFIG;
use super::pod::POD_TEMPLATE_SPEC;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    LOCAL_REFERENCE { 1 "name" Text }
    SERVICE { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(SERVICE_SPEC), 3 "status" Part(SERVICE_STATUS) }
    SERVICE_SPEC {
        1 "ports" Parts(SERVICE_PORT), 2 "selector" TextMap, 3 "clusterIP" Text, 4 "type" Text,
        5 "externalIPs" Texts, 7 "sessionAffinity" Text, 8 "loadBalancerIP" Text,
        9 "loadBalancerSourceRanges" Texts, 10 "externalName" Text, 11 "externalTrafficPolicy" Text,
        12 "healthCheckNodePort" Number, 13 "publishNotReadyAddresses" Bool,
        14 "sessionAffinityConfig" PartKept(SESSION_AFFINITY_CONFIG), 17 "ipFamilyPolicy" TextKept,
        18 "clusterIPs" Texts, 19 "ipFamilies" Texts, 20 "allocateLoadBalancerNodePorts" BoolKept,
        21 "loadBalancerClass" TextKept, 22 "internalTrafficPolicy" TextKept,
        23 "trafficDistribution" TextKept,
    }
    SERVICE_PORT {
        1 "name" Text, 2 "protocol" Text, 3 "port" NumberKept, 4 "targetPort" IntOrText, 5 "nodePort" Number,
        6 "appProtocol" TextKept,
    }
    CLIENT_IP_CONFIG { 1 "timeoutSeconds" NumberKept }
    SERVICE_STATUS { 1 "loadBalancer" Part(LOAD_BALANCER_STATUS), 2 "conditions" Parts(CONDITION) }
    LOAD_BALANCER_STATUS { 1 "ingress" Parts(LOAD_BALANCER_INGRESS) }
    LOAD_BALANCER_INGRESS {
        1 "ip" Text, 2 "hostname" Text, 3 "ipMode" TextKept, 4 "ports" Parts(PORT_STATUS),
    }
    PORT_STATUS { 1 "port" NumberKept, 2 "protocol" TextKept, 3 "error" TextKept }
    REPLICATION_CONTROLLER {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(REPLICATION_CONTROLLER_SPEC),
        3 "status" Part(REPLICATION_CONTROLLER_STATUS),
    }
    REPLICATION_CONTROLLER_SPEC {
        1 "replicas" NumberKept, 2 "selector" TextMap, 3 "template" PartKept(POD_TEMPLATE_SPEC),
        4 "minReadySeconds" Number,
    }
    REPLICATION_CONTROLLER_STATUS {
        1 "replicas" NumberKept, 2 "fullyLabeledReplicas" Number, 3 "observedGeneration" Number,
        4 "readyReplicas" Number, 5 "availableReplicas" Number,
        6 "conditions" Parts(REPLICATION_CONTROLLER_CONDITION),
    }
    REPLICATION_CONTROLLER_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastTransitionTime" Time, 4 "reason" Text,
        5 "message" Text,
    }
    NAMESPACE {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(NAMESPACE_SPEC), 3 "status" Part(NAMESPACE_STATUS),
    }
    NAMESPACE_SPEC { 1 "finalizers" Texts }
    NAMESPACE_STATUS { 1 "phase" Text, 2 "conditions" Parts(NAMESPACE_CONDITION) }
    NAMESPACE_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 4 "lastTransitionTime" Time, 5 "reason" Text,
        6 "message" Text,
    }
    CONFIG_MAP {
        1 "metadata" Part(OBJECT_META), 2 "data" TextMap, 3 "binaryData" BytesMap, 4 "immutable" BoolKept,
    }
    SECRET {
        1 "metadata" Part(OBJECT_META), 2 "data" BytesMap, 3 "type" Text, 4 "stringData" TextMap,
        5 "immutable" BoolKept,
    }
    SERVICE_ACCOUNT {
        1 "metadata" Part(OBJECT_META), 2 "secrets" Parts(OBJECT_REFERENCE),
        3 "imagePullSecrets" Parts(LOCAL_REFERENCE), 4 "automountServiceAccountToken" BoolKept,
    }
    OBJECT_REFERENCE {
        1 "kind" Text, 2 "namespace" Text, 3 "name" Text, 4 "uid" Text, 5 "apiVersion" Text,
        6 "resourceVersion" Text, 7 "fieldPath" Text,
    }
    EVENT {
        1 "metadata" Part(OBJECT_META), 2 "involvedObject" Part(OBJECT_REFERENCE), 3 "reason" Text,
        4 "message" Text, 5 "source" Part(EVENT_SOURCE), 6 "firstTimestamp" Time, 7 "lastTimestamp" Time,
        8 "count" Number, 9 "type" Text, 10 "eventTime" MicroTime, 11 "series" PartKept(EVENT_SERIES),
        12 "action" Text, 13 "related" PartKept(OBJECT_REFERENCE), 14 "reportingComponent" TextKept,
        15 "reportingInstance" TextKept,
    }
    EVENT_SOURCE { 1 "component" Text, 2 "host" Text }
    EVENT_SERIES { 1 "count" Number, 2 "lastObservedTime" MicroTime, 3 "state" Ignored }
    LEASE { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(LEASE_SPEC) }
    LEASE_SPEC {
        1 "holderIdentity" TextKept, 2 "leaseDurationSeconds" NumberKept, 3 "acquireTime" MicroTime,
        4 "renewTime" MicroTime, 5 "leaseTransitions" NumberKept, 6 "strategy" TextKept,
        7 "preferredHolder" TextKept,
    }
}
