require 'minitest/autorun'
require 'cart'
class CartTest < Minitest::Test
  def test_zero = assert_equal(0, Cart.new.total([]))
  def test_ok = assert(true)
  def test_later = skip('later')
  def test_boom = Cart.new.total(nil)
end
describe Cart do
  it('adds') { _(Cart.new.total([1])).must_equal 1 }
end
