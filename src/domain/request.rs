//! What a trigger asks for.
