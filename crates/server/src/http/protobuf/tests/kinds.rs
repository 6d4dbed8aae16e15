//! Workloads, services and definitions as another implementation writes them, against what a person would write down.

use std::collections::BTreeMap;

use k8s_pb::api::apps::v1::{
    RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy,
};
use k8s_pb::api::autoscaling::v1::{Scale, ScaleSpec};
use k8s_pb::api::core::v1::{
    Container, ContainerState, ContainerStateTerminated, ContainerStatus, EnvVar, HttpGetAction,
    PersistentVolumeClaim, PersistentVolumeClaimSpec, Pod, PodSpec, PodStatus, Probe, ProbeHandler, Service,
    ServicePort, ServiceSpec, VolumeResourceRequirements,
};
use k8s_pb::apiextensions_apiserver::pkg::apis::apiextensions::v1 as definitions;
use k8s_pb::apimachinery::pkg::api::resource::Quantity;
use k8s_pb::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_pb::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Value, json};

use super::encoder::wrapped;
use super::read;

fn text(text: &str) -> Option<String> {
    Some(text.into())
}

fn named(name: &str) -> Option<ObjectMeta> {
    Some(ObjectMeta { name: text(name), ..ObjectMeta::default() })
}

/// As Go writes it: all three.
fn int(int: i32) -> Option<IntOrString> {
    Some(IntOrString { r#type: Some(0), int_val: Some(int), str_val: text("") })
}

fn words(words: &str) -> Option<IntOrString> {
    Some(IntOrString { r#type: Some(1), int_val: Some(0), str_val: text(words) })
}

fn quantities(amount: &str) -> BTreeMap<String, Quantity> {
    BTreeMap::from([("storage".into(), Quantity { string: text(amount) })])
}

/// The target port of a service is no pointer: 0 is one that was never set.
#[test]
fn services() {
    let port = |name: &str, target_port| ServicePort {
        name: text(name),
        protocol: text(""),
        port: Some(80),
        target_port,
        node_port: Some(0),
        ..ServicePort::default()
    };
    let spec = ServiceSpec {
        ports: vec![port("a", words("http")), port("b", int(8080)), port("", int(0))],
        cluster_ip: text("None"),
        publish_not_ready_addresses: Some(false),
        ip_family_policy: text("SingleStack"),
        allocate_load_balancer_node_ports: Some(false),
        ..ServiceSpec::default()
    };
    let service = Service { metadata: named("s"), spec: Some(spec), status: Some(Default::default()) };
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {
            "ports": [
                {"name": "a", "port": 80, "targetPort": "http"},
                {"name": "b", "port": 80, "targetPort": 8080},
                {"port": 80},
            ],
            "clusterIP": "None",
            "ipFamilyPolicy": "SingleStack",
            "allocateLoadBalancerNodePorts": false,
        },
    });
    assert_eq!(read(&wrapped("v1", "Service", &service)), Ok(expected));
}

fn status() -> PodStatus {
    let terminated = ContainerStateTerminated {
        exit_code: Some(0),
        finished_at: Some(Time { seconds: Some(1), nanos: Some(0) }),
        ..ContainerStateTerminated::default()
    };
    PodStatus {
        phase: text("Succeeded"),
        container_statuses: vec![ContainerStatus {
            name: text("c"),
            state: Some(ContainerState { terminated: Some(terminated), ..ContainerState::default() }),
            last_state: Some(Default::default()),
            ready: Some(false),
            restart_count: Some(0),
            image: text("i"),
            image_id: text(""),
            allocated_resources: quantities("1Gi"),
            ..ContainerStatus::default()
        }],
        ..PodStatus::default()
    }
}

/// What runs says so in numbers that count although they are 0.
#[test]
fn pods() {
    let get = HttpGetAction { path: text("/"), port: int(0), ..HttpGetAction::default() };
    let container = Container {
        name: text("c"),
        image: text(""),
        env: vec![EnvVar { name: text("E"), value: text(""), value_from: None }],
        liveness_probe: Some(Probe {
            handler: Some(ProbeHandler { http_get: Some(get), ..ProbeHandler::default() }),
            period_seconds: Some(5),
            timeout_seconds: Some(0),
            ..Probe::default()
        }),
        resources: Some(Default::default()),
        security_context: Some(Default::default()),
        tty: Some(false),
        ..Container::default()
    };
    let spec = PodSpec {
        containers: vec![container],
        termination_grace_period_seconds: Some(0),
        host_network: Some(false),
        automount_service_account_token: Some(false),
        ..PodSpec::default()
    };
    let pod = Pod { metadata: named("p"), spec: Some(spec), status: Some(status()) };
    let container = json!({
        "name": "c",
        "env": [{"name": "E"}],
        "livenessProbe": {"httpGet": {"path": "/", "port": 0}, "periodSeconds": 5},
        "securityContext": {},
    });
    let told = json!({
        "name": "c",
        "state": {"terminated": {"exitCode": 0, "finishedAt": "1970-01-01T00:00:01Z"}},
        "ready": false,
        "restartCount": 0,
        "image": "i",
        "imageID": "",
        "allocatedResources": {"storage": "1Gi"},
    });
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": false,
        },
        "status": {"phase": "Succeeded", "containerStatuses": [told]},
    });
    assert_eq!(read(&wrapped("v1", "Pod", &pod)), Ok(expected));
}

