/** Answers for requests that could not be served because a breaker rejected a call. */
import { checkSync, optionsOf, refusePromise } from './check'
import { type CircuitOpenError, findBlocked } from './errors'

/** Options of the error handlers. */
export interface UnavailableOptions {
  /** The answer's body; where it gives none, or by default: `Service Unavailable`, as plain text. */
  body?: ((error: CircuitOpenError) => unknown) | undefined
}

/** What to answer. */
export interface Unavailable {
  status: 503
  /** In whole seconds, from 1; undefined where there is no limit. */
  retryAfter: string | undefined
  body: unknown
}

/** What to answer to a request that failed with an error; nothing where that is not about a breaker. */
export function answerer(options: UnavailableOptions): (error: unknown) => Unavailable | undefined {
  const { body: bodyOf } = optionsOf('options', options, OPTIONS)
  checkSync('body', bodyOf)
  return (error) => {
    const blocked = findBlocked(error)
    if (blocked === undefined) return undefined
    const seconds = Math.max(1, Math.ceil(blocked.retryAfter / 1000))
    const retryAfter = Number.isFinite(seconds) ? String(seconds) : undefined
    const body = bodyOf?.(blocked)
    refusePromise('body', body, 'a function that gives the body, and no promise')
    return { status: 503, retryAfter, body: body ?? 'Service Unavailable' }
  }
}

const OPTIONS: ReadonlySet<string> = new Set(['body'])
