//! Guarded calls: admission, the call, its outcome, in one step.

use std::error::Error;
use std::fmt;
use std::future::Future;

use crate::blocked::Blocked;
use crate::entry::Entry;
use crate::handle::Resource;
use crate::outcome::Outcome;

/// How a guarded call can fail. Its text and its source are those of what it holds.
#[derive(Clone, Debug)]
pub enum CallError<E> {
    /// The call was not made.
    Blocked(Blocked),
    /// The call was made and failed.
    Failed(E),
}

impl<E> CallError<E> {
    /// The rejection, where the call was not made.
    #[must_use]
    pub fn blocked(&self) -> Option<&Blocked> {
        match self {
            CallError::Blocked(blocked) => Some(blocked),
            CallError::Failed(_) => None,
        }
    }
}

impl<E> From<Blocked> for CallError<E> {
    fn from(blocked: Blocked) -> Self {
        CallError::Blocked(blocked)
    }
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Blocked(blocked) => blocked.fmt(f),
            CallError::Failed(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CallError::Blocked(blocked) => blocked.source(),
            CallError::Failed(error) => error.source(),
        }
    }
}

/// The outcome of a result whose error is an [`Error`]: good where there is none, ignored where it is,
/// or was caused by, this library's own rejection of an inner call (spec D8), otherwise bad.
pub fn by_error<T, E: Error + 'static>(result: &Result<T, E>) -> Outcome {
    match result {
        Ok(_) => Outcome::Good,
        Err(error) if Blocked::is_cause_of(error) => Outcome::Ignored,
        Err(_) => Outcome::Bad,
    }
}

/// The outcome of a result whose error may be of any type: good where there is none, otherwise bad.
///
/// An error of an unknown type cannot be asked whether an inner call was blocked: classify it yourself
/// where that can be.
pub fn by_result<T, E>(result: &Result<T, E>) -> Outcome {
    if result.is_ok() { Outcome::Good } else { Outcome::Bad }
}

impl Resource {
    /// Calls `f` if the breakers admit it. Its error counts as bad, except one that was caused by a
    /// blocked inner call (ignored); a panic counts as bad and goes on.
    ///
    /// For errors that do not implement [`Error`] (`String`, `Box<dyn Error>`, `anyhow::Error`), and for
    /// a fallback, begin with `classify(by_result)` or a classifier of your own: [`Resource::classify`].
    ///
    /// # Errors
    /// [`CallError::Blocked`] where the call was not made, [`CallError::Failed`] where it failed.
    ///
    /// ```
    /// use tripcoil::{CallError, Registry};
    ///
    /// let registry = Registry::new();
    /// let stock = registry.resource("stock")?;
    /// match stock.call(|| "7".parse::<u32>()) {
    ///     Ok(pieces) => assert_eq!(pieces, 7),
    ///     Err(CallError::Blocked(blocked)) => println!("not called: {blocked}"),
    ///     Err(CallError::Failed(error)) => println!("called, and failed: {error}"),
    /// }
    /// # Ok::<(), tripcoil::NameError>(())
    /// ```
    #[inline]
    pub fn call<T, E, F>(&self, f: F) -> Result<T, CallError<E>>
    where
        E: Error + 'static,
        F: FnOnce() -> Result<T, E>,
    {
        self.classify(by_error).call(f)?.map_err(CallError::Failed)
    }

