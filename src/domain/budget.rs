//! Minutes and candidates.
