class Negative { boolean isOpen() { return true; } Boolean hasDoor() { return null; } }
