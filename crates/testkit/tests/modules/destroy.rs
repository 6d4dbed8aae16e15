//! destroy
