int total(const int *prices, int count);
