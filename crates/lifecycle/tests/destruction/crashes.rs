//! A crash at any point, or several, leads to the same end over the same calls.

use proptest::prelude::*;
use sexton_lifecycle::destruction::*;

use crate::driver::{LIFE, Manner, World, handler};

fn manner() -> impl Strategy<Value = Manner> {
    prop_oneof![
        4 => Just(Manner::Done),
        1 => Just(Manner::Gone),
        1 => (0_u32..6).prop_map(Manner::FailsTimes),
        1 => (0_u32..6).prop_map(Manner::RetriesTimes),
        1 => (0_u32..6).prop_map(Manner::CrashesTimes),
        1 => (0_i64..40).prop_map(Manner::BusyUntil),
        1 => (0_i64..40).prop_map(Manner::BlockedUntil),
        1 => (0_i64..40).prop_map(Manner::MissingUntil),
        1 => (0_i64..40).prop_map(Manner::VetoUntil),
        1 => Just(Manner::Veto),
    ]
}

prop_compose! {
    fn worlds()(
        in_flight in any::<bool>(),
        uids in prop::sample::subsequence(vec!["a", "c", LIFE], 0..=3),
        has_destroy in any::<bool>(),
        together in any::<bool>(),
        force in any::<bool>(),
        manners in prop::collection::vec(manner(), 10),
    ) -> World {
        let origin = if in_flight { Origin::Requested } else { Origin::Candidate };
        let mut world = World::new(origin, &uids, has_destroy);
        (world.together, world.force) = (together, force);
        let phases = [Phase::Warning, Phase::Notifying, Phase::Destroyed];
        let calls = phases.iter().flat_map(|phase| ["a", "c", LIFE].map(|uid| (*phase, handler(uid))));
        let calls = calls.chain([(Phase::Destroying, Callee::Destroy)]);
        for ((phase, callee), manner) in calls.zip(manners) {
            world = world.with(phase, callee, manner);
        }
        world
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// EXT-26: what is journalled is enough.
    #[test]
    fn crashes_change_nothing(world in worlds(), crashes in prop::collection::btree_set(1_usize..60, 1..4)) {
        let smooth = world.clone().run();
        let mut rough = world;
        rough.crashes = crashes.into_iter().collect();
        prop_assert_eq!(rough.run(), smooth);
    }
}

/// EXT-26: a crash at each point of an ordinary destruction, and of one that is forced and cancelled then.
#[test]
fn a_crash_at_every_point() {
    for (origin, cancelled) in
        [(Origin::Requested, false), (Origin::Candidate, false), (Origin::Candidate, true)]
    {
        let mut world = World::new(origin, &["a", "c"], true).with(
            Phase::Destroying,
            Callee::Destroy,
            Manner::FailsTimes(2),
        );
        if cancelled {
            world = world.with(Phase::Warning, handler("a"), Manner::FailsTimes(5));
            world = world.with(Phase::Notifying, handler("c"), Manner::Veto);
            world.force = true;
        }
        let smooth = world.clone().run();
        for point in 1..80 {
            let mut rough = world.clone();
            rough.crashes = vec![point];
            assert_eq!(rough.run(), smooth, "crash at {point}");
        }
    }
}
