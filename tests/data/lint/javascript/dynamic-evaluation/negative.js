export function f(text, page) {
  return [JSON.parse(text), page.eval(text)];
}
