export const send = jest.fn(); // expect: mock-in-production
