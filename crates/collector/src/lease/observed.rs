//! Decides when the lease of another holder has expired: seen unchanged for its whole duration, by our own steady
//! clock.

use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::text;

use super::{duration, holder};

/// The version of a lease that was seen last, and since when it is seen.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    seen: Option<(String, Duration)>,
}

impl Observed {
    /// Notes a lease that was just read. Returns whether it may be taken: it has no holder, or was not renewed for
    /// its whole duration since it was first read in this version. `now` is the time of a clock that is never set.
    pub fn is_over(&mut self, lease: &Value, now: Duration) -> bool {
        if holder(lease).is_empty() {
            return true;
        }
        let version = text(lease, "/metadata/resourceVersion");
        match &self.seen {
            Some((seen, since)) if seen == version => now.saturating_sub(*since) > duration(lease),
            _ => {
                self.seen = Some((version.to_owned(), now));
                false
            }
        }
    }

    /// Whether the lease was renewed since it was noted: then its holder is alive.
    pub fn has_changed(&self, lease: &Value) -> bool {
        let version = text(lease, "/metadata/resourceVersion");
        self.seen.as_ref().is_some_and(|(seen, _)| seen != version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lease(version: &str, renewed: &str, seconds: i64) -> Value {
        json!({"metadata": {"resourceVersion": version},
            "spec": {"holderIdentity": "other", "renewTime": renewed, "leaseDurationSeconds": seconds}})
    }

    /// Written times of another machine, with a fraction or without one, in the past or in the future, change nothing.
    #[test]
    fn only_what_is_seen_counts() {
        for renewed in
            ["1990-01-01T00:00:00Z", "1990-01-01T00:00:00.000000Z", "2999-01-01T00:00:00Z", "soon", ""]
        {
            let (mut observed, second) = (Observed::default(), Duration::from_secs(1));
            assert!(!observed.is_over(&lease("1", renewed, 15), second * 100));
            assert!(!observed.is_over(&lease("1", renewed, 15), second * 115));
            assert!(observed.is_over(&lease("1", renewed, 15), second * 116));
            // It is renewed at the last moment: the time begins anew.
            assert!(observed.has_changed(&lease("2", renewed, 15)));
            assert!(!observed.is_over(&lease("2", renewed, 15), second * 117));
            assert!(!observed.is_over(&lease("2", renewed, 15), second * 132));
            assert!(observed.is_over(&lease("2", renewed, 15), second * 133));
        }
    }

    /// No holder can keep a lease for longer than leases hold, and a lease without a holder is free at once.
    #[test]
    fn a_long_duration_is_cut() {
        let (mut observed, second) = (Observed::default(), Duration::from_secs(1));
        assert!(!observed.is_over(&lease("1", "", 3_600), second));
        assert!(observed.is_over(&lease("1", "", 3_600), second * 17));
        assert!(Observed::default().is_over(&json!({"spec": {"holderIdentity": ""}}), second));
    }
}
