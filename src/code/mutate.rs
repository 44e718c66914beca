//! Edit operators as data.
