#!/usr/bin/env python3
"""Measures the embedded engine on a set of small Java bugs, one git repository per bug.

    benches/humanevalfix_java.py SET.jsonl [--regreen target/dist/regreen] [--jobs 1] [--only ID,ID] [--check]

Each line of the set holds `declaration`, `buggy_solution`, `canonical_solution` and `test`, as HumanEvalFix
(HumanEvalPack, Java) publishes them. A repository is a Maven project whose tests run with JUnit 4; each condition that a
test of the set collects is an assertion of one method. Needs Java 17, and Maven with JUnit 4.13.2 in its local
repository: nothing is downloaded. An edit is *plausible* when the tests pass, and *correct* when it agrees with the
reference on many inputs that the tests do not hold, made by the types of the parameters; some hold texts and numbers of
the tests. An input counts when the reference gives the same answer twice, in time and without an exception.
"""

import re

import humanevalfix_sets as sets

POM = '''<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>solution</groupId>
  <artifactId>solution</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.13.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
'''

SOURCE = "src/main/java/Solution.java"

# The same tests as regreen runs, in one process that starts quickly.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
TEST = ["env", f"MAVEN_OPTS={QUICK}", "mvn", "-o", "-B", "-q", "test", "-DforkMode=never"]

# The conditions that a test of the set collects, and what it says when one of them is false.
CONDITIONS = re.compile(r"[ \t]*List<Boolean> correct = Arrays\.asList\((.*?)\n?[ \t]*\);\s*"
                        r"if \(correct\.contains\(false\)\) \{\s*throw new AssertionError\(\);\s*\}", re.S)

JUDGE = r'''
import java.io.*;
import java.lang.reflect.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import javax.tools.*;

public class Judge {
    static final String[] TEXTS = {TEXTS_OF_TESTS};
    static final int[] NUMBERS = {NUMBERS_OF_TESTS};
    static final String LETTERS = "aAbBeEyz019 .,()[]<>-";

    /** Random values; those of one input are of one size. */
    static class Source {
        final Random random;
        final int size;

        Source(long seed) {
            random = new Random(seed);
            size = below(4);
        }

        int below(int n) {
            return random.nextInt(n);
        }

        int whole() {
            if (NUMBERS.length > 0 && below(6) == 0) {
                return NUMBERS[below(NUMBERS.length)] + below(3) - 1;
            }
            return size == 0 ? below(9) - 3 : size == 3 ? below(300) : below(60) - 8;
        }

        double real() {
            return below(2) == 0 ? whole() : (below(2000) - 500) / 10.0;
        }

        /** A text of the tests. */
        String known() {
            return TEXTS.length == 0 ? "" : TEXTS[below(TEXTS.length)];
        }

        char letter() {
            String known = known();
            return !known.isEmpty() && below(2) == 0 ? known.charAt(below(known.length())) : LETTERS.charAt(below(LETTERS.length()));
        }

        String text() {
            StringBuilder text = new StringBuilder();
            switch (below(4)) {
                case 0:
                    for (int left = below(9); left > 0; left--) text.append(letter());
                    break;
                case 1:
                    char[] few = {letter(), letter(), letter()};
                    for (int left = below(9); left > 0; left--) text.append(few[below(3)]);
                    break;
                case 2:
                    text.append(known());
                    break;
                default:
                    text.append(known());
                    int at = below(text.length() + 1), how = below(3);
                    if (how == 0) text.insert(at, letter());
                    else if (how == 1 && at < text.length()) text.setCharAt(at, letter());
                    else if (at < text.length()) text.deleteCharAt(at);
            }
            return text.toString();
        }

        Object anything() {
            switch (below(6)) {
                case 0: return text();
                case 1: return real();
                case 2: return below(2) == 0;
                default: return whole();
            }
        }

        List<Object> list(Type element) {
            List<Object> list = new ArrayList<>();
            for (int left = below(7); left > 0; left--) list.add(make(element));
            return list;
        }

        Object make(Type type) {
            if (type instanceof ParameterizedType) {
                Type[] of = ((ParameterizedType) type).getActualTypeArguments();
                Class<?> raw = (Class<?>) ((ParameterizedType) type).getRawType();
                if (raw == Optional.class) return below(4) == 0 ? Optional.empty() : Optional.of(make(of[0]));
                if (raw.isAssignableFrom(ArrayList.class)) return list(of[0]);
                if (raw.isAssignableFrom(HashSet.class)) return new HashSet<>(list(of[0]));
                if (raw.isAssignableFrom(HashMap.class)) {
                    Map<Object, Object> map = new HashMap<>();
                    for (int left = below(6); left > 0; left--) map.put(make(of[0]), make(of[1]));
                    return map;
                }
            }
            if (type instanceof WildcardType) return make(((WildcardType) type).getUpperBounds()[0]);
            if (type instanceof Class && ((Class<?>) type).isArray()) {
                Class<?> element = ((Class<?>) type).getComponentType();
                Object array = Array.newInstance(element, below(7));
                for (int i = 0; i < Array.getLength(array); i++) Array.set(array, i, make(element));
                return array;
            }
            if (type == int.class || type == Integer.class) return whole();
            if (type == long.class || type == Long.class) return (long) whole();
            if (type == double.class || type == Double.class) return real();
            if (type == float.class || type == Float.class) return (float) real();
            if (type == boolean.class || type == Boolean.class) return below(2) == 0;
            if (type == char.class || type == Character.class) return letter();
            if (type == String.class || type == CharSequence.class) return text();
            if (type == Object.class) return anything();
            throw new IllegalStateException("no values of " + type);
        }
    }

    /** A value as a text that says all of it. */
    static String deep(Object value) {
        if (value instanceof Optional) return ((Optional<?>) value).map(one -> "some " + deep(one)).orElse("none");
        if (value instanceof Map) {
            Stream<String> entries = ((Map<?, ?>) value).entrySet().stream().map(one -> deep(one.getKey()) + "=" + deep(one.getValue()));
            return entries.sorted().collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof Set) return ((Set<?>) value).stream().map(Judge::deep).sorted().collect(Collectors.joining(", ", "{", "}"));
        if (value instanceof Collection) return ((Collection<?>) value).stream().map(Judge::deep).collect(Collectors.joining(", ", "[", "]"));
        if (value != null && value.getClass().isArray()) {
            IntStream indices = IntStream.range(0, Array.getLength(value));
            return indices.mapToObj(i -> deep(Array.get(value, i))).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    }

    /** The function of a solution, compiled by itself. */
    static Method function(String folder) throws Exception {
        String file = Paths.get(folder, "Solution.java").toString();
        if (ToolProvider.getSystemJavaCompiler().run(null, null, null, "-nowarn", "-d", folder, file) != 0) throw new Exception("does not compile");
        URL[] path = {Paths.get(folder).toUri().toURL()};
        Class<?> solution = new URLClassLoader(path, ClassLoader.getPlatformClassLoader()).loadClass("Solution");
        for (Method method : solution.getDeclaredMethods()) {
            if (method.getName().equals("FUNCTION") && !method.isSynthetic()) {
                method.setAccessible(true);
                return method;
            }
        }
        throw new Exception("no FUNCTION");
    }

    /** What a call gives: its value, or "throws" or "hangs". */
    static String call(Method function, Object[] arguments) throws Exception {
        FutureTask<String> task = new FutureTask<>(() -> {
            Constructor<?> constructor = function.getDeclaringClass().getDeclaredConstructor();
            constructor.setAccessible(true);
            return "gives " + deep(function.invoke(constructor.newInstance(), arguments));
        });
        Thread thread = new Thread(null, task, "call", 64 << 20);
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(1, TimeUnit.SECONDS);
        } catch (ExecutionException thrown) {
            return "throws";
        } catch (TimeoutException late) {
            return "hangs";
        }
    }

    static Object[] arguments(Method function, long seed) {
        Source source = new Source(seed);
        return Arrays.stream(function.getGenericParameterTypes()).map(source::make).toArray();
    }

    public static void main(String[] names) throws Exception {
        PrintStream out = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Method reference = function("reference"), candidate = function("candidate");
        Random seeds = new Random(7);
        long began = System.nanoTime();
        int tried = 0, hung = 0;
        for (int round = 0; round < 1000 && hung <= 5 && System.nanoTime() - began < 60e9; round++) {
            long seed = seeds.nextLong();
            String expected = call(reference, arguments(reference, seed));
            if (expected.equals("hangs")) hung++;
            if (!expected.startsWith("gives") || !call(reference, arguments(reference, seed)).equals(expected)) continue;
            tried++;
            String actual = call(candidate, arguments(candidate, seed));
            if (!actual.equals(expected)) {
                out.println("JUDGED " + tried + " 1: for " + deep(arguments(reference, seed)) + " the reference " + expected + ", the candidate " + actual);
                out.flush();
                Runtime.getRuntime().halt(0);
            }
        }
        out.println("JUDGED " + tried + " 0");
        out.flush();
        Runtime.getRuntime().halt(0);
    }
}
'''


