import java.util.*;
import java.util.Map;
/** See {@link Set}. */
class Negative { Map<String, String> names; }
