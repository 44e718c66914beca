//! Tests over tables that several rooms share.

mod readers;
mod schemas;
