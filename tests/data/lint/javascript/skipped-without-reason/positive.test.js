it.skip('a', () => { expect(f(2)).toBe(4); }); // expect: skipped-without-reason
function f(x) { return x * 2; }
