import { price } from './app.js';
test('price', () => {
  const coverage = price(2);
  expect(coverage).toBe(4);
});
