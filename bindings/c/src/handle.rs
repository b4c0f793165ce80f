//! Handles: what C holds of the library's objects, and how a wrong one is told.
//!
//! A handle is the address of a [`Block`]. Blocks are never given back to the allocator: a freed one
//! loses its mark and waits in its kind's pool, so that asking it is always sound, and is answered, until
//! [`QUARANTINE`] more of the kind have been freed and it is used again.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::guard::Result;
use crate::status::{TRIPCOIL_INVALID_HANDLE, TRIPCOIL_NULL_POINTER};

/// How many freed handles of a kind are kept apart before the oldest one is used again.
const QUARANTINE: usize = 1024;
const FREED: usize = 0;

/// A kind of handle. Pointers of this type that C holds point to the kind's blocks.
pub(crate) trait Handle: Sized + Send + Sync + 'static {
    /// What a live block of the kind begins with.
    const MARK: usize;
    /// Where the kind's blocks wait.
    fn pool() -> &'static Pool<Self>;
}

#[repr(C)]
struct Block<T> {
    mark: AtomicUsize,
    /// Another one each time the block is used.
    serial: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is only written while the block has no mark, by the one thread that took the mark
// or the block away; with a mark it is only read, and is itself Sync.
unsafe impl<T: Send + Sync> Sync for Block<T> {}

/// Freed blocks of one kind, the oldest first.
pub(crate) struct Pool<T: 'static>(Mutex<VecDeque<&'static Block<T>>>);

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    fn take(&self) -> &'static Block<T> {
        let mut freed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if freed.len() > QUARANTINE { freed.pop_front() } else { None };
        drop(freed);
        oldest.unwrap_or_else(|| {
            Box::leak(Box::new(Block {
                mark: AtomicUsize::new(FREED),
                serial: AtomicU64::new(0),
                value: UnsafeCell::new(None),
            }))
        })
    }

    fn put(&self, block: &'static Block<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(block);
    }
}

/// A handle at one time: it is not mistaken for a later one at the same address.
pub(crate) struct Ticket<T> {
    handle: *const T,
    serial: u64,
}

/// A new handle.
pub(crate) fn give<T: Handle>(value: T) -> *mut T {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let block = T::pool().take();
    // SAFETY: the block is new, or came out of the pool with its mark gone: no other thread uses it.
    unsafe { *block.value.get() = Some(value) };
    block.serial.store(SERIAL.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    // Release: pairs with the Acquire of `block`, so that whoever sees the mark sees the value.
    block.mark.store(T::MARK, Ordering::Release);
    std::ptr::from_ref(block).cast::<T>().cast_mut()
}

/// The live block behind a handle.
///
/// # Safety
/// A pointer that is not NULL can be read for a word.
#[inline]
unsafe fn block<T: Handle>(handle: *const T) -> Result<&'static Block<T>> {
    let block = handle.cast::<Block<T>>();
    if block.is_null() {
        return Err(TRIPCOIL_NULL_POINTER);
    }
    if !block.is_aligned() {
        return Err(TRIPCOIL_INVALID_HANDLE);
    }
    // SAFETY: the mark is the first word, which can be read; no reference to the rest is made yet.
    let mark = unsafe { &*block.cast::<AtomicUsize>() };
    if mark.load(Ordering::Acquire) != T::MARK {
        return Err(TRIPCOIL_INVALID_HANDLE);
    }
    // SAFETY: it has the mark of a block of the kind, and these are never given back.
    Ok(unsafe { &*block })
}

impl<T> Block<T> {
    /// What the block holds.
    ///
    /// # Safety
    /// The block has its mark, and is not freed while the value is used.
    #[inline]
    unsafe fn value<'a>(&'static self) -> Result<&'a T> {
        // SAFETY: with its mark, and not being freed, the value is only read.
        unsafe { &*self.value.get() }.as_ref().ok_or(TRIPCOIL_INVALID_HANDLE)
    }
}

/// What a handle is of.
///
/// # Safety
/// A pointer that is not NULL can be read for a word, and the handle is not freed during the call.
#[inline]
pub(crate) unsafe fn borrow<'a, T: Handle>(handle: *const T) -> Result<&'a T> {
    // SAFETY: as promised by the caller.
    unsafe { block(handle)?.value() }
}

/// What a handle is of, and a ticket to find it again.
///
/// # Safety
/// As for [`borrow`].
#[inline]
pub(crate) unsafe fn hold<'a, T: Handle>(handle: *const T) -> Result<(&'a T, Ticket<T>)> {
    // SAFETY: as promised by the caller.
    let (block, value) = unsafe {
        let block = block(handle)?;
        (block, block.value()?)
    };
    Ok((value, Ticket { handle, serial: block.serial.load(Ordering::Relaxed) }))
}

/// What a ticket's handle is of, if it has not been freed since.
///
/// # Safety
/// The ticket is one that [`hold`] gave, and the handle is not freed during the call.
#[inline]
pub(crate) unsafe fn redeem<'a, T: Handle>(ticket: &Ticket<T>) -> Result<&'a T> {
    // SAFETY: `hold` has seen a block at this address, and blocks are never given back.
    let block = unsafe { block(ticket.handle)? };
    if block.serial.load(Ordering::Relaxed) != ticket.serial {
        return Err(TRIPCOIL_INVALID_HANDLE);
    }
    // SAFETY: it has its mark, and the caller promises that it is not freed.
    unsafe { block.value() }
}

/// Frees a handle; NULL is none.
///
/// # Safety
/// As for [`borrow`].
pub(crate) unsafe fn free<T: Handle>(handle: *mut T) -> Result<()> {
    if handle.is_null() {
        return Ok(());
    }
    // SAFETY: as promised by the caller.
    let block = unsafe { block(handle)? };
    // Of two threads that free a handle one takes the mark, and is the only one to go on.
    let taken = block.mark.compare_exchange(T::MARK, FREED, Ordering::AcqRel, Ordering::Relaxed);
    taken.map_err(|_| TRIPCOIL_INVALID_HANDLE)?;
    // SAFETY: this thread took the mark, and no call uses the handle while it is freed.
    let value = unsafe { &mut *block.value.get() }.take();
    T::pool().put(block);
    drop(value);
    Ok(())
}

/// A place of the caller's that a function writes to.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Writes to the place.
    pub(crate) fn set(self, value: T) {
        // SAFETY: `place` has been promised that it can be written.
        unsafe { self.0.write(value) }
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0
    }
}

/// Checks a place that is to be written to.
///
/// # Safety
/// A pointer that is neither NULL nor misaligned can be written during the call.
#[inline]
pub(crate) unsafe fn place<T>(pointer: *mut T) -> Result<Place<T>> {
    if pointer.is_null() {
        return Err(TRIPCOIL_NULL_POINTER);
    }
    if pointer.is_aligned() { Ok(Place(pointer)) } else { Err(TRIPCOIL_INVALID_HANDLE) }
}
