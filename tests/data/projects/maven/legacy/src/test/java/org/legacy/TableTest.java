package org.legacy;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class TableTest {
    @Parameterized.Parameters(name = "{index}: {0}")
    public static Iterable<Object[]> data() {
        return Arrays.asList(new Object[][] {{"", ""}, {"ö", "Ö!"}});
    }

    private final String in;
    private final String out;

    public TableTest(String in, String out) {
        this.in = in;
        this.out = out;
    }

    @Test
    public void table() {
        assertEquals(out, Text.shout(in));
    }
}
