import { fetchAll } from './shop';
test('a', () => {
  expect(fetchAll(2)).toBe(4); // expect: async-not-awaited
});
