import path from 'path';
export function f(text) {
  const path = text.trim(); // expect: shadowing
  return path;
}
export const sep = path.sep;
