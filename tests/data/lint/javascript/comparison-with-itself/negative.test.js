import { price } from './app.js';
test('price', () => {
  expect(price(2)).toBe(4);
  assert.equal(price(2), price(1) * 2);
});
