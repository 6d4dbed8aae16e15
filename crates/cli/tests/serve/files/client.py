"""What the Kubernetes client for Python does with a server, as lines. Usage: client.py URL"""

import logging
import os
import sys
import threading

from kubernetes import client, dynamic, utils, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

logging.disable(logging.CRITICAL)
configuration = client.Configuration()
configuration.host = sys.argv[1]
client.Configuration.set_default(configuration)
api = client.ApiClient()
core = client.CoreV1Api()


def say(what, *values):
    print(f"{what}:", *values, flush=True)


def refused(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except client.ApiException as error:
        return error.status, error.reason
    return "not refused"


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"app": "web"}), data=data)


def typed():
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="team")))
    made = core.create_namespaced_config_map("team", config_map("a", greeting="hello"))
    say("created", made.metadata.name, made.data)
    say("again", refused(core.create_namespaced_config_map, "team", config_map("a")))
    core.create_namespaced_secret("team", client.V1Secret(metadata={"name": "s"}, string_data={"key": "value"}))
    say("secret", core.read_namespaced_secret("s", "team").data)
    patched = core.patch_namespaced_config_map("a", "team", {"data": {"more": "yes"}})
    say("patched", sorted(patched.data))
    patched.data = {"only": "this"}
    say("replaced", core.replace_namespaced_config_map("a", "team", patched).data)
    patched.metadata.resource_version = made.metadata.resource_version
    say("replaced an old one", refused(core.replace_namespaced_config_map, "a", "team", patched))
    for number in range(5):
        core.create_namespaced_config_map("team", config_map(f"b{number}"))
    names, more = [], None
    while more != "":
        page = core.list_namespaced_config_map("team", label_selector="app=web", limit=2, _continue=more)
        names.append([item.metadata.name for item in page.items])
        more = page.metadata._continue or ""
    say("pages", names)
    say("nobody", refused(core.read_namespaced_config_map, "nobody", "team"))


def owned():
    owner = core.read_namespaced_config_map("a", "team").metadata
    reference = client.V1OwnerReference(api_version="v1", kind="ConfigMap", name="a", uid=owner.uid)
    below = config_map("below")
    below.metadata.owner_references = [reference]
    core.create_namespaced_config_map("team", below)
    follow = watch.Watch()
    seen = follow.stream(core.list_namespaced_config_map, "team", field_selector="metadata.name=below", timeout_seconds=60)
    for event in seen:
        say("seen", event["type"], event["object"].metadata.name)
        if event["type"] == "ADDED":
            core.delete_namespaced_config_map("a", "team", propagation_policy="Background")
        if event["type"] == "DELETED":
            follow.stop()
    say("gone", refused(core.read_namespaced_config_map, "a", "team"))


def defined():
    extensions = client.ApiextensionsV1Api()
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "boxes", "singular": "box", "kind": "Box"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    extensions.create_custom_resource_definition({"metadata": {"name": "boxes.example.com"}, "spec": spec})
    custom = client.CustomObjectsApi()
    box = {"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "one"}, "spec": {"size": 1}}
    custom.create_namespaced_custom_object("example.com", "v1", "team", "boxes", box)
    wrong = {**box, "metadata": {"name": "wrong"}, "spec": {"size": "large"}}
    say("wrong type", refused(custom.create_namespaced_custom_object, "example.com", "v1", "team", "boxes", wrong))
    custom.patch_namespaced_custom_object("example.com", "v1", "team", "boxes", "one", {"spec": {"size": 2}})
    boxes = dynamic.DynamicClient(api).resources.get(api_version="example.com/v1", kind="Box")
    say("dynamic", boxes.get(name="one", namespace="team").spec.size)
    applied = {**box, "metadata": {"name": "two", "namespace": "team"}, "spec": {"size": 7}}
    boxes.server_side_apply(body=applied, field_manager="python", name="two", namespace="team")
    say("applied", [item.spec.size for item in boxes.get(namespace="team").items])
    stale = {**applied, "spec": {"size": 8}}
    try:
        boxes.server_side_apply(body=stale, field_manager="other", name="two", namespace="team")
    except dynamic.exceptions.ConflictError as error:
        say("conflict", error.status)
    boxes.delete(name="two", namespace="team", body={"propagationPolicy": "Foreground"})
    extensions.delete_custom_resource_definition("boxes.example.com")


def asked():
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(verb="delete", resource="configmaps", namespace="team")
        )
    )
    say("allowed", client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed)
    say("version", client.VersionApi().get_code().major)
    utils.create_from_dict(api, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "file", "namespace": "team"}})
    say("from a document", core.read_namespaced_config_map("file", "team").metadata.name)


def elected():
    """One leads; when it lets go of the lease somebody else does."""
    led, lock = threading.Event(), LeaseLock("leader", "team", "first")
    settings = electionconfig.Config(
        lock, lease_duration=17, renew_deadline=15, retry_period=1, onstarted_leading=led.set, onstopped_leading=None
    )
    threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
    say("leads", led.wait(30))
    say("lease", client.CoordinationV1Api().read_namespaced_lease("leader", "team").spec.holder_identity)


for part in (typed, owned, defined, asked, elected):
    part()
core.delete_namespace("team")
say("done", "yes")
# Whoever leads goes on leading, and would keep the interpreter from ending in order.
os._exit(0)
