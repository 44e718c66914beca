//! Search-based repair over syntax trees, no model and no network.
