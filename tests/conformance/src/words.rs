//! States and modes as the library and as the model call them.

use crate::runner::{Mode, State};

macro_rules! words {
    ($kind:ident of $theirs:ident: $($word:ident),+) => {
        impl From<$theirs::$kind> for $kind {
            fn from(word: $theirs::$kind) -> Self {
                match word {
                    $($theirs::$kind::$word => Self::$word,)+
                }
            }
        }

        impl From<$kind> for $theirs::$kind {
            fn from(word: $kind) -> Self {
                match word {
                    $($kind::$word => Self::$word,)+
                }
            }
        }
    };
}

words!(State of tripcoil: Closed, Open, HalfOpen);
words!(State of tripcoil_model: Closed, Open, HalfOpen);
words!(Mode of tripcoil: Normal, ForcedOpen, Disabled, ObserveOnly);
words!(Mode of tripcoil_model: Normal, ForcedOpen, Disabled, ObserveOnly);