    /// As [`Resource::call`], for a closure that wants its entry: to [mark it bad](Entry::mark_bad)
    /// although it returns `Ok`.
    ///
    /// # Errors
    /// As [`Resource::call`].
    pub fn call_with<T, E, F>(&self, f: F) -> Result<T, CallError<E>>
    where
        E: Error + 'static,
        F: FnOnce(&Entry<'_>) -> Result<T, E>,
    {
        self.classify(by_error).call_with(f)?.map_err(CallError::Failed)
    }

    /// As [`Resource::call`], for a future. Admission is asked for when the returned future is first
    /// polled; dropping it before it is ready is a cancelled call.
    ///
    /// # Errors
    /// As [`Resource::call`].
    pub async fn call_async<T, E, F>(&self, future: F) -> Result<T, CallError<E>>
    where
        E: Error + 'static,
        F: Future<Output = Result<T, E>>,
    {
        self.classify(by_error).call_async(future).await?.map_err(CallError::Failed)
    }

    /// Guarded calls whose outcome `classifier` tells from what they return, of whatever type.
    ///
    /// ```
    /// use tripcoil::{Outcome, Registry};
    ///
    /// let registry = Registry::new();
    /// let stock = registry.resource("stock")?;
    /// let status = stock.classify(|status: &u16| match status {
    ///     500.. => Outcome::Bad,
    ///     404 => Outcome::Ignored,
    ///     _ => Outcome::Good,
    /// });
    /// assert_eq!(status.call(|| 200)?, 200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn classify<R, C: Fn(&R) -> Outcome>(&self, classifier: C) -> Guard<'_, C> {
        Guard { resource: self, classifier }
    }
}

/// Guarded calls of one resource with a classifier. Made by [`Resource::classify`].
///
/// A classifier that panics makes the call count as bad, and the panic goes on.
#[derive(Clone, Debug)]
pub struct Guard<'r, C> {
    resource: &'r Resource,
    classifier: C,
}

impl<C> Guard<'_, C> {
    /// Calls `f` if the breakers admit it.
    ///
    /// # Errors
    /// [`Blocked`] where the call was not made.
    #[inline]
    pub fn call<R>(&self, f: impl FnOnce() -> R) -> Result<R, Blocked>
    where
        C: Fn(&R) -> Outcome,
    {
        self.call_with(|_| f())
    }

    /// Calls `f` with its entry if the breakers admit it.
    ///
    /// # Errors
    /// [`Blocked`] where the call was not made.
    #[inline]
    pub fn call_with<R>(&self, f: impl FnOnce(&Entry<'_>) -> R) -> Result<R, Blocked>
    where
        C: Fn(&R) -> Outcome,
    {
        let entry = self.resource.enter()?;
        entry.ends_here();
        let result = f(&entry);
        let outcome = (self.classifier)(&result);
        entry.end(outcome);
        Ok(result)
    }

    /// Awaits `future` if the breakers admit it. Admission is asked for at the first poll; dropping the
    /// returned future before it is ready is a cancelled call.
    ///
    /// # Errors
    /// [`Blocked`] where the future was not polled.
    pub async fn call_async<R>(&self, future: impl Future<Output = R>) -> Result<R, Blocked>
    where
        C: Fn(&R) -> Outcome,
    {
        let entry = self.resource.enter()?;
        let result = future.await;
        let outcome = (self.classifier)(&result);
        entry.end(outcome);
        Ok(result)
    }

    /// As [`Guard::call`], with an answer for calls that are not made.
    ///
    /// ```
    /// use tripcoil::{Mode, Registry, by_result};
    ///
    /// let registry = Registry::new();
    /// registry.load_json(r#"[{"resource": "stock", "count": 50, "timeWindow": 10}]"#)?;
    /// let stock = registry.resource("stock")?;
    /// stock.set_mode(Mode::ForcedOpen);
    /// let pieces = stock.classify(by_result).call_or(|| "7".parse::<u32>(), |_blocked| Ok(0));
    /// assert_eq!(pieces, Ok(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_or<R>(&self, f: impl FnOnce() -> R, fallback: impl FnOnce(Blocked) -> R) -> R
    where
        C: Fn(&R) -> Outcome,
    {
        self.call(f).unwrap_or_else(fallback)
    }

    /// As [`Guard::call_async`], with an answer for calls that are not made.
    pub async fn call_async_or<R>(
        &self,
        future: impl Future<Output = R>,
        fallback: impl FnOnce(Blocked) -> R,
    ) -> R
    where
        C: Fn(&R) -> Outcome,
    {
        self.call_async(future).await.unwrap_or_else(fallback)
    }
}
