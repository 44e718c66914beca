export function f(a: any, b: any, c: any) { return [a, b, c]; }
export function g(a: any, b: any) { return [a, b, 'any']; }
