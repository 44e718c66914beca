//! State and events to text; everything foreign escaped. Pure.
