export const f = (a) => a.stub('b');
