export const f = (a: string) => a as unknown as number; // expect: double-cast
