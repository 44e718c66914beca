it.only('a', () => { expect(f(2)).toBe(4); }); // expect: focused-test
function f(x) { return x * 2; }
