//! Pods and their specification.

use super::container::{
    APP_ARMOR_PROFILE, CONTAINER, EPHEMERAL_CONTAINER, RESOURCE_REQUIREMENTS, SE_LINUX_OPTIONS,
    SECCOMP_PROFILE, SYSCTL, WINDOWS_SECURITY_CONTEXT_OPTIONS,
};
use super::core::LOCAL_REFERENCE;
use super::meta::OBJECT_META;
use super::placement::{AFFINITY, TOLERATION, TOPOLOGY_SPREAD_CONSTRAINT};
use super::pod_status::POD_STATUS;
use super::volume::VOLUME;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    POD { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(POD_SPEC), 3 "status" Part(POD_STATUS) }
    POD_SPEC {
        1 "volumes" Parts(VOLUME), 2 "containers" Parts(CONTAINER), 3 "restartPolicy" Text,
        4 "terminationGracePeriodSeconds" NumberKept, 5 "activeDeadlineSeconds" NumberKept,
        6 "dnsPolicy" Text, 7 "nodeSelector" TextMap, 8 "serviceAccountName" Text, 9 "serviceAccount" Text,
        10 "nodeName" Text, 11 "hostNetwork" Bool, 12 "hostPID" Bool, 13 "hostIPC" Bool,
        14 "securityContext" PartKept(POD_SECURITY_CONTEXT), 15 "imagePullSecrets" Parts(LOCAL_REFERENCE),
        16 "hostname" Text, 17 "subdomain" Text, 18 "affinity" PartKept(AFFINITY), 19 "schedulerName" Text,
        20 "initContainers" Parts(CONTAINER), 21 "automountServiceAccountToken" BoolKept,
        22 "tolerations" Parts(TOLERATION), 23 "hostAliases" Parts(HOST_ALIAS), 24 "priorityClassName" Text,
        25 "priority" NumberKept, 26 "dnsConfig" PartKept(POD_DNS_CONFIG),
        27 "shareProcessNamespace" BoolKept, 28 "readinessGates" Parts(POD_READINESS_GATE),
        29 "runtimeClassName" TextKept, 30 "enableServiceLinks" BoolKept, 31 "preemptionPolicy" TextKept,
        32 "overhead" QuantityMap, 33 "topologySpreadConstraints" Parts(TOPOLOGY_SPREAD_CONSTRAINT),
        34 "ephemeralContainers" Parts(EPHEMERAL_CONTAINER), 35 "setHostnameAsFQDN" BoolKept,
        36 "os" PartKept(POD_OS), 37 "hostUsers" BoolKept, 38 "schedulingGates" Parts(POD_SCHEDULING_GATE),
        39 "resourceClaims" Parts(POD_RESOURCE_CLAIM), 40 "resources" PartKept(RESOURCE_REQUIREMENTS),
        41 "hostnameOverride" TextKept, 42 "workloadRef" PartKept(WORKLOAD_REFERENCE),
    }
    POD_SECURITY_CONTEXT {
        1 "seLinuxOptions" PartKept(SE_LINUX_OPTIONS), 2 "runAsUser" NumberKept, 3 "runAsNonRoot" BoolKept,
        4 "supplementalGroups" Numbers, 5 "fsGroup" NumberKept, 6 "runAsGroup" NumberKept,
        7 "sysctls" Parts(SYSCTL), 8 "windowsOptions" PartKept(WINDOWS_SECURITY_CONTEXT_OPTIONS),
        9 "fsGroupChangePolicy" TextKept, 10 "seccompProfile" PartKept(SECCOMP_PROFILE),
        11 "appArmorProfile" PartKept(APP_ARMOR_PROFILE), 12 "supplementalGroupsPolicy" TextKept,
        13 "seLinuxChangePolicy" TextKept,
    }
    HOST_ALIAS { 1 "ip" TextKept, 2 "hostnames" Texts }
    POD_DNS_CONFIG { 1 "nameservers" Texts, 2 "searches" Texts, 3 "options" Parts(POD_DNS_CONFIG_OPTION) }
    POD_DNS_CONFIG_OPTION { 1 "name" Text, 2 "value" TextKept }
    POD_READINESS_GATE { 1 "conditionType" TextKept }
    POD_OS { 1 "name" TextKept }
    POD_SCHEDULING_GATE { 1 "name" TextKept }
    POD_RESOURCE_CLAIM {
        1 "name" TextKept, 3 "resourceClaimName" TextKept, 4 "resourceClaimTemplateName" TextKept,
    }
    WORKLOAD_REFERENCE { 1 "name" TextKept, 2 "podGroup" TextKept, 3 "podGroupReplicaKey" Text }
    POD_TEMPLATE_SPEC { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(POD_SPEC) }
}
