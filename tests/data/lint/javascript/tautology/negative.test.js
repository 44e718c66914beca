test('a', () => { expect(f(1)).toBe(2); });
function f(x) { return x * 2; }
