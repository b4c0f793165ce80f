//! A table of resources that does not change once it is made.

use std::sync::Arc;

use crate::resource::Inner;

/// How many resources a line has places for, and how many of them are taken on average.
const PLACES: usize = 7;
const TAKEN: usize = 5;

/// Resources by name: a look-up goes to one line, and from there to the resource.
///
/// In hashbrown's table, which is as fast where all is in the cache, that would be two lines: one of tags, one
/// of references.
pub(crate) struct Edition {
    /// Where hashes begin to be found, in their order; beyond that, what finds no place in the last of these.
    homes: usize,
    lines: Vec<Line>,
}

#[derive(Default)]
#[repr(C, align(64))]
struct Line {
    /// The last bits of each one's hash; behind them, whether others of this line are in the next.
    tags: [u8; PLACES],
    overflows: bool,
    resources: [Option<Arc<Inner>>; PLACES],
}

impl Edition {
    /// Of resources with the hashes of their names.
    pub(crate) fn of(resources: impl ExactSizeIterator<Item = (u64, Arc<Inner>)>) -> Self {
        let homes = resources.len().div_ceil(TAKEN);
        let mut edition = Self { homes, lines: Vec::with_capacity(homes + 1) };
        edition.lines.resize_with(homes, Line::default);
        for (hash, resource) in resources {
            edition.insert(hash, resource);
        }
        edition
    }

    fn insert(&mut self, hash: u64, resource: Arc<Inner>) {
        for at in self.home(hash).. {
            if at == self.lines.len() {
                self.lines.push(Line::default());
            }
            let line = &mut self.lines[at];
            if let Some(place) = line.resources.iter().position(Option::is_none) {
                line.tags[place] = hash as u8;
                line.resources[place] = Some(resource);
                return;
            }
            line.overflows = true;
        }
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, name: &str) -> Option<&Arc<Inner>> {
        let home = self.home(hash);
        self.lines.get(home..)?.iter().find_map(|line| match line.find(hash as u8, name) {
            None if line.overflows => None,
            found => Some(found),
        })?
    }

    /// The line where a hash is looked for first.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        // By the first bits: the product's upper half is less than the number of lines.
        ((u128::from(hash) * self.homes as u128) >> 64) as usize
    }
}

impl Line {
    #[inline]
    fn find(&self, tag: u8, name: &str) -> Option<&Arc<Inner>> {
        let mut equal = zero_bytes(u64::from_le_bytes(self.tags_and_zero()) ^ u64::from_ne_bytes([tag; 8]));
        while equal != 0 {
            let place = equal.trailing_zeros() as usize / 8;
            if let Some(Some(resource)) = self.resources.get(place)
                && resource.name == name
            {
                return Some(resource);
            }
            equal &= equal - 1;
        }
        None
    }

    #[inline]
    fn tags_and_zero(&self) -> [u8; 8] {
        let [a, b, c, d, e, f, g] = self.tags;
        [a, b, c, d, e, f, g, 0]
    }
}

/// The highest bit of each byte that is zero, and maybe of some that come after one.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(u64::from_ne_bytes([0x01; 8])) & !word & u64::from_ne_bytes([0x80; 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    #[test]
    fn all_are_found_whatever_their_hashes() {
        let registry = Registry::new();
        let resource = |i: u64| registry.resource(&i.to_string()).unwrap().0;
        // Well spread, few of them different, all in the last line, all alike.
        let hashes: [fn(u64) -> u64; 4] =
            [|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15), |i| i % 3 * (u64::MAX / 3), |i| !i, |_| 0];
        for hash in hashes {
            for count in [0, 1, 7, 8, 100] {
                let some: Vec<_> = (0..count).map(|i| (hash(i), resource(i))).collect();
                let edition = Edition::of(some.into_iter());
                for i in 0..200 {
                    let found = edition.find(hash(i), &i.to_string()).map(|found| found.name.as_str());
                    assert_eq!(found, (i < count).then_some(i.to_string()).as_deref());
                }
            }
        }
    }
}
