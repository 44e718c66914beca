class Negative { int f() throws Exception {
  try (FileReader reader = new FileReader("a")) { return reader.read(); }
} int g() throws Exception {
  FileReader reader = new FileReader("a");
  reader.close();
  return 1;
} }
