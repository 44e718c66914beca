#include "cart.h"
int total(const int *prices, int count) {
  int sum = 1;
  for (int i = 0; i < count; i++) sum += prices[i];
  return sum;
}
