//! A list that is small where it has one item, as most of a million lists do.

use std::ops::{Deref, DerefMut};

// A vector in a box, since a vector in place would be three times as large as the one item.
#[expect(clippy::box_collection)]
#[derive(Default)]
pub(crate) enum Few<T> {
    #[default]
    None,
    One([T; 1]),
    Several(Box<Vec<T>>),
}

impl<T> Few<T> {
    pub(crate) fn push(&mut self, item: T) {
        *self = match std::mem::take(self) {
            Self::None => Self::One([item]),
            Self::One([first]) => Self::Several(Box::new(vec![first, item])),
            Self::Several(mut items) => {
                items.push(item);
                Self::Several(items)
            }
        };
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(item) => item,
            Self::Several(items) => items,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::None => &mut [],
            Self::One(item) => item,
            Self::Several(items) => items,
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().fold(Self::None, |mut few, item| {
            few.push(item);
            few
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_kept_in_order() {
        for count in 0..5 {
            let mut few: Few<u32> = (0..count).collect();
            assert!(few.iter().copied().eq(0..count));
            few.iter_mut().for_each(|item| *item += 1);
            assert!(few.iter().copied().eq(1..=count));
        }
    }
}