#[test]
fn stateful_sets() {
    let resources = VolumeResourceRequirements { requests: quantities("5Gi"), ..Default::default() };
    let claim = PersistentVolumeClaim {
        metadata: named("data"),
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: vec!["ReadWriteOnce".into()],
            resources: Some(resources),
            storage_class_name: text(""),
            ..PersistentVolumeClaimSpec::default()
        }),
        status: Some(Default::default()),
    };
    let rolling = RollingUpdateStatefulSetStrategy { partition: Some(0), max_unavailable: words("25%") };
    let spec = StatefulSetSpec {
        replicas: Some(0),
        service_name: text(""),
        volume_claim_templates: vec![claim],
        update_strategy: Some(StatefulSetUpdateStrategy { r#type: text(""), rolling_update: Some(rolling) }),
        min_ready_seconds: Some(0),
        ..StatefulSetSpec::default()
    };
    let set = StatefulSet { metadata: named("s"), spec: Some(spec), status: None };
    let claim = json!({
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
            "storageClassName": "",
        },
    });
    let expected = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "s"},
        "spec": {
            "replicas": 0,
            "serviceName": "",
            "volumeClaimTemplates": [claim],
            "updateStrategy": {"rollingUpdate": {"partition": 0, "maxUnavailable": "25%"}},
        },
    });
    assert_eq!(read(&wrapped("apps/v1", "StatefulSet", &set)), Ok(expected));
}

/// A number of replicas that is left out is none at all, there as here.
#[test]
fn scales() {
    let scale = |replicas| Scale {
        metadata: named("s"),
        spec: Some(ScaleSpec { replicas: Some(replicas) }),
        status: None,
    };
    let body = |replicas| wrapped("autoscaling/v1", "Scale", &scale(replicas));
    let named = json!({"name": "s"});
    let some = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": named, "spec": {"replicas": 3},
    });
    assert_eq!(read(&body(3)), Ok(some));
    assert_eq!(
        read(&body(0)),
        Ok(json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": named}))
    );
}

type Schema = definitions::JsonSchemaProps;

