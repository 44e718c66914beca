//! Child groups, limits, output to disk, clean environment.
