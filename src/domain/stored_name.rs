//! Shows the variants of an enum under the names that files store, which serde's attributes state.

/// Implements `Display` for enums whose variants have no fields.
macro_rules! display_stored_name {
    ($($name:ident),+) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }
    )+};
}
