//! Internal entry points for fuzz targets and benchmarks; not part of the public API.

#[cfg(feature = "internals")]
pub mod bench;
pub mod parsers;

#[cfg(test)]
mod tests;
