export const f = (a?: { b?: number }) => a!.b;
export const g = (a: object) => a as string;
