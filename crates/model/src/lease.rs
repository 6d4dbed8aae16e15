//! Leases: how long one holds, where the collector's is, and how its holder proves to be the holder.
//!
//! `holderIdentity` can be read by every client, so it proves nothing. A holder chooses a secret, stores only its digest in
//! the lease, and presents the secret with each write that only the holder may make.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A lease whose holder has not renewed it for so many seconds may be taken over. Long enough for a holder on a busy machine
/// or behind a slow disk to renew it in time, short enough that work goes on soon after a crash.
pub const LEASE_SECONDS: i64 = 15;

/// The namespace of the collector's lease.
pub const COLLECTOR_NAMESPACE: &str = "kube-system";
/// The name of the collector's lease.
pub const COLLECTOR: &str = "sexton-collector";
/// The namespace of the leases of modules and environments, where they have no other: every server has it.
pub const WORK_NAMESPACE: &str = "default";
/// What the name of an environment's lease begins with; the name of the environment follows.
pub const ENVIRONMENT_PREFIX: &str = "sexton-environment-";

/// The annotation of a lease that holds the digest of its holder's secret.
pub const PROOF_DIGEST: &str = "sexton.dev/proof-digest";
/// The header of a request that carries the secret, for writes of the lease itself.
pub const PROOF_HEADER: &str = "sexton-lease-proof";

/// The secret of a lease's holder. It is never stored, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Proof(String);

impl Proof {
    /// A secret; it must not be guessable.
    pub fn new(secret: impl Into<String>) -> Proof {
        Proof(secret.into())
    }

    /// The secret itself, for the request that presents it.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// What is stored in the lease.
    pub fn digest(&self) -> String {
        Sha256::digest(self.0.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether this is the secret of that digest. Digests are compared, not secrets: how long that takes tells nothing.
    pub fn fits(&self, digest: &str) -> bool {
        !self.0.is_empty() && self.digest() == digest
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_fits_its_own_digest_and_is_not_shown() {
        let proof = Proof::new("s3cret");
        assert!(proof.fits(&proof.digest()));
        assert!(!Proof::new("other").fits(&proof.digest()) && !proof.fits("") && !proof.fits("s3cret"));
        assert!(!Proof::new("").fits(&Proof::new("").digest()), "no secret is no proof");
        assert!(!format!("{proof:?}").contains("s3cret"));
    }
}
