package shop;
import shop.tax.Tax;
import shop.tax.*;
class Negative { Tax tax; }
