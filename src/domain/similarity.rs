//! Likeness of failures, clusters.
