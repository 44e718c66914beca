import { size } from 'shop/basket';
test('a', () => { expect(size([])).toBe(0); });
