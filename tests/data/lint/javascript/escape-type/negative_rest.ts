export type A = (...args: any[]) => void;
export type B = (...args: any[]) => string;
export function f(...rest: any[]): void {}
export function g(...rest: any[]): void {}
export function h(...rest: any[]): void {}
export function i(...rest: any[]): void {}
