export function first_thing() {} // expect: mixed-naming
export function second_thing() {}
export function thirdThing() {}
export function fourthThing() {}
