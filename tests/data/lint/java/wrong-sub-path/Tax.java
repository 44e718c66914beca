package shop.tax;
public class Tax {}
