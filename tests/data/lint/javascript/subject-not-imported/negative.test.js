import { f } from './negative';
test('a', () => { expect(f(2)).toBe(4); });
