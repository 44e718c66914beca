#include <gtest/gtest.h>
#include "cart.h"
TEST(Cart, Zero) { EXPECT_EQ(total(nullptr, 0), 0); }
TEST(Cart, Ok) { EXPECT_TRUE(true); }
TEST(Cart, Skipped) { GTEST_SKIP() << "later"; }
TEST(Cart, DISABLED_Off) { FAIL(); }
class Sum : public testing::TestWithParam<int> {};
TEST_P(Sum, One) { int p = GetParam(); EXPECT_EQ(total(&p, 1), p); }
INSTANTIATE_TEST_SUITE_P(Few, Sum, testing::Values(1, 2));
