import * as app from './app.js';
test('price', () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  expect(app.price(2)).toBe(4);
});
