//! A failing test and its normalised signature.
