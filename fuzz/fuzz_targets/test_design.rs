#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| regreen::internals::parsers::read("test-design", bytes));
