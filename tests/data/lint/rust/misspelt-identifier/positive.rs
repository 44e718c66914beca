pub fn seperate(a: u32) -> u32 { a } // expect: misspelt-identifier
