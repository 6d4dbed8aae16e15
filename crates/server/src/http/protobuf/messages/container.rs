//! Containers: what runs in a pod, and how it is asked whether it is well.

use super::core::LOCAL_REFERENCE;
use super::volume::{OBJECT_FIELD_SELECTOR, RESOURCE_FIELD_SELECTOR};
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    CONTAINER {
        1 "name" TextKept, 2 "image" Text, 3 "command" Texts, 4 "args" Texts, 5 "workingDir" Text,
        6 "ports" Parts(CONTAINER_PORT), 7 "env" Parts(ENV_VAR), 8 "resources" Part(RESOURCE_REQUIREMENTS),
        9 "volumeMounts" Parts(VOLUME_MOUNT), 10 "livenessProbe" PartKept(PROBE),
        11 "readinessProbe" PartKept(PROBE), 12 "lifecycle" PartKept(LIFECYCLE),
        13 "terminationMessagePath" Text, 14 "imagePullPolicy" Text,
        15 "securityContext" PartKept(SECURITY_CONTEXT), 16 "stdin" Bool, 17 "stdinOnce" Bool, 18 "tty" Bool,
        19 "envFrom" Parts(ENV_FROM_SOURCE), 20 "terminationMessagePolicy" Text,
        21 "volumeDevices" Parts(VOLUME_DEVICE), 22 "startupProbe" PartKept(PROBE),
        23 "resizePolicy" Parts(CONTAINER_RESIZE_POLICY), 24 "restartPolicy" TextKept,
        25 "restartPolicyRules" Parts(CONTAINER_RESTART_RULE),
    }
    CONTAINER_PORT {
        1 "name" Text, 2 "hostPort" Number, 3 "containerPort" NumberKept, 4 "protocol" Text, 5 "hostIP" Text,
    }
    ENV_VAR { 1 "name" TextKept, 2 "value" Text, 3 "valueFrom" PartKept(ENV_VAR_SOURCE) }
    ENV_VAR_SOURCE {
        1 "fieldRef" PartKept(OBJECT_FIELD_SELECTOR), 2 "resourceFieldRef" PartKept(RESOURCE_FIELD_SELECTOR),
        3 "configMapKeyRef" PartKept(CONFIG_MAP_KEY_SELECTOR), 4 "secretKeyRef" PartKept(SECRET_KEY_SELECTOR),
        5 "fileKeyRef" PartKept(FILE_KEY_SELECTOR),
    }
    CONFIG_MAP_KEY_SELECTOR { 1 "" Inline(LOCAL_REFERENCE), 2 "key" TextKept, 3 "optional" BoolKept }
    SECRET_KEY_SELECTOR { 1 "" Inline(LOCAL_REFERENCE), 2 "key" TextKept, 3 "optional" BoolKept }
    FILE_KEY_SELECTOR { 1 "volumeName" TextKept, 2 "path" TextKept, 3 "key" TextKept, 4 "optional" BoolKept }
    RESOURCE_REQUIREMENTS {
        1 "limits" QuantityMap, 2 "requests" QuantityMap, 3 "claims" Parts(RESOURCE_CLAIM),
    }
    RESOURCE_CLAIM { 1 "name" TextKept, 2 "request" Text }
    VOLUME_MOUNT {
        1 "name" TextKept, 2 "readOnly" Bool, 3 "mountPath" TextKept, 4 "subPath" Text,
        5 "mountPropagation" TextKept, 6 "subPathExpr" Text, 7 "recursiveReadOnly" TextKept,
    }
    PROBE {
        1 "" Inline(PROBE_HANDLER), 2 "initialDelaySeconds" Number, 3 "timeoutSeconds" Number,
        4 "periodSeconds" Number, 5 "successThreshold" Number, 6 "failureThreshold" Number,
        7 "terminationGracePeriodSeconds" NumberKept,
    }
    PROBE_HANDLER {
        1 "exec" PartKept(EXEC_ACTION), 2 "httpGet" PartKept(HTTP_GET_ACTION),
        3 "tcpSocket" PartKept(TCP_SOCKET_ACTION), 4 "grpc" PartKept(GRPC_ACTION),
    }
    EXEC_ACTION { 1 "command" Texts }
    HTTP_GET_ACTION {
        1 "path" Text, 2 "port" IntOrTextKept, 3 "host" Text, 4 "scheme" Text,
        5 "httpHeaders" Parts(HTTP_HEADER),
    }
    HTTP_HEADER { 1 "name" TextKept, 2 "value" TextKept }
    TCP_SOCKET_ACTION { 1 "port" IntOrTextKept, 2 "host" Text }
    GRPC_ACTION { 1 "port" NumberKept, 2 "service" TextKept }
    LIFECYCLE {
        1 "postStart" PartKept(LIFECYCLE_HANDLER), 2 "preStop" PartKept(LIFECYCLE_HANDLER),
        3 "stopSignal" TextKept,
    }
    LIFECYCLE_HANDLER {
        1 "exec" PartKept(EXEC_ACTION), 2 "httpGet" PartKept(HTTP_GET_ACTION),
        3 "tcpSocket" PartKept(TCP_SOCKET_ACTION), 4 "sleep" PartKept(SLEEP_ACTION),
    }
    SLEEP_ACTION { 1 "seconds" NumberKept }
    SECURITY_CONTEXT {
        1 "capabilities" PartKept(CAPABILITIES), 2 "privileged" BoolKept,
        3 "seLinuxOptions" PartKept(SE_LINUX_OPTIONS), 4 "runAsUser" NumberKept, 5 "runAsNonRoot" BoolKept,
        6 "readOnlyRootFilesystem" BoolKept, 7 "allowPrivilegeEscalation" BoolKept, 8 "runAsGroup" NumberKept,
        9 "procMount" TextKept, 10 "windowsOptions" PartKept(WINDOWS_SECURITY_CONTEXT_OPTIONS),
        11 "seccompProfile" PartKept(SECCOMP_PROFILE), 12 "appArmorProfile" PartKept(APP_ARMOR_PROFILE),
    }
    CAPABILITIES { 1 "add" Texts, 2 "drop" Texts }
    SE_LINUX_OPTIONS { 1 "user" Text, 2 "role" Text, 3 "type" Text, 4 "level" Text }
    WINDOWS_SECURITY_CONTEXT_OPTIONS {
        1 "gmsaCredentialSpecName" TextKept, 2 "gmsaCredentialSpec" TextKept, 3 "runAsUserName" TextKept,
        4 "hostProcess" BoolKept,
    }
    SECCOMP_PROFILE { 1 "type" TextKept, 2 "localhostProfile" TextKept }
    APP_ARMOR_PROFILE { 1 "type" TextKept, 2 "localhostProfile" TextKept }
    ENV_FROM_SOURCE {
        1 "prefix" Text, 2 "configMapRef" PartKept(CONFIG_MAP_ENV_SOURCE),
        3 "secretRef" PartKept(SECRET_ENV_SOURCE),
    }
    CONFIG_MAP_ENV_SOURCE { 1 "" Inline(LOCAL_REFERENCE), 2 "optional" BoolKept }
    SECRET_ENV_SOURCE { 1 "" Inline(LOCAL_REFERENCE), 2 "optional" BoolKept }
    VOLUME_DEVICE { 1 "name" TextKept, 2 "devicePath" TextKept }
    CONTAINER_RESIZE_POLICY { 1 "resourceName" TextKept, 2 "restartPolicy" TextKept }
    CONTAINER_RESTART_RULE { 1 "action" Text, 2 "exitCodes" PartKept(CONTAINER_RESTART_RULE_ON_EXIT_CODES) }
    CONTAINER_RESTART_RULE_ON_EXIT_CODES { 1 "operator" Text, 2 "values" Numbers }
    SYSCTL { 1 "name" TextKept, 2 "value" TextKept }
    EPHEMERAL_CONTAINER { 1 "" Inline(EPHEMERAL_CONTAINER_COMMON), 2 "targetContainerName" Text }
    EPHEMERAL_CONTAINER_COMMON {
        1 "name" TextKept, 2 "image" Text, 3 "command" Texts, 4 "args" Texts, 5 "workingDir" Text,
        6 "ports" Parts(CONTAINER_PORT), 7 "env" Parts(ENV_VAR), 8 "resources" Part(RESOURCE_REQUIREMENTS),
        9 "volumeMounts" Parts(VOLUME_MOUNT), 10 "livenessProbe" PartKept(PROBE),
        11 "readinessProbe" PartKept(PROBE), 12 "lifecycle" PartKept(LIFECYCLE),
        13 "terminationMessagePath" Text, 14 "imagePullPolicy" Text,
        15 "securityContext" PartKept(SECURITY_CONTEXT), 16 "stdin" Bool, 17 "stdinOnce" Bool, 18 "tty" Bool,
        19 "envFrom" Parts(ENV_FROM_SOURCE), 20 "terminationMessagePolicy" Text,
        21 "volumeDevices" Parts(VOLUME_DEVICE), 22 "startupProbe" PartKept(PROBE),
        23 "resizePolicy" Parts(CONTAINER_RESIZE_POLICY), 24 "restartPolicy" TextKept,
        25 "restartPolicyRules" Parts(CONTAINER_RESTART_RULE),
    }
}
