@TestMethodOrder(OrderAnnotation.class) // expect: order-dependence
class OrderedTest {
  @Test void adds() { assertEquals("3", add("x")); }
}
