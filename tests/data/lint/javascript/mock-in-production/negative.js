export const send = (jester) => jester.fn();
