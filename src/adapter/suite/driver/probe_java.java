public class ZzRegreenPathTest {
    @TEST
    public void writesClassPath() throws Exception {
        String path = CLASSES;
        for (String name : new String[] {"surefire.test.class.path", "java.class.path", "jdk.module.path"}) {
            path += System.getProperty(name) == null ? "" : java.io.File.pathSeparator + System.getProperty(name);
        }
        write(PATH_FILE, "-cp " + quoted(path));
        String options = "";
        for (String name : System.getProperties().stringPropertyNames()) {
            boolean isOwn = name.matches("(java|sun|jdk|os|surefire|line|path)\\..*|basedir|user\\.dir|file\\.separator");
            options += isOwn ? "" : quoted("-D" + name + "=" + System.getProperty(name));
        }
        try {
            // Not in every module of Java.
            Class<?> bean = Class.forName("java.lang.management.RuntimeMXBean");
            Object own = Class.forName("java.lang.management.ManagementFactory").getMethod("getRuntimeMXBean").invoke(null);
            for (Object one : (java.util.List<?>) bean.getMethod("getInputArguments").invoke(own)) {
                options += quoted(one.toString());
            }
            write(OPTIONS_FILE, options);
        } catch (ReflectiveOperationException missing) {
        }
    }

    static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "\\r") + "\"\n";
    }

    static void write(String file, String text) throws java.io.IOException {
        java.nio.file.Files.write(java.nio.file.Paths.get(file), text.getBytes("UTF-8"));
    }
}
