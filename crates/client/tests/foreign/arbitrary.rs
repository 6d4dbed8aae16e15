//! Whatever happens, and whatever is done meanwhile: in the end the reader's picture is what a full list says.

use proptest::prelude::*;
use serde_json::json;
use sexton_client::foreign::FeedOptions;
use sexton_model::feed::FeedKind;
use sexton_testkit::World;
use sexton_testkit::things::{DEFINITIONS, WIDGETS, config_map, core, widget, widgets};
use std::time::Duration;

use crate::faults::{Fault, Faults};
use crate::reader::{Picture, Reader, options, truth};

/// Something that happens to the world, to the way to it, or to the reader.
#[derive(Debug, Clone)]
enum Step {
    Create(u8),
    Change(u8),
    Remove(u8),
    Define,
    Undefine,
    Refuse(u8, bool, u16),
    Forget,
    Cut,
    NoKinds,
    SomeKinds(u16),
    Silence(u8),
    Heal,
    Read(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let code = || prop::sample::select(vec![403_u16, 404, 410, 429, 500, 503]);
    prop_oneof![
        4 => (0..9_u8).prop_map(Step::Create),
        2 => (0..9_u8).prop_map(Step::Change),
        3 => (0..9_u8).prop_map(Step::Remove),
        1 => Just(Step::Define),
        1 => Just(Step::Undefine),
        2 => (0..3_u8, any::<bool>(), code()).prop_map(|(kind, watch, code)| Step::Refuse(kind, watch, code)),
        2 => Just(Step::Forget),
        3 => Just(Step::Cut),
        1 => Just(Step::NoKinds),
        1 => code().prop_map(Step::SomeKinds),
        1 => (0..3_u8).prop_map(Step::Silence),
        2 => Just(Step::Heal),
        3 => (0..20_u8).prop_map(Step::Read),
    ]
}

const PATHS: [&str; 3] = ["configmaps", "secrets", WIDGETS];
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

/// Where an object is: three kinds with three names each.
fn place(at: u8) -> (&'static str, String) {
    (PATHS[usize::from(at % 3)], format!("n{}", at / 3))
}

async fn remove(world: &World, path: &str, name: &str) {
    // Whether there is one does not matter.
    world.delete(&format!("{path}/{name}"), &json!({"propagationPolicy": "Background"})).await;
}

async fn act(world: &World, step: &Step) {
    match step {
        Step::Create(at) => {
            let (path, name) = place(*at);
            let document = match at % 3 {
                0 => config_map(&name),
                1 => core("Secret", &name),
                _ => widget(&name, 1),
            };
            world.create(path, &document).await;
        }
        Step::Change(at) => {
            let (path, name) = place(*at);
            let head = world.head().await.to_string();
            world.merge(&format!("{path}/{name}"), &json!({"metadata": {"labels": {"at": head}}})).await;
        }
        Step::Remove(at) => {
            let (path, name) = place(*at);
            remove(world, path, &name).await;
        }
        Step::Define => drop(world.create(DEFINITIONS, &widgets()).await),
        Step::Undefine => {
            for at in [2, 5, 8] {
                let (path, name) = place(at);
                remove(world, path, &name).await;
            }
            world.delete(DEFINITION, &json!({"propagationPolicy": "Background"})).await;
        }
        Step::Forget => world.compact().await,
        _ => {}
    }
}

async fn disturb(faults: &Faults, reader: &mut Reader, step: &Step) {
    let list_of = |kind: u8| ["/configmaps?", "/secrets?", "/widgets?"][usize::from(kind)];
    match step {
        Step::Refuse(kind, watch, code) => {
            let way = if *watch { "watch=true" } else { "limit=" };
            faults.on(&[list_of(*kind), way], Fault::Code(*code));
        }
        Step::Cut => faults.cut(),
        Step::NoKinds => faults.on(&["=/apis"], Fault::Json(json!({"groups": []}))),
        Step::SomeKinds(code) => faults.on(&["=/apis/demo.example.com/v1"], Fault::Code(*code)),
        Step::Silence(kind) => faults.times(1, None, &[list_of(*kind)], Fault::Silence),
        Step::Heal => faults.heal(),
        Step::Read(most) => reader.read_some(usize::from(*most)).await,
        _ => {}
    }
}

async fn live_through(steps: &[Step]) {
    let world = World::new().await;
    let (faults, client) = Faults::over(&world);
    let options = FeedOptions {
        rediscovery: Duration::from_millis(20),
        patience: Duration::from_millis(30),
        heartbeat: Duration::from_millis(20),
        attempts: 1_000,
        ..options()
    };
    let mut reader = Reader::new(&client, options);
    for step in steps {
        act(&world, step).await;
        disturb(&faults, &mut reader, step).await;
    }
    faults.heal();
    let truth = truth(&world).await;
    let widgets = truth.values().any(|(slot, _)| slot.contains("widgets.demo.example.com"));
    let caught_up = |reader: &Reader| {
        reader.synced && reader.all_whole() && reader.names("widgets") == widgets && reader.picture == truth
    };
    let unprovable = |reader: &Reader| !widgets && is_unprovable(reader, &truth);
    reader.until("the picture of a full list", |reader| caught_up(reader) || unprovable(reader)).await;
    if !caught_up(&reader) {
        // One definition that is heard is proof enough.
        act(&world, &Step::Define).await;
        reader.until("the definition", was_defined).await;
        act(&world, &Step::Undefine).await;
        reader.until("the picture of a full list", caught_up).await;
    }
}

/// Whether a definition of the widgets was ever told.
fn was_defined(reader: &Reader) -> bool {
    let told = |word: &str| format!("{word} customresourcedefinitions widgets.demo.example.com");
    reader.told.iter().any(|line| *line == told("ADDED") || *line == told("MODIFIED"))
}

/// Whether the picture is right but for widgets that cannot be proved gone: their definition came and went unheard, so
/// that the server does not serve them may as well mean that a server behind it is down. They are told as broken then.
fn is_unprovable(reader: &Reader, truth: &Picture) -> bool {
    let of_widgets = |kind: &&FeedKind| kind.resource == "widgets";
    let mut others = reader.picture.clone();
    others.retain(|_, (slot, _)| !slot.starts_with("widgets "));
    reader.synced
        && !was_defined(reader)
        && reader.kinds.iter().any(|kind| of_widgets(&kind))
        && reader.kinds.iter().filter(of_widgets).all(|kind| !kind.served)
        && reader.kinds.iter().all(|kind| of_widgets(&kind) == kind.broken.is_some())
        && others != reader.picture
        && others == *truth
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 8, ..ProptestConfig::default() })]

    /// Race 2, race 9, race 18, race 19, race 20, in any order and mixture.
    #[test]
    fn in_the_end_the_picture_is_right(steps in prop::collection::vec(step(), 1..40)) {
        // Time passes only when nobody has anything to do, so that it does not matter how busy the machine is.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(live_through(&steps));
    }
}
