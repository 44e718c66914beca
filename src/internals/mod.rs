//! Doors for the fuzz targets and the benches; no interface of the crate.

#[cfg(feature = "internals")]
pub mod bench;
pub mod readers;

#[cfg(test)]
mod tests;
