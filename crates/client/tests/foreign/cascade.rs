//! Deleting with a policy that Kubernetes does not know.

use serde_json::json;
use sexton_client::Gateway;
use sexton_model::bulk::{Action, Annotations, Bulk, Outcome};
use sexton_testkit::World;
use sexton_testkit::things::{config_map, core, held};

use crate::bulk::{delete, gateway, item, one};
use crate::faults::{Fault, Faults};

/// REQ-KRK-8: the finalizer is on before the deletion, whatever the server makes of policies: one of ours would take it off again
/// under a named policy, a Kubernetes needs one to be named because kinds differ in what they do without.
#[tokio::test]
async fn a_cascade_holds_on_any_server() {
    for (like_kubernetes, sent) in [(false, json!(null)), (true, json!("Background"))] {
        let world = World::new().await;
        let (faults, client) = Faults::over(&world);
        if like_kubernetes {
            faults.act_like_kubernetes();
        }
        world.create("configmaps", &config_map("a")).await.expect(201);
        // Answers with the object and not with a status even if it is removed at once.
        world.create("services", &core("Service", "b")).await.expect(201);
        let gateway = gateway(&client);
        let a = item(&world, "configmaps", "a", delete("Cascade")).await;
        let b = item(
            &world,
            "services",
            "b",
            Action::Delete { policy: None, annotations: Annotations::new(), hold: false },
        );
        let bulk = Bulk { epoch: None, items: vec![b.await, a] };
        for done in gateway.bulk(&bulk).await.unwrap().items {
            assert_eq!(done.outcome, Some(Outcome::Marked), "{done:?}");
        }
        for path in ["configmaps/a", "services/b"] {
            let marked = world.get(path).await.document(200);
            assert_eq!(marked["metadata"]["finalizers"], json!(["cascade_deletion"]), "{path}");
            assert!(marked["metadata"]["deletionTimestamp"].is_string());
        }
        // One dry run tells how the server takes it.
        assert_eq!(faults.policies(), [json!("Background"), sent.clone(), sent]);
    }
}

#[tokio::test]
async fn annotations_are_set_only_on_what_stays_to_carry_them() {
    let world = World::plain().await;
    let (_, client) = Faults::over(&world);
    let gateway = gateway(&client);
    world.create("configmaps", &config_map("goes")).await.expect(201);
    world.create("configmaps", &held("stays", "example.com/hold")).await.expect(201);
    let action = || {
        let annotations = [("sexton.dev/deleted-by".to_owned(), Some("ada".to_owned()))].into();
        Action::Delete { policy: Some("Background".into()), annotations, hold: false }
    };
    let goes = one(&gateway, item(&world, "configmaps", "goes", action()).await).await;
    assert_eq!((goes.outcome, goes.weaker), (Some(Outcome::Removed), None));
    let stays = one(&gateway, item(&world, "configmaps", "stays", action()).await).await;
    assert_eq!(stays.outcome, Some(Outcome::Marked));
    assert!(stays.weaker.unwrap().starts_with("annotations: "));
    let now = world.get("configmaps/stays").await.document(200);
    assert_eq!(now["metadata"]["annotations"]["sexton.dev/deleted-by"], "ada");
}

/// On what is marked already no finalizer can be put: the result says that the cascade is not on record.
#[tokio::test]
async fn a_cascade_comes_too_late_for_what_is_being_deleted() {
    let world = World::new().await;
    let (_, client) = Faults::over(&world);
    world.create("configmaps", &held("a", "example.com/hold")).await.expect(201);
    world.delete("configmaps/a", &json!({"propagationPolicy": "Background"})).await.expect(200);
    let late = one(&gateway(&client), item(&world, "configmaps", "a", delete("Cascade")).await).await;
    assert_eq!(late.outcome, Some(Outcome::Unchanged));
    assert!(late.weaker.unwrap().starts_with("policy: "));
}

/// A server that refuses the finalizer refuses the deletion, with its own words; nothing is half done.
#[tokio::test]
async fn a_finalizer_that_is_refused_is_the_end_of_it() {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    world.create("configmaps", &config_map("a")).await.expect(201);
    faults.times(usize::MAX, Some(http::Method::PATCH), &["/configmaps/a"], Fault::Code(422));
    let refused = one(&gateway(&client), item(&world, "configmaps", "a", delete("Cascade")).await).await;
    assert_eq!((refused.code, refused.outcome), (422, None));
    assert!(faults.policies().is_empty());
    let nonsense = one(&gateway(&client), item(&world, "configmaps", "a", delete("Slowly")).await).await;
    assert_eq!(nonsense.code, 422);
}
