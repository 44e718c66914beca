export const f = (a?: { b?: { c?: number } }) => a!.b!.c!; // expect: chained-assertion
export const g = (a: object) => a as string as number; // expect: chained-assertion
