//! `SubLayer`: the layers of tests, L1.1 to L3.4; what L0 stands for is checked by the gates
//! (specification.md 6.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! layers {
    ($($name:ident $code:literal $title:literal),* $(,)?) => {
        /// A sub-layer of the layers of tests.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum SubLayer {
            $(#[doc = $title] #[serde(rename = $code)] $name,)*
        }

        impl SubLayer {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code of the layer, such as `L1.2`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// What the tests of the layer are about.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),* }
            }
        }
    };
}

layers! {
    Happy "L1.1" "happy path",
    Negative "L1.2" "negative path",
    Edge "L1.3" "edge cases",
    State "L1.4" "state changes",
    Async "L1.5" "asynchronous code",
    Wiring "L2.1" "module wiring",
    Contract "L2.2" "API contracts",
    Database "L2.3" "database",
    External "L2.4" "external APIs",
    FailureMode "L2.5" "failure modes",
    Critical "L3.1" "critical paths",
    CrossModule "L3.2" "cross-module features",
    Performance "L3.3" "performance",
    Accessibility "L3.4" "accessibility",
}

impl SubLayer {
    /// The layer, 1 to 3.
    #[must_use]
    pub fn layer(self) -> u8 {
        match self.code().as_bytes().get(1) {
            Some(digit @ b'1'..=b'3') => digit - b'0',
            Some(_) | None => 1,
        }
    }
}

display_stored_name!(SubLayer);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<&str> = SubLayer::ALL.iter().map(|layer| layer.code()).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
        assert_eq!(SubLayer::Negative.layer(), 1);
        assert_eq!(SubLayer::Accessibility.layer(), 3);
        let text = serde_json::to_string(&SubLayer::Contract).unwrap();
        assert_eq!(text, "\"L2.2\"");
    }
}
