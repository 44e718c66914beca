import { readFileSync } from 'node:fs';
import { price } from './app.js';
test('price', () => {
  expect(price(2).toString()).toBe('4');
  expect(price(2)).toBe(JSON.parse(readFileSync('./price.json', 'utf8')).price);
});
