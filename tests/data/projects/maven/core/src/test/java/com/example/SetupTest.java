package com.example;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SetupTest {
    @BeforeAll
    static void prepare() {
        throw new IllegalStateException("no database");
    }

    @Test
    void first() {}

    @Test
    void second() {}
}
