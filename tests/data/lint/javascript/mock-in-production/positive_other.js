export const f = (a) => sinon.stub(a, 'b'); // expect: mock-in-production
