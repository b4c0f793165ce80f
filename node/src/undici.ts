/** An undici dispatcher with one breaker a host. */
import { CANCELLED, CHANGED, BAD, GOOD, type Outcome } from './gate'
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
type Method = (...args: any[]) => unknown

/**
 * A handler that tells how the request ends. Handlers are of one of two kinds, with different names for the same. What
 * a classifier throws takes the place of the request's error, or ends a request that has none.
 */
function watched(handler: any, policy: HttpPolicy, end: End): object {
  const left = (): void => end(() => CANCELLED)
  const started = (status: number): void => {
    if (status >= 200 && policy.isFailureStatus(status)) end(() => BAD)
  }
  const ended = (): void => end(() => GOOD)
  /** Judges the request's error, and gives the one to tell of. */
  const failed = (error: unknown): unknown => {
    try {
      end(() => policy.ofError(error))
      return error
    } catch (failure) {
      return failure
    }
  }
  /** What is done before the handler's own method is called, with its arguments as they are to be. */
  const before: Record<string, (args: any[]) => void> = {
    onResponseStart: ([, status]) => started(status),
    onHeaders: ([status]) => started(status),
    onRequestUpgrade: ended,
    onUpgrade: ended,
    onResponseEnd: ended,
    onComplete: ended,
    onResponseError(args) {
      // That is how a handler of this kind gives up: whatever it says why.
      if (args[0]?.aborted) left()
      args[1] = failed(args[1])
    },
    onError(args) {
      args[0] = failed(args[0])
    },
    onConnect(args) {
      const abort: Method = args[0]
      args[0] = (reason: unknown) => {
        left()
        return abort(reason)
      }
    },
  }
  const forward = (name: string): Method => (...args) => {
    before[name]?.(args)
    try {
      return handler[name](...args)
    } catch (error) {
      // The handler's own: the request is given up for it.
      left()
      throw error
    }
  }
  const names = METHODS.filter((name) => typeof handler[name] === 'function')
  return Object.fromEntries(names.map((name) => [name, forward(name)])) as object
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
  'onRequestSent',
]
