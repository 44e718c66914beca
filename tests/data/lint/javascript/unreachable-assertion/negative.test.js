import { price } from './app.js';
test('price', () => {
  for (const count of [1, 2]) expect(price(count)).toBe(count * 2);
});
