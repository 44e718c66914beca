import * as app from './app.js';
test('price', () => {
  jest.spyOn(app, 'price').mockReturnValue(4); // expect: patched-subject
  expect(app.price(2)).toBe(4);
});
