//! Calls that are out, by number.

/// The number of a call for which there was no place: it passes, and its outcome counts nowhere. So many
/// calls may be out at once that a number with four bits more is still a positive `i32`.
pub(crate) const NO_ENTRY: u32 = 1 << 26;

const NO_PLACE: u32 = u32::MAX;

/// Admitted calls until they end. A number is used again once its call has ended.
///
/// Calls are put into their places and looked at there: moving them costs as much as all the rest.
pub(crate) struct Entries<T> {
    places: Vec<Place<T>>,
    /// The place that was left last, at the head of a list of free ones.
    free: u32,
}

struct Place<T> {
    entry: Option<T>,
    /// The next free place, where this one is free.
    next: u32,
}

impl<T> Entries<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: NO_PLACE }
    }

    /// A place for a call that begins, if there are not too many; [`Entries::occupy`] says that it has.
    #[inline]
    pub(crate) fn vacant(&mut self) -> Option<(u32, &mut Option<T>)> {
        if self.free == NO_PLACE {
            self.grow()?;
        }
        let place = self.places.get_mut(self.free as usize)?;
        Some((self.free, &mut place.entry))
    }

    /// The vacant place has been taken.
    #[inline]
    pub(crate) fn occupy(&mut self) {
        if let Some(place) = self.places.get(self.free as usize) {
            self.free = place.next;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> Option<()> {
        let number = u32::try_from(self.places.len()).ok().filter(|&number| number < NO_ENTRY)?;
        self.places.push(Place { entry: None, next: NO_PLACE });
        self.free = number;
        Some(())
    }

    /// What is at a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.entry.as_ref()
    }

    /// Ends the call of a number, unless it has ended already.
    #[inline]
    pub(crate) fn end<R>(&mut self, number: u32, end: impl FnOnce(&T) -> R) -> Option<R> {
        let place = self.places.get_mut(number as usize)?;
        let ended = end(place.entry.as_ref()?);
        place.entry = None;
        place.next = self.free;
        self.free = number;
        Some(ended)
    }

    /// Takes out what is at a number.
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let place = self.places.get_mut(number as usize)?;
        let taken = place.entry.take()?;
        place.next = self.free;
        self.free = number;
        Some(taken)
    }

    /// Ends all calls that are still out.
    pub(crate) fn end_all(&mut self, mut end: impl FnMut(&T)) {
        self.free = NO_PLACE;
        for place in std::mem::take(&mut self.places) {
            place.entry.iter().for_each(&mut end);
        }
    }
}
