fn f( -> u32 { 1 } // expect: syntax-error
