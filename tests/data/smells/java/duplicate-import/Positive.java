import java.util.List;
import java.util.List; // expect: duplicate-import
class Positive { List<String> names; }
