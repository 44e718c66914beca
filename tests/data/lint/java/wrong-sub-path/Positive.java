package shop;
import shop.tax.Taxes; // expect: wrong-sub-path
class Positive { Taxes taxes; }
