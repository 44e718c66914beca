//! High, medium, low, with the evidence for low.
