/** An undici dispatcher with one breaker a host. */
import { BAD, CHANGED, GOOD, type Outcome } from './gate'
import { type HttpOptions, HttpPolicy } from './http'

// Undici's own types would be needed by all who use another part of the package.
type Dispatch = (options: any, handler: any) => boolean

/**
 * An interceptor: `new Agent().compose(breakerInterceptor({ … }))`. Network errors and statuses from 500 count as bad.
 * A request ends with its body; one that is aborted, or whose body is destroyed, has no outcome. Blocked requests
 * fail with a `CircuitOpenError`.
 */
export function breakerInterceptor(options: HttpOptions = {}): (dispatch: any) => any {
  const policy = new HttpPolicy(options)
  const gate = policy.registry.named
  return (dispatch: Dispatch): Dispatch =>
    (options, handler) => {
      const resource = policy.resourceOf(options.origin)
      const token = gate.enter(resource)
      if (token < 0) throw gate.blocked(token, resource)
      if (token & CHANGED) gate.hub.drain()
      let hasEnded = false
      const end = (judge: () => Outcome): void => {
        if (hasEnded) return
        hasEnded = true
        gate.end(token, judge)
      }
      try {
        return dispatch(options, watched(handler, policy, end))
      } catch (error) {
        end(() => policy.ofError(error))
        throw error
      }
    }
}

type End = (judge: () => Outcome) => void

/** A handler that tells how the request ends. Handlers are of one of two kinds, with different names for the same. */
function watched(handler: any, policy: HttpPolicy, end: End): object {
  const started = (status: number): void => {
    if (status >= 200 && policy.isFailureStatus(status)) end(() => BAD)
  }
  const upgraded = (): void => end(() => GOOD)
  const ended = (): void => end(() => GOOD)
  const failed = (error: unknown): void => end(() => policy.ofError(error))
  const told: Record<string, (...args: any[]) => void> = {
    onResponseStart: (_controller, status) => started(status),
    onRequestUpgrade: upgraded,
    onResponseEnd: ended,
    onResponseError: (_controller, error) => failed(error),
    onHeaders: (status) => started(status),
    onUpgrade: upgraded,
    onComplete: ended,
    onError: failed,
  }
  const forwarded = METHODS.filter((name) => typeof handler[name] === 'function').map((name) => [
    name,
    (...args: unknown[]): unknown => {
      told[name]?.(...args)
      return handler[name](...args)
    },
  ])
  return Object.fromEntries(forwarded) as object
}

const METHODS = [
  'onRequestStart',
  'onRequestUpgrade',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
  'onConnect',
  'onUpgrade',
  'onResponseStarted',
  'onHeaders',
  'onData',
  'onComplete',
  'onError',
  'onBodySent',
]
