pub fn first_thing() {} // expect: mixed-naming
pub fn second_thing() {}
pub fn thirdThing() {}
pub fn fourthThing() {}
