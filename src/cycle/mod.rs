//! What happens when; no thresholds, no text.
