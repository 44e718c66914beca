package org.legacy;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class TextTest {
    @Test
    public void passes() {
        assertEquals("", Text.shout(""));
    }

    @Test
    public void shouts() {
        assertEquals("HI!", Text.shout("hi"));
    }

    @Test
    public void marks() {
        assertEquals('!', Text.shout("").charAt(0));
    }

    @Test
    @Ignore("later")
    public void ignored() {}

    @Test(expected = NullPointerException.class)
    public void refusesNull() {
        Text.shout(null);
    }

    @Test(expected = IllegalStateException.class)
    public void refusesNothing() {
        Text.shout("");
    }
}
