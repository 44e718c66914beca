package org.legacy;

public class Text {
    public static String shout(String text) {
        return text.isEmpty() ? "" : text.toUpperCase() + "?";
    }
}
