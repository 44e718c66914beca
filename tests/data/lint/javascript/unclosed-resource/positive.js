import fs from 'fs';
export function f(name) {
  const file = fs.openSync(name); // expect: unclosed-resource
  if (file > 3) console.log('many');
}
