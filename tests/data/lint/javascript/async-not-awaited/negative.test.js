import { fetchAll } from './shop';
test('a', async () => {
  expect(await fetchAll(2)).toBe(4);
});
