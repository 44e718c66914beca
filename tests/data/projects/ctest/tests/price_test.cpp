#include <cstdio>
#include "cart.h"
int main() { int p[] = {1}; if (total(p, 1) != 1) { std::printf("tests/price_test.cpp:3: expected 1, got %d\n", total(p, 1)); return 1; } }
