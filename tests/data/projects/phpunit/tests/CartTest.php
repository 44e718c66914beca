<?php
require_once __DIR__ . '/../src/Cart.php';
use PHPUnit\Framework\TestCase;

final class CartTest extends TestCase
{
    public function testZero(): void { $this->assertSame(0, (new Cart())->total([])); }
    public function testOk(): void { $this->assertTrue(true); }
    public function testBoom(): void { (new Cart())->total(null); }
    public function testLater(): void { $this->markTestSkipped('later'); }
    public function testWaits(): void { $this->markTestIncomplete('not yet'); }
    public function testRisky(): void { }
    public function testWarns(): void { $this->expectException('NoClass'); throw new Exception('x'); }
    /** @dataProvider prices */
    public function testSum(array $prices, int $sum): void { $this->assertSame($sum, (new Cart())->total($prices)); }
    public static function prices(): array { return ['one "a"' => [[1], 1], 'two' => [[1, 1], 3], [[2], 3]]; }
    /** @depends testZero */
    public function testAfter(): void { $this->assertTrue(true); }
}
