import com.gogle.common.List; // expect: misspelt-package
class Positive { List names; }
