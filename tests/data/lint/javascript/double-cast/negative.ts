export const f = (a: unknown) => a as number;
