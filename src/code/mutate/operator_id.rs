//! [`OperatorId`]: the identifier, display name and empirical yield of each edit operator.

/// One row per operator: the identifier, the name shown in reports and records, and the yield.
macro_rules! operator_ids {
    ($($id:ident = $name:literal, $yield:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OperatorId { $($id,)* }

        impl OperatorId {
            pub const ALL: &[Self] = &[$(Self::$id,)*];

            /// The name that is shown in reports and stored in records.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            /// How often the operator made the right repair in published data sets, on any scale.
            #[must_use]
            pub const fn base_yield(self) -> f64 {
                match self { $(Self::$id => $yield,)* }
            }
        }
    };
}

operator_ids! {
    Constant = "constant", 10.0;
    Comparison = "comparison", 14.0;
    OffByOne = "off by one", 9.0;
    Variable = "variable", 8.0;
    Arithmetic = "arithmetic", 8.0;
    DropOperand = "drop operand", 6.0;
    Slice = "slice", 4.0;
    Method = "method", 9.0;
    Text = "string", 2.5;
    Ingredient = "ingredient", 3.0;
    Logic = "logic", 15.0;
    WrapInCall = "wrap in call", 4.0;
    UnwrapCall = "unwrap call", 5.0;
    AssignmentTarget = "assignment target", 4.0;
    AugmentedAssignment = "augmented assignment", 7.0;
    Truth = "truth", 10.0;
    FlipReturns = "flip returns", 6.0;
    SwapOperands = "swap operands", 5.0;
    SwapElements = "swap elements", 5.0;
    SwapArguments = "swap arguments", 7.0;
    SwapBranches = "swap branches", 8.0;
    Negate = "negate", 7.0;
    DropNegation = "drop negation", 7.0;
    Sign = "sign", 4.0;
    Callee = "callee", 4.0;
    Property = "property", 5.0;
    Return = "return", 4.0;
    ExtendCondition = "extend condition", 2.0;
    DropArgument = "drop argument", 3.0;
    AddArgument = "add argument", 2.0;
    DropStatement = "drop statement", 1.5;
    InsertStatement = "insert statement", 1.5;
    Guard = "guard", 1.2;
    MoveStatement = "move statement", 3.5;
    Await = "await", 6.0;
    Update = "update", 6.0;
    SuffixCall = "suffix call", 2.0;
    Exception = "exception", 5.0;
    Syntax = "syntax", 10.0;
    ReverseChange = "reverse change", 100.0;
}
