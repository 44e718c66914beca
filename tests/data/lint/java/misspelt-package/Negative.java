import com.google.common.List;
import org.slf4j.Logger;
class Negative { List names; Logger log; }
