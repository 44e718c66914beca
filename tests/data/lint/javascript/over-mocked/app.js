export function pay(bank) {
  return bank ? 4 : 3;
}