fn schema_of(of: &str) -> Schema {
    Schema { r#type: text(of), description: text(""), nullable: Some(false), ..Schema::default() }
}

fn definition(schema: Schema) -> Vec<u8> {
    let version = definitions::CustomResourceDefinitionVersion {
        name: text("v1"),
        served: Some(true),
        storage: Some(false),
        schema: Some(definitions::CustomResourceValidation { open_apiv3_schema: Some(schema) }),
        ..Default::default()
    };
    let spec = definitions::CustomResourceDefinitionSpec {
        group: text("example.com"),
        scope: text("Cluster"),
        versions: vec![version],
        ..Default::default()
    };
    let definition = definitions::CustomResourceDefinition {
        metadata: named("d"),
        spec: Some(spec),
        status: Some(Default::default()),
    };
    wrapped("apiextensions.k8s.io/v1", "CustomResourceDefinition", &definition)
}

/// Schemas hold schemas in four forms, numbers with a point, and JSON.
#[test]
fn definitions_with_schemas() {
    let json_of = |text: &str| definitions::Json { raw: Some(text.into()) };
    let either = |allows, schema: Option<Schema>| {
        Some(Box::new(definitions::JsonSchemaPropsOrBool {
            allows: Some(allows),
            schema: schema.map(Box::new),
        }))
    };
    let list = Schema {
        items: Some(Box::new(definitions::JsonSchemaPropsOrArray {
            schema: Some(Box::new(schema_of("string"))),
            j_son_schemas: Vec::new(),
        })),
        min_items: Some(0),
        x_kubernetes_list_type: text("set"),
        ..schema_of("array")
    };
    let number = Schema {
        maximum: Some(5.0),
        minimum: Some(-0.5),
        default: Some(json_of("{\"a\":[1]}")),
        r#enum: vec![json_of("1"), json_of("null")],
        ..schema_of("number")
    };
    let properties = [
        ("list", list),
        ("number", number),
        (
            "open",
            Schema { additional_properties: either(true, Some(schema_of("string"))), ..schema_of("object") },
        ),
        ("all", Schema { additional_properties: either(true, None), ..schema_of("object") }),
        ("none", Schema { additional_properties: either(false, None), ..schema_of("object") }),
    ];
    let schema = Schema {
        properties: properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect(),
        x_kubernetes_preserve_unknown_fields: Some(true),
        ..schema_of("object")
    };
    let properties = json!({
        "list": {
            "type": "array", "items": {"type": "string"}, "minItems": 0, "x-kubernetes-list-type": "set",
        },
        "number": {
            "type": "number", "maximum": 5, "minimum": -0.5, "default": {"a": [1]}, "enum": [1, null],
        },
        "open": {"type": "object", "additionalProperties": {"type": "string"}},
        "all": {"type": "object", "additionalProperties": true},
        "none": {"type": "object", "additionalProperties": false},
    });
    let schema_read = json!({
        "type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": true,
    });
    let read_as = read(&definition(schema)).unwrap();
    let version = &read_as["spec"]["versions"][0];
    assert_eq!(version["schema"]["openAPIV3Schema"], schema_read);
    assert_eq!((&version["served"], &version["storage"]), (&json!(true), &json!(false)));
    assert_eq!((&read_as["spec"]["names"], &read_as["status"]), (&Value::Null, &Value::Null));
}

/// However deep schemas are, reading them ends, and what is read is no deeper than JSON may be.
#[test]
fn depth_has_a_bound() {
    let deep = |levels: usize| {
        (0..levels)
            .fold(Schema::default(), |inner, _| Schema { not: Some(Box::new(inner)), ..Schema::default() })
    };
    assert!(read(&definition(deep(50))).is_ok());
    for levels in [60, 64, 90] {
        let (code, message) = read(&definition(deep(levels))).unwrap_err();
        assert_eq!((code, message.contains("is nested deeper than 64 levels")), (400, true), "{message}");
    }
    let array = format!("{}{}", "[".repeat(62), "]".repeat(62));
    let default = Some(definitions::Json { raw: Some(array.into()) });
    let (code, message) = read(&definition(Schema { default, ..Schema::default() })).unwrap_err();
    assert_eq!((code, message.contains("is nested deeper than 64 levels")), (400, true), "{message}");
}
