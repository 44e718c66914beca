class Positive { int f() throws Exception {
  FileReader reader = new FileReader("a"); // expect: unclosed-resource
  return reader.read();
} }
