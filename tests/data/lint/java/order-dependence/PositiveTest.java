@TestMethodOrder(OrderAnnotation.class) // expect: order-dependence
class PositiveTest {
  @Test void adds() { assertEquals("3", add("x")); }
}
