pub fn is_open(a: u32) -> Option<bool> { Some(a > 1) }
