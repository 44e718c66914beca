import path from 'path';
export function f(text) {
  const trimmed = path.join(text);
  return trimmed;
}
