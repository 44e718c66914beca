pub fn is_open(a: u32) -> String { a.to_string() } // expect: misleading-predicate
