import java.io.*;
import java.lang.annotation.Annotation;
import java.lang.reflect.*;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;

// For each line "FOLDER|LIMIT|STOP|SOURCE PATH|SOURCES|TESTS": compiles the sources into the folder, runs the
// tests on classes loaded anew, and answers with a line of JSON. Tests are separated by the escaped character U+001F.
public final class WarmJava {
    /** Without the folder of recorded calls. */
    static final String PATH = System.getProperty("java.class.path").split(File.pathSeparator, 2)[1];

    /** What runs tests, and what it needs: loaded once, since nothing of a candidate is in it. */
    static final String OF_JUNIT = "(junit|junit-(jupiter|platform|vintage).*|hamcrest(-\\w+)?|opentest4j|apiguardian-api)-[0-9].*\\.jar";
    static ClassLoader junit;

    static final String LAUNCHER = "org.junit.platform.launcher.";

    /** Runs tests of JUnit 5; null until the first does. */
    static Object launcher;

    /** What invocations of test methods ended with in this run, by method and name. */
    static final Map<String, Map<String, Throwable>> ENDED = new HashMap<>();

    /** Whether a test that did not end in time still runs. */
    static boolean goesOn;

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        junit = new URLClassLoader(junitJars().toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        System.setErr(System.out);
        Locale locale = Locale.getDefault();
        TimeZone zone = TimeZone.getDefault();
        Properties properties = (Properties) System.getProperties().clone();
        for (String line; (line = lines.readLine()) != null; ) {
            answers.println(answer(line.substring(1, line.length() - 1).split("\\|")));
            answers.flush();
            Locale.setDefault(locale);
            TimeZone.setDefault(zone);
            System.setProperties((Properties) properties.clone());
        }
        Runtime.getRuntime().halt(0);
    }

    /** Of the class path, and the launcher beside it that the build tool would add. */
    static Stream<URL> junitJars() throws IOException {
        Set<URL> jars = new LinkedHashSet<>();
        for (String place : PATH.split(File.pathSeparator)) {
            Path jar = Path.of(place);
            if (!jar.getFileName().toString().matches(OF_JUNIT)) {
                continue;
            }
            jars.add(jar.toUri().toURL());
            String name = jar.getFileName().toString();
            String version = name.replaceAll(".*-|\\.jar", "");
            for (Path all = jar; name.startsWith("junit-platform-engine") && (all = all.getParent()) != null; ) {
                Path launchers = all.resolve("junit-platform-launcher").resolve(version);
                if (Files.isDirectory(launchers)) {
                    try (Stream<Path> found = Files.find(launchers, 2, (path, is) -> path.endsWith("junit-platform-launcher-" + version + ".jar"))) {
                        for (Path one : (Iterable<Path>) found::iterator) {
                            jars.add(one.toUri().toURL());
                        }
                    }
                    break;
                }
            }
        }
        return jars.stream();
    }

    static String answer(String[] asked) {
        ENDED.clear();
        try {
            List<String> options = new ArrayList<>(List.of("-g", "-nowarn", "-encoding", "UTF-8", "-cp", PATH, "-d", asked[0]));
            if (!asked[3].isEmpty()) {
                options.addAll(List.of("-Xprefer:source", "-sourcepath", asked[3]));
            }
            options.addAll(List.of(asked[4].split(File.pathSeparator)));
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            if (javax.tools.ToolProvider.getSystemJavaCompiler().run(null, said, said, options.toArray(new String[0])) != 0) {
                String error = said.toString().lines().filter(line -> line.contains("error:")).findFirst().orElse("it does not compile");
                return "{\"refused\":" + quoted(error) + "}";
            }
            List<URL> places = new ArrayList<>(List.of(new File(asked[0]).toURI().toURL()));
            for (String place : PATH.split(File.pathSeparator)) {
                places.add(new File(place).toURI().toURL());
            }
            try (URLClassLoader loader = new URLClassLoader(places.toArray(new URL[0]), junit)) {
                loader.setDefaultAssertionStatus(true);
                return "{\"results\":" + results(loader, asked) + ",\"goes_on\":" + goesOn + "}";
            }
        } catch (Throwable failed) {
            return "{\"unfit\":" + quoted(failed.toString()) + "}";
        }
    }

