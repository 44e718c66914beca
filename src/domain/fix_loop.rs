//! State and outcome to state, next step and events.
