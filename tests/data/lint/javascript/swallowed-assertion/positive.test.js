import { price } from './app.js';
test('price', () => {
  try { // expect: swallowed-assertion
    expect(price(2)).toBe(4);
  } catch {}
});
test('promise', () => {
  Promise.resolve(price(2)).then((value) => expect(value).toBe(9)).catch(() => {}); // expect: swallowed-assertion
});
