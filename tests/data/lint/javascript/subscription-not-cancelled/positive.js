export class A {
  f(source) {
    source.subscribe((x) => x); // expect: subscription-not-cancelled
  }
  g() {
    setInterval(() => this.f(1), 1000); // expect: subscription-not-cancelled
  }
}
