import java.util.List; // expect: unused-import
import java.util.Map;
class Positive { Map<String, String> names; }
