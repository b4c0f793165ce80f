import { AsyncLocalStorage } from 'node:async_hooks'
import type { Policy } from './policy'
import { BAD } from './gate'

/** A call that can be marked. */
export interface Traced {
  readonly policy: Policy
  isBad: boolean
}

export const storage = new AsyncLocalStorage<Traced>()

/**
 * Makes the guarded call that is running here count as failed though it will resolve, as Sentinel's `Tracer` does:
 * for errors that its function handles itself. The call is the innermost one that was guarded with `trace: true`.
 * The error is judged as if the call had failed with it. Says whether there was such a call.
 */
export function trace(error: unknown): boolean {
  const traced = storage.getStore()
  if (traced === undefined) return false
  if (traced.policy.ofError(error) === BAD) traced.isBad = true
  return true
}
