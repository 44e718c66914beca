//! The client against a stateful GitHub on loopback.
