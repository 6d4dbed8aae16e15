//! Bodies that kubectl sent, as they were on the wire, and what they are read as.
//!
//! A fixture holds the bytes in hexadecimal, an empty line, and the document.

use serde_json::Value;

use super::read;

/// The fixtures: their names, and what they hold.
pub(super) const FIXTURES: &[(&str, &str)] = &[
    ("namespace", include_str!("fixtures/namespace.txt")),
    ("configmap", include_str!("fixtures/configmap.txt")),
    ("secret", include_str!("fixtures/secret.txt")),
    ("serviceaccount", include_str!("fixtures/serviceaccount.txt")),
    ("deployment", include_str!("fixtures/deployment.txt")),
    ("service_cluster_ip", include_str!("fixtures/service_cluster_ip.txt")),
    ("service_node_port", include_str!("fixtures/service_node_port.txt")),
    ("service_external_name", include_str!("fixtures/service_external_name.txt")),
    ("job", include_str!("fixtures/job.txt")),
    ("cron_job", include_str!("fixtures/cron_job.txt")),
    // `kubectl create job --from` of a cronjob in which every field of a job, a pod and a container has a value.
    ("job_of_all_fields", include_str!("fixtures/job_of_all_fields.txt")),
    ("can_i", include_str!("fixtures/can_i.txt")),
    ("can_i_list", include_str!("fixtures/can_i_list.txt")),
    ("whoami", include_str!("fixtures/whoami.txt")),
];

/// The bytes of a fixture and the document they mean.
pub(super) fn parse(text: &str) -> (Vec<u8>, Value) {
    let (hex, json) = text.split_once("\n\n").unwrap();
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    (digits.chunks(2).map(byte).collect(), serde_json::from_str(json).unwrap())
}

#[test]
fn what_kubectl_sends_is_understood() {
    for (name, text) in FIXTURES {
        let (bytes, expected) = parse(text);
        assert_eq!(read(&bytes), Ok(expected), "{name}");
    }
}
