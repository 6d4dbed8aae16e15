//! Puts documents in their order, each with its marks, so that putting and marking are one write.
