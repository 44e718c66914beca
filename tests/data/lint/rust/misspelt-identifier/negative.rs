pub fn separate(a: u32) -> u32 { a }
