//! Calls that are out, by number.

/// The number of a call for which there was no place: it passes, and its outcome counts nowhere.
pub(crate) const NO_ENTRY: u32 = 1 << 27;

/// Admitted calls until they end. A number is used again once its call has ended.
pub(crate) struct Entries<T> {
    places: Vec<Place<T>>,
    /// The place that was left last, at the head of a list of free ones.
    free: Option<u32>,
}

enum Place<T> {
    Taken(T),
    /// With the next free place.
    Free(Option<u32>),
}

impl<T> Entries<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: None }
    }

    /// Keeps a call and gives its number; gives the call back where there are too many.
    #[inline]
    pub(crate) fn add(&mut self, entry: T) -> Result<u32, T> {
        let Some(number) = self.free else { return self.grow(entry) };
        let Some(place) = self.places.get_mut(number as usize) else { return Err(entry) };
        if let Place::Free(next) = std::mem::replace(place, Place::Taken(entry)) {
            self.free = next;
        }
        Ok(number)
    }

    #[cold]
    fn grow(&mut self, entry: T) -> Result<u32, T> {
        if self.places.len() >= NO_ENTRY as usize {
            return Err(entry);
        }
        self.places.push(Place::Taken(entry));
        Ok(self.places.len() as u32 - 1)
    }

    /// The call of a number; none where it has ended.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> Option<T> {
        let place = self.places.get_mut(number as usize)?;
        if let Place::Free(_) = place {
            return None;
        }
        match std::mem::replace(place, Place::Free(self.free)) {
            Place::Taken(entry) => {
                self.free = Some(number);
                Some(entry)
            }
            Place::Free(_) => None,
        }
    }
}

impl<T> Entries<T> {
    /// All calls that are still out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.free = None;
        std::mem::take(&mut self.places).into_iter().filter_map(|place| match place {
            Place::Taken(entry) => Some(entry),
            Place::Free(_) => None,
        })
    }
}
