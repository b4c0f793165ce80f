/** `fetch` with one breaker a host. */
import { breaker } from './guard'
import { invalid, optionsOf } from './check'
import { HTTP_OPTIONS, type HttpOptions, HttpPolicy } from './http'

/** Options of `guardFetch`. */
export interface FetchOptions extends HttpOptions {
  /**
   * In ms, until the response's headers are there: how long its body may take is its reader's business. Default: no
   * limit.
   */
  timeout?: number | undefined
  /** What requests that are blocked, or fail, resolve with. */
  fallback?: ((error: unknown, input: RequestInfo | URL, init?: RequestInit) => Response | PromiseLike<Response>) | undefined
}

type Fetch = typeof globalThis.fetch
type RequestInfo = Parameters<Fetch>[0]

/**
 * A `fetch` with one breaker a host. Network errors and statuses from 500 count as bad. A request ends when its
 * body has been read; one that the caller aborts, or whose body is cancelled or never read, has no outcome, nor has one
 * that `fetch` refuses to send for what it was given. Blocked requests reject with a `CircuitOpenError`.
 */
export function guardFetch(options: FetchOptions = {}, fetch: Fetch = globalThis.fetch): Fetch {
  if (typeof fetch !== 'function') throw invalid('fetch', fetch, 'a function')
  const { timeout, fallback, ...given } = optionsOf('options', options, FETCH_OPTIONS)
  const policy = new HttpPolicy(given)
  // Looked up when it is called, where it is the global one: it may be replaced.
  const send: Fetch = fetch === globalThis.fetch ? (input, init) => globalThis.fetch(input, init) : fetch
  const mistakes = new WeakSet()
  const sendNoting = async (input: RequestInfo, init?: RequestInit): Promise<Response> => {
    try {
      return await send(input, init)
    } catch (error) {
      if (isMistake(error, input, init)) mistakes.add(error as TypeError)
      throw error
    }
  }
  const guarded = breaker(sendNoting, {
    registry: policy.registry,
    resource: (input) => policy.resourceOf(urlOf(input)),
    signal: 1,
    stream: true,
    timeout,
    fallback,
    isFailure: (error) => policy.isBadError(error),
    ignore: (error) => mistakes.has(error as object) || policy.isIgnored(error),
    isFailureResult: (response) => policy.isFailureStatus(response.status),
  })
  return (input, init) => {
    // One that is null says that the request's own is not to stop it.
    const signal = init?.signal === undefined && isRequest(input) ? input.signal : init?.signal
    return guarded(input, signal === undefined || signal === null ? init : { ...init, signal })
  }
}

const FETCH_OPTIONS: ReadonlySet<string> = new Set([...HTTP_OPTIONS, 'timeout', 'fallback'])

/** `fetch`'s own, or that of a package that has its own `fetch`. */
function isRequest(input: unknown): input is Request {
  return input instanceof Request || Object.prototype.toString.call(input) === '[object Request]'
}

/** Whether nothing has been sent, because no request can be made of what `fetch` was given. The network's errors have a cause. */
function isMistake(error: unknown, input: RequestInfo, init: RequestInit | undefined): boolean {
  if (!(error instanceof TypeError) || error.cause !== undefined) return false
  try {
    new Request(urlOf(input), init)
    return false
  } catch {
    return true
  }
}

/** As `fetch` takes it: what is no request is a URL, or says one. */
function urlOf(input: RequestInfo): string {
  return isRequest(input) ? input.url : String(input)
}
