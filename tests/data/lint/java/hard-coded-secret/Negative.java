class Negative { String password = System.getenv("PASSWORD"); }
