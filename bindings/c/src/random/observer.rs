//! Observers, well-behaved and not.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arbitrary::Arbitrary;

use crate::codes::TRIPCOIL_BAD;
use crate::entry::{tripcoil_entry, tripcoil_entry_end, tripcoil_resource_enter};
use crate::observer::*;
use crate::registry::tripcoil_registry;
use crate::resource::{tripcoil_resource, tripcoil_resource_reset};
use crate::rules::tripcoil_registry_load;
use crate::status::*;

use super::handles::Pick;
use super::texts::Text;
use super::world::{Observers, World};

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    Observe { registry: Pick, name: Text, deed: Deed, resource: Pick },
    ObserveNull { registry: Pick, name: Text },
    Unobserve(Pick, Text),
}

/// What an observer does when it is told.
#[derive(Arbitrary, Debug)]
pub(super) enum Deed {
    Nothing,
    RemoveItself,
    AddAnother,
    Enter,
    Reset,
    Load,
}

/// An observer's user data.
struct Watcher {
    deed: Deed,
    registry: *mut tripcoil_registry,
    resource: *mut tripcoil_resource,
    observers: Arc<Observers>,
    /// So often it does it: one that made a change for each that it is told of would never end.
    budget: AtomicU32,
}

// SAFETY: handles may be used on any thread; nobody frees one while threads run.
unsafe impl Sync for Watcher {}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        match self {
            Self::Observe { registry, name, deed, resource } => {
                let (registry, kind) = world.registries.pick(registry);
                let resource = world.resources.pick(resource).0;
                let observers = Arc::clone(&world.observers);
                let watcher = Watcher { deed, registry, resource, observers, budget: AtomicU32::new(4) };
                kind.check(observe(registry, &name, watcher));
            }
            Self::ObserveNull { registry, name } => {
                let (registry, kind) = world.registries.pick(registry);
                // SAFETY: a handle and a text as theirs have them.
                kind.check(name.with(|name, len| unsafe {
                    tripcoil_registry_observe(registry, name, len, None, ptr::null_mut(), Some(destroy))
                }));
            }
            Self::Unobserve(registry, name) => {
                let (registry, kind) = world.registries.pick(registry);
                // SAFETY: a handle and a text as theirs have them.
                kind.check(
                    name.with(|name, len| unsafe { tripcoil_registry_unobserve(registry, name, len) }),
                );
            }
        }
    }
}

fn observe(registry: *mut tripcoil_registry, name: &Text, watcher: Watcher) -> tripcoil_status {
    let observers = Arc::clone(&watcher.observers);
    let user_data = Box::into_raw(Box::new(watcher));
    let status = name.with(|name, len| {
        // SAFETY: a handle and a text as theirs have them; the destructor takes the user data.
        unsafe { tripcoil_registry_observe(registry, name, len, Some(tell), user_data.cast(), Some(destroy)) }
    });
    if status == TRIPCOIL_OK {
        observers.registered.fetch_add(1, Ordering::SeqCst);
    } else {
        // SAFETY: it was not registered, so it is still ours.
        drop(unsafe { Box::from_raw(user_data) });
    }
    status
}

unsafe extern "C" fn tell(user_data: *mut c_void, change: *const tripcoil_change) {
    // SAFETY: what was registered, and a change.
    let (watcher, change) = unsafe { (&*user_data.cast::<Watcher>(), &*change) };
    assert!(!change.resource.is_null() && change.sequence > 0);
    watcher.observers.told.fetch_add(1, Ordering::SeqCst);
    if watcher.budget.load(Ordering::SeqCst) > 0 {
        watcher.budget.fetch_sub(1, Ordering::SeqCst);
        watcher.act();
    }
}

unsafe extern "C" fn destroy(user_data: *mut c_void) {
    // SAFETY: what was registered, for the last time.
    let watcher = unsafe { Box::from_raw(user_data.cast::<Watcher>()) };
    watcher.observers.destroyed.fetch_add(1, Ordering::SeqCst);
}

impl Watcher {
    fn act(&self) {
        let with = |text: &'static CStr| (text.as_ptr(), text.count_bytes());
        // SAFETY: handles that are live or freed, texts as they are, an entry on the stack.
        let status = unsafe {
            match self.deed {
                Deed::Nothing => TRIPCOIL_OK,
                Deed::RemoveItself => {
                    let (name, len) = with(c"stock");
                    tripcoil_registry_unobserve(self.registry, name, len)
                }
                Deed::AddAnother => {
                    let observers = Arc::clone(&self.observers);
                    let (registry, resource, budget) = (self.registry, self.resource, AtomicU32::new(0));
                    let another = Watcher { deed: Deed::Nothing, registry, resource, observers, budget };
                    observe(registry, &Text::Name(1), another)
                }
                Deed::Enter => {
                    let mut entry = tripcoil_entry { opaque: [0; 8] };
                    tripcoil_resource_enter(self.resource, &raw mut entry);
                    tripcoil_entry_end(&raw mut entry, TRIPCOIL_BAD)
                }
                Deed::Reset => tripcoil_resource_reset(self.resource),
                Deed::Load => {
                    let (rules, len) = with(c"[]");
                    tripcoil_registry_load(self.registry, rules, len, ptr::null_mut())
                }
            }
        };
        assert_ne!(status, TRIPCOIL_PANIC);
    }
}
