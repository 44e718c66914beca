//! Interrupt and terminate to one flag.
