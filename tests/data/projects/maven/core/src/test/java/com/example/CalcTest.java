package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CalcTest {
    @Test
    void divides() {
        assertEquals(2, Calc.divide(6, 3));
    }

    @Test
    @DisplayName("adds two & \"two\" → größer")
    void adds() {
        System.out.println("some output ]]> with an end");
        assertEquals(4, Calc.add(2, 2), "two and <two>");
    }

    @Test
    void throwsDeep() {
        Calc.divide(1, 0);
    }

    @Test
    void größe() {
        assertEquals(2, Calc.add(1, 1));
    }

    @Test
    @Disabled("needs a server")
    void disabled() {}

    @Test
    void assumes() {
        assumeTrue(false, "not here");
    }

    @ParameterizedTest
    @CsvSource({"1,0,1", "2,2,4", "0,0,0"})
    void table(int a, int b, int want) {
        assertEquals(want, Calc.add(a, b));
    }

    @ParameterizedTest(name = "half of {0}")
    @ValueSource(ints = {2, 3})
    void halves(int n) {
        assertEquals(0, n % 2);
    }

    @RepeatedTest(2)
    void repeats() {}

    @Nested
    class Inner {
        @Test
        void divides() {
            assertEquals(3, Calc.divide(9, 3));
        }

        @Test
        void fails() {
            throw new IllegalStateException("outer", new RuntimeException("cause\nwith two lines"));
        }
    }
}
