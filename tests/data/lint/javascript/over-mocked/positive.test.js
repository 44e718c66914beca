import { pay } from './app.js';
test('pays', () => { // expect: over-mocked
  const bank = jest.fn();
  const ledger = jest.fn();
  const mailer = jest.fn();
  jest.spyOn(Date, 'now');
  expect(pay(bank, ledger, mailer)).toBe(4);
});
