import { readFileSync } from 'node:fs';
import { price } from './app.js';
test('source', () => {
  expect(Function.prototype.toString.call(price)).toContain('count'); // expect: reads-the-code
});
test('file', () => {
  expect(readFileSync('./app.js', 'utf8')).toContain('price'); // expect: reads-the-code
});
