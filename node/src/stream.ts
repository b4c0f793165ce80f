/** Calls that end when what they have come to ends. */
import { errorMonitor } from 'node:events'
import { CANCELLED, GOOD } from './gate'

/** Read to the end, given up, or failed. */
export type Ending = { outcome: typeof GOOD | typeof CANCELLED } | { error: unknown }

/** Told of the ending; what comes after the first is not heard. */
export type Ended = (ending: Ending) => void

/** What to hand out in the place of a result that goes on: something that tells when it ends. Else nothing. */
export function endOf(result: unknown, ended: Ended): object | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  if (result instanceof Response) return endOfResponse(result, ended)
  if (result instanceof ReadableStream) return endOfWebStream(result, ended)
  if (isNodeStream(result)) return endOfNodeStream(result, ended)
  if (isAsyncGenerator(result)) return endOfGenerator(result, ended)
  return undefined
}

/** A response whose body tells when it ends; none where there is no body to wait for. */
function endOfResponse(response: Response, ended: Ended): Response | undefined {
  if (response.body === null || response.bodyUsed) return undefined
  return withBody(response, endOfWebStream(response.body, ended))
}

/** A response with another body, and what its constructor cannot set. */
function withBody(response: Response, body: ReadableStream): Response {
  const made = new Response(body, response)
  const clone = (): Response => {
    const copy = Response.prototype.clone.call(made)
    return withBody(response, copy.body!)
  }
  return Object.defineProperties(made, {
    url: { value: response.url, configurable: true },
    redirected: { value: response.redirected, configurable: true },
    type: { value: response.type, configurable: true },
    clone: { value: clone, configurable: true, writable: true },
  })
}

/** Streams that nobody reads any more: what they read from is cancelled, and their calls have no outcome. */
const lost = new FinalizationRegistry(({ reader, ended }: { reader: ReadableStreamDefaultReader; ended: Ended }) => {
  ended({ outcome: CANCELLED })
  reader.cancel().catch(() => {})
})

function endOfWebStream(stream: ReadableStream, ended: Ended): ReadableStream {
  const reader = stream.getReader()
  const watched = new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          ended({ outcome: GOOD })
          controller.close()
        } catch (error) {
          ended({ error })
          controller.error(error)
        }
      },
      cancel(reason) {
        ended({ outcome: CANCELLED })
        return reader.cancel(reason)
      },
    },
    // Nothing is read before it is asked for.
    { highWaterMark: 0 },
  )
  lost.register(watched, { reader, ended })
  return watched
}

interface NodeStream {
  on(event: string | symbol, listener: (...args: any[]) => void): unknown
  pipe: unknown
  readableEnded?: boolean
  destroyed?: boolean
}

function isNodeStream(value: object): value is NodeStream {
  return typeof (value as NodeStream).pipe === 'function' && typeof (value as NodeStream).on === 'function'
}

function endOfNodeStream(stream: NodeStream, ended: Ended): object | undefined {
  if (stream.readableEnded || stream.destroyed) return undefined
  // Looks on without being the listener that an error would need.
  stream.on(errorMonitor, (error: unknown) => ended(isAbort(error) ? { outcome: CANCELLED } : { error }))
  stream.on('end', () => ended({ outcome: GOOD }))
  stream.on('close', () => ended({ outcome: CANCELLED }))
  return stream
}

/** A reader that leaves a stream early destroys it with this. */
function isAbort(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ABORT_ERR'
}

function isAsyncGenerator(value: object): value is AsyncGenerator {
  const { next, return: end, [Symbol.asyncIterator]: iterator } = value as Partial<AsyncGenerator>
  return typeof next === 'function' && typeof end === 'function' && typeof iterator === 'function'
}

async function* endOfGenerator(generator: AsyncGenerator, ended: Ended): AsyncGenerator {
  let ending: Ending = { outcome: CANCELLED }
  try {
    const value: unknown = yield* generator
    ending = { outcome: GOOD }
    return value
  } catch (error) {
    ending = { error }
    throw error
  } finally {
    ended(ending)
  }
}
