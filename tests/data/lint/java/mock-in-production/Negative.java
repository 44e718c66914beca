class Negative { Object f() {
  return Market.mock();
} }
