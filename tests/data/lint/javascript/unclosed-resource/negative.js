import fs from 'fs';
export function f(name) {
  const file = fs.openSync(name);
  fs.closeSync(file);
}
