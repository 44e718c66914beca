class Cart
  def total(prices) = prices.sum + 1
end
