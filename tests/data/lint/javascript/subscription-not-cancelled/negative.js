export class A {
  f(source) {
    this.handle = source.subscribe((x) => x);
  }
  g() {
    this.timer = setInterval(() => this.f(1), 1000);
  }
}
