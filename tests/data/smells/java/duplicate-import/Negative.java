import java.util.List;
import java.util.Map;
class Negative { List<String> names; Map<String, String> more; }