    static List<String> results(ClassLoader loader, String[] asked) throws Exception {
        long end = System.currentTimeMillis() + Long.parseLong(asked[1]);
        List<String> results = new ArrayList<>();
        boolean isLate = false;
        for (String test : asked[5].split("\\\\u001f")) {
            String[] parts = test.split("::");
            Class<?> type = loader.loadClass(parts[0]);
            Body body = isOfJunit4(type) ? () -> runByJunit4(type, parts[1])
                    : isPlain(type) ? plainTest(type, parts[1]) : () -> runByLauncher(type, parts[1]);
            String[] seen = {""};
            long begin = System.currentTimeMillis();
            Thread thread = new Thread(() -> seen[0] = outcome(body), "main");
            thread.setContextClassLoader(loader);
            thread.setDaemon(true);
            if (!isLate) {
                thread.start();
                thread.join(Math.max(1, end - begin));
                isLate = thread.isAlive();
            }
            String outcome = isLate ? "\"failed\",\"failure\":null" : seen[0];
            if (outcome == null) {
                throw new IllegalStateException(test + " is not run alone: its class is abstract, it depends on an assumption, or it needs a runner of its own");
            }
            goesOn |= thread.isAlive() && !isStopped(thread);
            results.add("{\"test\":" + quoted(test) + ",\"milliseconds\":" + (System.currentTimeMillis() - begin)
                    + ",\"reached\":" + takeMarks() + ",\"status\":" + outcome + "}");
            if (asked[2].equals("true") && outcome.startsWith("\"failed")) {
                break;
            }
        }
        return results;
    }

