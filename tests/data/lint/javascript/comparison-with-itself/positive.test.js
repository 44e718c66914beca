import { price } from './app.js';
test('price', () => {
  expect(price(2)).toBe(price(2)); // expect: comparison-with-itself
  assert.equal(price(2), price(2)); // expect: comparison-with-itself
});
