class Negative { void initialValue() {} }
