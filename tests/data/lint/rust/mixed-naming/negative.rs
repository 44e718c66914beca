pub fn first_thing() {}
pub fn second_thing() {}
