import { price } from './app.js';
test('price', () => {
  try { // expect: swallowed-assertion
    expect(price(2)).toBe(4);
  } catch {}
});
