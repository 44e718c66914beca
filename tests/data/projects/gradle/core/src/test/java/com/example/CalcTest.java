package com.example;

import static org.junit.Assert.assertEquals;

import org.junit.BeforeClass;
import org.junit.Test;

public class CalcTest {
    @Test
    public void adds() {
        System.out.println("some output ]]> with an end");
        assertEquals("two and <two>", 4, Calc.add(2, 2));
    }

    @Test
    public void divides() {
        assertEquals(2, Calc.divide(6, 3));
    }

    @Test
    public void größe() {
        assertEquals(2, Calc.add(1, 1));
    }

    public static class Inner {
        @Test
        public void throwsDeep() {
            Calc.divide(1, 0);
        }
    }

    public static class Setup {
        @BeforeClass
        public static void prepare() {
            throw new IllegalStateException("no database");
        }

        @Test
        public void never() {}
    }
}
