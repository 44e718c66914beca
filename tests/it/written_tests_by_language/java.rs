//! A model writes tests in Java that find a defect.

use super::{LanguageStory, fixing_reply, run_story};

const JAVA: LanguageStory = LanguageStory {
    files: &[
        (
            "pom.xml",
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>\n",
        ),
        (".gitignore", "target\n"),
        (
            "src/main/java/shop/Price.java",
            r#"package shop;

/** Prices. */
public class Price {
  /** Reads a price; an empty text is an error. */
  public static int parse(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("empty price");
    }
    return Integer.parseInt(text);
  }

  /** Takes so many percent off an amount; more than 100 is an error. */
  public static int discount(int amount, int percent) {
    if (percent > 100) {
      throw new IllegalArgumentException("more than all");
    }
    return amount * (100 + percent) / 100;
  }
}
"#,
        ),
        (
            "src/main/java/shop/Tax.java",
            r"package shop;

/** Taxes. */
public class Tax {
  /** A fifth. */
  public static int of(int price) {
    return price / 5;
  }
}
",
        ),
        (
            "src/test/java/shop/TaxTest.java",
            r"package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class TaxTest {
  @Test
  public void aFifth() {
    assertEquals(2, Tax.of(10));
  }
}
",
        ),
    ],
    subject: "src/main/java/shop/Price.java",
    functions: ("Price.parse", "Price.discount", 18),
    place: "src/test/java/shop/PriceTest.java",
    good: r#"package shop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class PriceTest {
  @Test
  public void aNumberIsAPrice() {
    assertEquals(25, Price.parse("25"));
  }

  @Test
  public void anEmptyPriceIsAnError() {
    Exception error = assertThrows(IllegalArgumentException.class, () -> Price.parse(""));
    assertEquals("empty price", error.getMessage());
  }

  @Test
  public void nothingOffAPriceOfZero() {
    assertEquals(80, Price.discount(80, 0));
    assertEquals(0, Price.discount(0, 100));
  }

  @Test
  public void moreThanAllIsAnError() {
    Exception error = assertThrows(IllegalArgumentException.class, () -> Price.discount(80, 101));
    assertEquals("more than all", error.getMessage());
  }

  @Test
  public void halfOff() {
    assertEquals(40, Price.discount(80, 50));
  }
}
"#,
    made_up: (
        "import org.junit.Test;",
        "import com.nobody.prices.PriceMatchers;\nimport org.junit.Test;",
    ),
    refusal: "refused, by one: hallucinated-import: line 6: nothing brings `com.nobody.prices.PriceMatchers`",
    finding: "shop.PriceTest::halfOff",
    fix: ("return amount * (100 + percent) / 100;", "return amount * (100 - percent) / 100;"),
    answer: |question| fixing_reply(&JAVA, question),
};

#[test]
#[ignore = "needs Maven; a_model_plans_writes_is_refused_finds_a_defect_and_the_suite_gets_green always runs"]
fn a_model_writes_tests_for_java_and_finds_a_defect() {
    let (_, changed) = run_story(&JAVA);
    assert_eq!(changed, "src/main/java/shop/Price.java\nsrc/test/java/shop/PriceTest.java");
}
