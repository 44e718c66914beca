export const f = (a) => sinon.stub(a, 'b'); // expect: stub-in-production
