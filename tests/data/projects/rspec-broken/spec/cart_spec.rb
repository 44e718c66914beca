require_relative '../lib/cart'
RSpec.describe Cart do
  describe '#total' do
    it('is zero') { expect(Cart.new.total([])).to eq(0) }
    it('same') { expect(1).to eq(1) }
    it('same') { expect(Cart.new.total([1])).to eq(1) }
    it { is_expected.to be_a(Cart) }
    xit('later') { raise 'no' }
    it('waits') { pending 'not yet'; raise 'no' }
  end
end
