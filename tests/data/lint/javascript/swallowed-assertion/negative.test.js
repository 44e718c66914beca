import { price } from './app.js';
test('price', () => {
  try {
    expect(price(2)).toBe(4);
  } finally {
    price(0);
  }
});
test('told', () => {
  try {
    price(2);
  } catch (error) {
    expect(error.message).toBe('no');
  }
});
