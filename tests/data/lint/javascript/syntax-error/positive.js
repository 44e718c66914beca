export const a = (1;  // expect: syntax-error
