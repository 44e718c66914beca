//! Message forms and trailers.
