export function thirdThing() {}
export function fourthThing() {}
export const MAX_SIZE = 1;
