/** An axios adapter with one breaker a host. */
import { call } from './call'
import { invalid } from './check'
import { CANCELLED } from './gate'
import { prepareGuard } from './guard'
import { type HttpOptions, HttpPolicy } from './http'
import { type Ending, endOf } from './stream'

// Axios's own types would be needed by all who use another part of the package.
type Config = any
type Adapter = (config: any) => Promise<any>

/**
 * An adapter that guards another one: `axios.create({ adapter: guardAdapter(axios.getAdapter('http'), { … }) })`.
 * Network errors, axios's time-outs and statuses from 500 count as bad; a request that is cancelled has no outcome.
 * A response that is asked for as a stream ends with it. Blocked requests reject with a `CircuitOpenError`.
 */
export function guardAdapter(adapter: Adapter, options: HttpOptions = {}): Adapter {
  if (typeof adapter !== 'function') throw invalid('adapter', adapter, 'a function, such as `axios.getAdapter` gives')
  const policy = new HttpPolicy(options)
  const isFailure = (error: AxiosError): boolean =>
    isAboutStatus(error) ? policy.isFailureStatus(error.response!.status) : policy.isBadError(error)
  const { policy: guard } = prepareGuard(adapter, {
    registry: policy.registry,
    resource: (config: Config) => policy.resourceOf(urlOf(config)),
    stream: true,
    isFailure,
    ignore: (error) => policy.isIgnored(error),
    isFailureResult: (response: { status: number }) => policy.isFailureStatus(response.status),
  })
  guard.endOf = streamOf
  guard.hasLeft = ([config]) => hasLeft(config)
  return (config) => call(guard, adapter, undefined, [config])
}

/** Whether the caller has aborted, by either of axios's ways; the error may be its own reason. */
function hasLeft({ signal, cancelToken }: Config): boolean {
  return Boolean(signal?.aborted || cancelToken?.reason)
}

interface AxiosError {
  response?: { status: number }
  config?: { validateStatus?: ((status: number) => boolean) | null }
}

/** Whether it is the status that axios has refused; a body that was cut off is an error with a response, too. */
function isAboutStatus(error: AxiosError | null | undefined): boolean {
  const { response, config } = error ?? {}
  return response !== undefined && config?.validateStatus?.(response.status) === false
}

/** The stream of a response, as the adapter for Node and that for `fetch` have it. */
const streamOf: typeof endOf = (response, ended, leave) => {
  const { data } = response as { data: unknown }
  const streamed = endOf(data, (ending) => ended(isLeft(ending) ? { outcome: CANCELLED } : ending), leave)
  return streamed === undefined ? undefined : Object.assign(response as object, { data: streamed })
}

/** Whether a reader's pipeline has closed a decompressed body: one that the server cuts off fails with `ECONNRESET`. */
function isLeft(ending: Ending): boolean {
  return 'error' in ending && (ending.error as { code?: unknown } | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

/** As axios makes it of the two. */
function urlOf({ url = '', baseURL, allowAbsoluteUrls }: Config): URL {
  const isWhole = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(url) && allowAbsoluteUrls !== false
  if (!baseURL || isWhole) return new URL(url)
  return new URL(url ? `${baseURL.replace(/\/?\/$/, '')}/${url.replace(/^\/+/, '')}` : baseURL)
}
