class Positive { void initalValue() {} } // expect: misspelt-identifier
