//! Volumes of pods, and claims to them.

use super::core::LOCAL_REFERENCE;
use super::meta::{LABEL_SELECTOR, OBJECT_META};
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    VOLUME { 1 "name" TextKept, 2 "" Inline(VOLUME_SOURCE) }
    VOLUME_SOURCE {
        1 "hostPath" PartKept(HOST_PATH_VOLUME_SOURCE), 2 "emptyDir" PartKept(EMPTY_DIR_VOLUME_SOURCE),
        3 "gcePersistentDisk" PartKept(GCE_PERSISTENT_DISK_VOLUME_SOURCE),
        4 "awsElasticBlockStore" PartKept(AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE),
        5 "gitRepo" PartKept(GIT_REPO_VOLUME_SOURCE), 6 "secret" PartKept(SECRET_VOLUME_SOURCE),
        7 "nfs" PartKept(NFS_VOLUME_SOURCE), 8 "iscsi" PartKept(ISCSI_VOLUME_SOURCE),
        9 "glusterfs" PartKept(GLUSTERFS_VOLUME_SOURCE),
        10 "persistentVolumeClaim" PartKept(PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE),
        11 "rbd" PartKept(RBD_VOLUME_SOURCE), 12 "flexVolume" PartKept(FLEX_VOLUME_SOURCE),
        13 "cinder" PartKept(CINDER_VOLUME_SOURCE), 14 "cephfs" PartKept(CEPHFS_VOLUME_SOURCE),
        15 "flocker" PartKept(FLOCKER_VOLUME_SOURCE), 16 "downwardAPI" PartKept(DOWNWARD_API_VOLUME_SOURCE),
        17 "fc" PartKept(FC_VOLUME_SOURCE), 18 "azureFile" PartKept(AZURE_FILE_VOLUME_SOURCE),
        19 "configMap" PartKept(CONFIG_MAP_VOLUME_SOURCE),
        20 "vsphereVolume" PartKept(VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE),
        21 "quobyte" PartKept(QUOBYTE_VOLUME_SOURCE), 22 "azureDisk" PartKept(AZURE_DISK_VOLUME_SOURCE),
        23 "photonPersistentDisk" PartKept(PHOTON_PERSISTENT_DISK_VOLUME_SOURCE),
        24 "portworxVolume" PartKept(PORTWORX_VOLUME_SOURCE), 25 "scaleIO" PartKept(SCALE_IO_VOLUME_SOURCE),
        26 "projected" PartKept(PROJECTED_VOLUME_SOURCE), 27 "storageos" PartKept(STORAGEOS_VOLUME_SOURCE),
        28 "csi" PartKept(CSI_VOLUME_SOURCE), 29 "ephemeral" PartKept(EPHEMERAL_VOLUME_SOURCE),
        30 "image" PartKept(IMAGE_VOLUME_SOURCE),
    }
    HOST_PATH_VOLUME_SOURCE { 1 "path" TextKept, 2 "type" TextKept }
    EMPTY_DIR_VOLUME_SOURCE { 1 "medium" Text, 2 "sizeLimit" Quantity }
    GCE_PERSISTENT_DISK_VOLUME_SOURCE {
        1 "pdName" TextKept, 2 "fsType" Text, 3 "partition" Number, 4 "readOnly" Bool,
    }
    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE {
        1 "volumeID" TextKept, 2 "fsType" Text, 3 "partition" Number, 4 "readOnly" Bool,
    }
    GIT_REPO_VOLUME_SOURCE { 1 "repository" TextKept, 2 "revision" Text, 3 "directory" Text }
    SECRET_VOLUME_SOURCE {
        1 "secretName" Text, 2 "items" Parts(KEY_TO_PATH), 3 "defaultMode" NumberKept, 4 "optional" BoolKept,
    }
    KEY_TO_PATH { 1 "key" TextKept, 2 "path" TextKept, 3 "mode" NumberKept }
    NFS_VOLUME_SOURCE { 1 "server" TextKept, 2 "path" TextKept, 3 "readOnly" Bool }
    ISCSI_VOLUME_SOURCE {
        1 "targetPortal" TextKept, 2 "iqn" TextKept, 3 "lun" NumberKept, 4 "iscsiInterface" Text,
        5 "fsType" Text, 6 "readOnly" Bool, 7 "portals" Texts, 8 "chapAuthDiscovery" Bool,
        10 "secretRef" PartKept(LOCAL_REFERENCE), 11 "chapAuthSession" Bool, 12 "initiatorName" TextKept,
    }
    GLUSTERFS_VOLUME_SOURCE { 1 "endpoints" TextKept, 2 "path" TextKept, 3 "readOnly" Bool }
    PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE { 1 "claimName" TextKept, 2 "readOnly" Bool }
    RBD_VOLUME_SOURCE {
        1 "monitors" Texts, 2 "image" TextKept, 3 "fsType" Text, 4 "pool" Text, 5 "user" Text,
        6 "keyring" Text, 7 "secretRef" PartKept(LOCAL_REFERENCE), 8 "readOnly" Bool,
    }
    FLEX_VOLUME_SOURCE {
        1 "driver" TextKept, 2 "fsType" Text, 3 "secretRef" PartKept(LOCAL_REFERENCE), 4 "readOnly" Bool,
        5 "options" TextMap,
    }
    CINDER_VOLUME_SOURCE {
        1 "volumeID" TextKept, 2 "fsType" Text, 3 "readOnly" Bool, 4 "secretRef" PartKept(LOCAL_REFERENCE),
    }
    CEPHFS_VOLUME_SOURCE {
        1 "monitors" Texts, 2 "path" Text, 3 "user" Text, 4 "secretFile" Text,
        5 "secretRef" PartKept(LOCAL_REFERENCE), 6 "readOnly" Bool,
    }
    FLOCKER_VOLUME_SOURCE { 1 "datasetName" Text, 2 "datasetUUID" Text }
    DOWNWARD_API_VOLUME_SOURCE { 1 "items" Parts(DOWNWARD_API_VOLUME_FILE), 2 "defaultMode" NumberKept }
    DOWNWARD_API_VOLUME_FILE {
        1 "path" TextKept, 2 "fieldRef" PartKept(OBJECT_FIELD_SELECTOR),
        3 "resourceFieldRef" PartKept(RESOURCE_FIELD_SELECTOR), 4 "mode" NumberKept,
    }
    OBJECT_FIELD_SELECTOR { 1 "apiVersion" Text, 2 "fieldPath" TextKept }
    RESOURCE_FIELD_SELECTOR { 1 "containerName" Text, 2 "resource" TextKept, 3 "divisor" Quantity }
    FC_VOLUME_SOURCE {
        1 "targetWWNs" Texts, 2 "lun" NumberKept, 3 "fsType" Text, 4 "readOnly" Bool, 5 "wwids" Texts,
    }
    AZURE_FILE_VOLUME_SOURCE { 1 "secretName" TextKept, 2 "shareName" TextKept, 3 "readOnly" Bool }
    CONFIG_MAP_VOLUME_SOURCE {
        1 "" Inline(LOCAL_REFERENCE), 2 "items" Parts(KEY_TO_PATH), 3 "defaultMode" NumberKept,
        4 "optional" BoolKept,
    }
    VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE {
        1 "volumePath" TextKept, 2 "fsType" Text, 3 "storagePolicyName" Text, 4 "storagePolicyID" Text,
    }
    QUOBYTE_VOLUME_SOURCE {
        1 "registry" TextKept, 2 "volume" TextKept, 3 "readOnly" Bool, 4 "user" Text, 5 "group" Text,
        6 "tenant" Text,
    }
    AZURE_DISK_VOLUME_SOURCE {
        1 "diskName" TextKept, 2 "diskURI" TextKept, 3 "cachingMode" TextKept, 4 "fsType" TextKept,
        5 "readOnly" BoolKept, 6 "kind" TextKept,
    }
    PHOTON_PERSISTENT_DISK_VOLUME_SOURCE { 1 "pdID" TextKept, 2 "fsType" Text }
    PORTWORX_VOLUME_SOURCE { 1 "volumeID" TextKept, 2 "fsType" Text, 3 "readOnly" Bool }
    SCALE_IO_VOLUME_SOURCE {
        1 "gateway" TextKept, 2 "system" TextKept, 3 "secretRef" PartKept(LOCAL_REFERENCE),
        4 "sslEnabled" Bool, 5 "protectionDomain" Text, 6 "storagePool" Text, 7 "storageMode" Text,
        8 "volumeName" Text, 9 "fsType" Text, 10 "readOnly" Bool,
    }
    PROJECTED_VOLUME_SOURCE { 1 "sources" Parts(VOLUME_PROJECTION), 2 "defaultMode" NumberKept }
    VOLUME_PROJECTION {
        1 "secret" PartKept(SECRET_PROJECTION), 2 "downwardAPI" PartKept(DOWNWARD_API_PROJECTION),
        3 "configMap" PartKept(CONFIG_MAP_PROJECTION),
        4 "serviceAccountToken" PartKept(SERVICE_ACCOUNT_TOKEN_PROJECTION),
        5 "clusterTrustBundle" PartKept(CLUSTER_TRUST_BUNDLE_PROJECTION),
        6 "podCertificate" PartKept(POD_CERTIFICATE_PROJECTION),
    }
    SECRET_PROJECTION { 1 "" Inline(LOCAL_REFERENCE), 2 "items" Parts(KEY_TO_PATH), 4 "optional" BoolKept }
    DOWNWARD_API_PROJECTION { 1 "items" Parts(DOWNWARD_API_VOLUME_FILE) }
    CONFIG_MAP_PROJECTION {
        1 "" Inline(LOCAL_REFERENCE), 2 "items" Parts(KEY_TO_PATH), 4 "optional" BoolKept,
    }
    SERVICE_ACCOUNT_TOKEN_PROJECTION {
        1 "audience" Text, 2 "expirationSeconds" NumberKept, 3 "path" TextKept,
    }
    CLUSTER_TRUST_BUNDLE_PROJECTION {
        1 "name" TextKept, 2 "signerName" TextKept, 3 "labelSelector" PartKept(LABEL_SELECTOR),
        4 "path" TextKept, 5 "optional" BoolKept,
    }
    POD_CERTIFICATE_PROJECTION {
        1 "signerName" Text, 2 "keyType" Text, 3 "maxExpirationSeconds" NumberKept,
        4 "credentialBundlePath" Text, 5 "keyPath" Text, 6 "certificateChainPath" Text,
        7 "userAnnotations" TextMap,
    }
    STORAGEOS_VOLUME_SOURCE {
        1 "volumeName" Text, 2 "volumeNamespace" Text, 3 "fsType" Text, 4 "readOnly" Bool,
        5 "secretRef" PartKept(LOCAL_REFERENCE),
    }
    CSI_VOLUME_SOURCE {
        1 "driver" TextKept, 2 "readOnly" BoolKept, 3 "fsType" TextKept, 4 "volumeAttributes" TextMap,
        5 "nodePublishSecretRef" PartKept(LOCAL_REFERENCE),
    }
    EPHEMERAL_VOLUME_SOURCE { 1 "volumeClaimTemplate" PartKept(PERSISTENT_VOLUME_CLAIM_TEMPLATE) }
    PERSISTENT_VOLUME_CLAIM_TEMPLATE {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(PERSISTENT_VOLUME_CLAIM_SPEC),
    }
    PERSISTENT_VOLUME_CLAIM_SPEC {
        1 "accessModes" Texts, 2 "resources" Part(VOLUME_RESOURCE_REQUIREMENTS), 3 "volumeName" Text,
        4 "selector" PartKept(LABEL_SELECTOR), 5 "storageClassName" TextKept, 6 "volumeMode" TextKept,
        7 "dataSource" PartKept(TYPED_LOCAL_OBJECT_REFERENCE),
        8 "dataSourceRef" PartKept(TYPED_OBJECT_REFERENCE), 9 "volumeAttributesClassName" TextKept,
    }
    VOLUME_RESOURCE_REQUIREMENTS { 1 "limits" QuantityMap, 2 "requests" QuantityMap }
    TYPED_LOCAL_OBJECT_REFERENCE { 1 "apiGroup" TextKept, 2 "kind" TextKept, 3 "name" TextKept }
    TYPED_OBJECT_REFERENCE {
        1 "apiGroup" TextKept, 2 "kind" TextKept, 3 "name" TextKept, 4 "namespace" TextKept,
    }
    IMAGE_VOLUME_SOURCE { 1 "reference" Text, 2 "pullPolicy" Text }
    PERSISTENT_VOLUME_CLAIM {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(PERSISTENT_VOLUME_CLAIM_SPEC),
        3 "status" Part(PERSISTENT_VOLUME_CLAIM_STATUS),
    }
    PERSISTENT_VOLUME_CLAIM_STATUS {
        1 "phase" Text, 2 "accessModes" Texts, 3 "capacity" QuantityMap,
        4 "conditions" Parts(PERSISTENT_VOLUME_CLAIM_CONDITION), 5 "allocatedResources" QuantityMap,
        7 "allocatedResourceStatuses" TextMap, 8 "currentVolumeAttributesClassName" TextKept,
        9 "modifyVolumeStatus" PartKept(MODIFY_VOLUME_STATUS),
    }
    PERSISTENT_VOLUME_CLAIM_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastProbeTime" Time, 4 "lastTransitionTime" Time,
        5 "reason" Text, 6 "message" Text,
    }
    MODIFY_VOLUME_STATUS { 1 "targetVolumeAttributesClassName" Text, 2 "status" TextKept }
}