    /** The marks of probes in the sources that ran since the last call. */
    static List<String> takeMarks() {
        List<String> marks = new ArrayList<>();
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("regreen.reached.")) {
                marks.add(quoted(name.substring("regreen.reached.".length())));
                System.clearProperty(name);
            }
        }
        return marks;
    }

    /** Newer versions of Java stop no thread. */
    static boolean isStopped(Thread thread) throws InterruptedException {
        try {
            Thread.class.getMethod("stop").invoke(thread);
        } catch (ReflectiveOperationException unsupported) {
            return false;
        }
        thread.join(1000);
        return !thread.isAlive();
    }

    /** What JUnit leaves out. */
    static final class TestAbortedException extends Exception {
    }

    /** Throws what the test throws. */
    interface Body {
        void run() throws Throwable;
    }

    static boolean isOfJunit4(Class<?> type) {
        return Arrays.stream(type.getMethods()).flatMap(method -> Arrays.stream(method.getAnnotations()))
                .anyMatch(one -> one.annotationType().getName().equals("org.junit.Test"));
    }

    /** JUnit 4 runs one test of a class by itself, with its hooks, rules, runner and expected exceptions. */
    static void runByJunit4(Class<?> type, String test) throws Throwable {
        ClassLoader loader = type.getClassLoader();
        Class<?> core = loader.loadClass("org.junit.runner.JUnitCore");
        Class<?> request = loader.loadClass("org.junit.runner.Request");
        Object one = request.getMethod("method", Class.class, String.class).invoke(null, type, test);
        Object result = core.getMethod("run", request).invoke(core.getConstructor().newInstance(), one);
        for (Object failure : (List<?>) result.getClass().getMethod("getFailures").invoke(result)) {
            throw (Throwable) failure.getClass().getMethod("getException").invoke(failure);
        }
        for (Method counted : result.getClass().getMethods()) {
            if (counted.getName().matches("get(Ignore|AssumptionFailure)Count") && ((Number) counted.invoke(result)).intValue() > 0) {
                throw new TestAbortedException();
            }
        }
    }

    /** JUnit 5 runs a method with all that belongs to it, and each of its invocations is a test. */
    static void runByLauncher(Class<?> type, String test) throws Throwable {
        String method = test.split("[({\\[]")[0];
        Map<String, Throwable> ended = ENDED.get(type.getName() + "::" + method);
        if (ended == null) {
            ENDED.put(type.getName() + "::" + method, ended = new HashMap<>());
            try {
                launch(type, method, ended);
            } catch (Exception | LinkageError unfit) {
                ended.clear();
            }
        }
        Throwable failure = ended.containsKey(test) ? ended.get(test) : ended.getOrDefault("", new TestAbortedException());
        if (failure != null) {
            throw failure;
        }
    }

    /** Collects how the tests of a method end, by the names that reports give them; what ends a class has no name. */
    static void launch(Class<?> type, String name, Map<String, Throwable> ended) throws Exception {
        Class<?> selectors = junit.loadClass("org.junit.platform.engine.discovery.DiscoverySelectors");
        Class<?> builders = junit.loadClass(LAUNCHER + "core.LauncherDiscoveryRequestBuilder");
        Class<?> listeners = junit.loadClass(LAUNCHER + "TestExecutionListener");
        List<Object> selected = new ArrayList<>();
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                if (method.getName().equals(name) && !method.isSynthetic()) {
                    selected.add(selectors.getMethod("selectMethod", Class.class, Method.class).invoke(null, type, method));
                }
            }
        }
        if (selected.isEmpty()) {
            // Some reports name an invocation by its arguments alone.
            selected.add(selectors.getMethod("selectClass", Class.class).invoke(null, type));
        }
        Object builder = builders.getMethod("selectors", List.class).invoke(builders.getMethod("request").invoke(null), selected);
        Object request = builders.getMethod("build").invoke(builder);
        Object told = Array.newInstance(listeners, 1);
        Array.set(told, 0, Proxy.newProxyInstance(junit, new Class<?>[] {listeners}, (self, event, given) -> {
            if (event.getName().equals("executionFinished")) {
                Throwable cause = (Throwable) ((Optional<?>) valueOf(given[1], "getThrowable")).orElse(null);
                if ((boolean) valueOf(given[0], "isTest")) {
                    for (String known : List.of("getLegacyReportingName", "getDisplayName")) {
                        ended.put(valueOf(given[0], known).toString().replaceAll("\\(\\)$", ""), cause);
                    }
                } else if (cause != null) {
                    ended.put("", cause);
                }
            }
            return null;
        }));
        if (launcher == null) {
            ClassLoader own = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(junit);
            launcher = junit.loadClass(LAUNCHER + "core.LauncherFactory").getMethod("create").invoke(null);
            Thread.currentThread().setContextClassLoader(own);
        }
        junit.loadClass(LAUNCHER + "Launcher").getMethod("execute", junit.loadClass(LAUNCHER + "LauncherDiscoveryRequest"), told.getClass())
                .invoke(launcher, request, told);
    }

    static Object valueOf(Object one, String getter) throws Exception {
        return one.getClass().getMethod(getter).invoke(one);
    }

    /** Methods with a plain `@Test` are run as JUnit 5 does: nothing comes before them or around them. */
    static Body plainTest(Class<?> type, String test) throws Exception {
        Method method = type.getDeclaredMethod(test);
        Constructor<?> made = type.getDeclaredConstructor();
        made.setAccessible(true);
        method.setAccessible(true);
        return () -> {
            try {
                method.invoke(made.newInstance());
            } catch (InvocationTargetException failed) {
                throw failed.getCause();
            }
        };
    }

    static boolean isPlain(Class<?> type) throws Exception {
        List<AnnotatedElement> parts = new ArrayList<>(List.of(type.getDeclaredMethods()));
        parts.addAll(List.of(type.getDeclaredFields()));
        parts.addAll(List.of(type.getDeclaredClasses()));
        boolean isPlain = type.getSuperclass() == Object.class && type.getInterfaces().length + type.getAnnotations().length == 0
                && type.getClassLoader().getResource("junit-platform.properties") == null;
        for (AnnotatedElement part : parts) {
            for (Annotation one : part.getAnnotations()) {
                isPlain &= one.annotationType().getName().equals("org.junit.jupiter.api.Test");
                for (Method setting : one.annotationType().getDeclaredMethods()) {
                    isPlain &= setting.invoke(one).equals(setting.getDefaultValue());
                }
            }
        }
        return isPlain;
    }

    static String outcome(Body body) {
        try {
            body.run();
            return "\"passed\",\"failure\":null";
        } catch (Throwable cause) {
            String message = Objects.toString(cause.getMessage(), "").lines().findFirst().orElse("");
            boolean isSkipped = cause.getClass().getName().matches(".*(TestAborted|AssumptionViolated)Exception");
            return isSkipped ? null : "\"failed\",\"failure\":[" + quoted(cause.getClass().getName()) + "," + quoted(message) + "]";
        }
    }

    static String quoted(String text) {
        StringBuilder found = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            found.append(letter < 32 || letter > 126 || letter == '"' || letter == '\\'
                    ? String.format("\\u%04x", (int) letter) : String.valueOf(letter));
        }
        return found.append('"').toString();
    }
}