def solution(row, body):
    return row["declaration"] + body.rstrip() + "\n"


def pieces(text):
    """The arguments of a call."""
    found, depth, began = [], 0, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|[(){}\[\],]', text):
        mark = match[0]
        if mark in "({[":
            depth += 1
        elif mark in ")}]":
            depth -= 1
        elif mark == "," and depth == 0:
            found.append(text[began:match.start()].strip())
            began = match.end()
    return [one for one in found + [text[began:].strip()] if one]


def test_file(row):
    """The class `Main` of the set as a class of JUnit: its method `main` is the one test."""
    assertions = lambda match: "\n".join(f"        assertTrue({one});" for one in pieces(match[1]))
    text = CONDITIONS.sub(assertions, row["test"])
    text = text.replace("public class Main", "public class SolutionTest")
    text = re.sub(r"public static void main\(String\[\] args\)[^{]*\{", "@Test\n    public void passes() throws Exception {", text)
    imports = re.findall(r"^import .*;$", row["declaration"], re.M)
    junit = ["import static org.junit.Assert.assertTrue;", "import org.junit.Test;"]
    return "\n".join(imports + junit) + "\n\n" + text.strip() + "\n"


def files(row, body):
    return {"pom.xml": POM, ".gitignore": "target\n", SOURCE: solution(row, body), "src/test/java/SolutionTest.java": test_file(row)}


def judge(row, fixed, folder):
    """Whether two solutions agree: one program compiles and loads each by itself and makes arguments of the types that they take."""
    # The function to repair is the last one of the declaration, whose body is missing.
    name = re.findall(r"\b(\w+)\s*\([^(){}]*\)[^{};()]*\{", row["declaration"])[-1]
    texts, numbers = sets.literals(row)
    program = JUDGE.replace("FUNCTION", name).replace("TEXTS_OF_TESTS", texts).replace("NUMBERS_OF_TESTS", numbers)
    sets.write(folder, {"Judge.java": program, "candidate/Solution.java": fixed,
                        "reference/Solution.java": solution(row, row["canonical_solution"])})
    return sets.verdict(["java", *QUICK.split(), "-Xmx1g", "Judge.java"], folder)


if __name__ == "__main__":
    sets.main(__doc__, sets.Language(source=SOURCE, test=TEST, files=files, judge=judge))
