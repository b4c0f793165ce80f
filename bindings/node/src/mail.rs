//! Where JavaScript and the doors (`doors.rs`) put the numbers that they tell each other.
//!
//! To ask Node for an argument, its value, and a value of the answer costs as much as the crossing itself; numbers that
//! lie where both look cost nothing.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use napi::bindgen_prelude::{Buffer, BufferSlice, JsValue, Object, ObjectRef};
use napi::{Env, Error, Result, Status};

use crate::calls::Calls;

/// Memory of two `Int32`, JavaScript's, as long as its environment is there.
#[derive(Default)]
pub(crate) struct Mail(RefCell<Option<Shared>>);

struct Shared {
    /// Not dropped with the thread, when the environment may be gone, with all its references.
    memory: ManuallyDrop<Buffer>,
    object: ObjectRef<false>,
}

impl Mail {
    /// The memory of this thread: what is offered, unless another copy of the package has offered some before.
    pub(crate) fn share<'env>(env: &'env Env, offered: BufferSlice<'env>) -> Result<Object<'env>> {
        Calls::here(|calls| {
            let mut shared = calls.mail.0.borrow_mut();
            if let Some(Shared { object, .. }) = &*shared {
                return object.get_value(env);
            }
            if offered.len() != size_of::<[i32; 2]>() {
                return Err(Error::new(Status::InvalidArg, "the mail needs the memory of two Int32"));
            }
            let object = offered.coerce_to_object()?;
            let reference = object.create_ref()?;
            let memory = ManuallyDrop::new(offered.into_buffer(env)?);
            env.add_env_cleanup_hook((), |()| Calls::here(|calls| calls.mail.close()))?;
            *shared = Some(Shared { memory, object: reference });
            Ok(object)
        })
    }

    /// Puts there what is answered to the number that has been put there.
    #[inline]
    pub(crate) fn answer(&self, answer: impl FnOnce(i32) -> i32) {
        let mut shared = self.0.borrow_mut();
        let memory = shared.as_mut().map(|shared| &mut **shared.memory);
        let Some((told, rest)) = memory.and_then(<[u8]>::split_first_chunk_mut) else { return };
        if let Some(place) = rest.first_chunk_mut() {
            *place = answer(i32::from_ne_bytes(*told)).to_ne_bytes();
        }
    }

    fn close(&self) {
        if let Some(Shared { memory, .. }) = self.0.take() {
            drop(ManuallyDrop::into_inner(memory));
        }
    }
}
