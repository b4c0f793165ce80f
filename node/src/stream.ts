/** Calls that end when what they have come to ends. */
import { errorMonitor } from 'node:events'
import { CANCELLED, GOOD } from './gate'
import { watchedGenerator } from './generator'

/** Read to the end (a generator's with its value), given up, or failed. */
export type Ending = { outcome: typeof GOOD; value?: unknown } | { outcome: typeof CANCELLED } | { error: unknown }

/** Told of the ending; what comes after the first is not heard. */
export type Ended = (ending: Ending) => void

/** Ends the call of what nobody has any more. It must know nothing that might have it. */
export type Leave = () => void

/** What to hand out in the place of a result that goes on: something that tells when it ends. Else nothing. */
export function endOf(result: unknown, ended: Ended, leave: Leave): object | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  if (isResponse(result)) return endOfResponse(result, ended, leave)
  if (result instanceof ReadableStream) return endOfWebStream(result, ended, leave)
  if (isNodeStream(result)) return endOfNodeStream(result, ended, leave)
  if (isAsyncGenerator(result)) return watchedGenerator(result, ended, leave)
  return undefined
}

/** `fetch`'s own, or that of a package that has its own `fetch`. */
function isResponse(value: object): value is Response {
  return value instanceof Response || Object.prototype.toString.call(value) === '[object Response]'
}

/** A response whose body tells when it ends; none where there is no body to wait for. */
function endOfResponse(response: Response, ended: Ended, leave: Leave): Response | undefined {
  const body: unknown = response.bodyUsed ? null : response.body
  if (body instanceof ReadableStream) {
    // One of a kind that cannot be made again is not touched: this throws.
    withBody(response, null)
    const watched = endOfWebStream(body, ended, leave)
    return watched && withBody(response, watched)
  }
  const isFollowed = typeof body === 'object' && body !== null && isNodeStream(body) && endOfNodeStream(body, ended, leave)
  return isFollowed ? response : undefined
}

/** A response with another body, and what its constructor cannot set: its class, and what it has been given. */
function withBody(response: Response, body: ReadableStream | null): Response {
  const Type = response instanceof Response ? Response : ((response as Response).constructor as typeof Response)
  const made = new Type(body, response)
  const clone = (): Response => {
    const copy = Type.prototype.clone.call(made)
    return withBody(response, copy.body!)
  }
  Object.setPrototypeOf(made, Object.getPrototypeOf(response) as object)
  Object.defineProperties(made, {
    url: { value: response.url, configurable: true },
    redirected: { value: response.redirected, configurable: true },
    type: { value: response.type, configurable: true },
    clone: { value: clone, configurable: true, writable: true },
  })
  for (const key of Reflect.ownKeys(response)) {
    if (!(key in made)) Object.defineProperty(made, key, Object.getOwnPropertyDescriptor(response, key)!)
  }
  return made
}

/** Streams and generators that nobody has any more, with what is to be done then. */
const lost = new FinalizationRegistry((leave: Leave) => leave())

export function leaveIfLost(stream: object, leave: Leave): void {
  lost.register(stream, leave)
}

/** None for one that has another reader already: it cannot be seen how that ends. */
function endOfWebStream(stream: ReadableStream, ended: Ended, leave: Leave): ReadableStream | undefined {
  if (stream.locked) return undefined
  const type = hasBytes(stream) ? 'bytes' : undefined
  const reader = stream.getReader()
  const end = (ending: Ending): void => {
    lost.unregister(reader)
    ended(ending)
  }
  const source = {
    type,
    async pull(controller: ReadableStreamDefaultController & Partial<ReadableByteStreamController>) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        end({ outcome: GOOD })
        controller.close()
        controller.byobRequest?.respond(0)
      } catch (error) {
        end({ error })
        controller.error(error)
      }
    },
    cancel(reason: unknown) {
      end({ outcome: CANCELLED })
      return reader.cancel(reason)
    },
  }
  // Its type tells which kind of controller it is given.
  const watched = new ReadableStream(source as UnderlyingSource, NOTHING_AHEAD)
  lost.register(watched, leaveAndCancel(leave, reader), reader)
  return watched
}

/** What is read from is told, too. */
function leaveAndCancel(leave: Leave, reader: ReadableStreamDefaultReader): Leave {
  return () => {
    leave()
    reader.cancel().catch(() => {})
  }
}

type UnderlyingSource = ConstructorParameters<typeof ReadableStream>[0] & { type?: undefined }

/** Nothing is read before it is asked for. */
const NOTHING_AHEAD = { highWaterMark: 0 }

/** Whether a stream's readers may bring their own buffers, as those of fetched bodies do. */
function hasBytes(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock()
    return true
  } catch {
    return false
  }
}

interface NodeStream {
  on(event: string | symbol, listener: (...args: any[]) => void): unknown
  pipe: (...args: any[]) => unknown
  readable: unknown
  readableEnded?: boolean
  destroyed?: boolean
  errored?: unknown
  /** Of the response that an HTTP client gets. */
  req?: { aborted?: unknown } | null
}

/** One that can be read: those that can only be written to have a `pipe`, too. */
function isNodeStream(value: object): value is NodeStream {
  const { pipe, on } = value as NodeStream
  return typeof pipe === 'function' && typeof on === 'function' && 'readable' in value
}

function endOfNodeStream(stream: NodeStream, ended: Ended, leave: Leave): object | undefined {
  if (stream.errored) {
    ended(endingWith(stream.errored, stream, []))
    return stream
  }
  if (stream.readableEnded || stream.destroyed) return undefined
  const readers = readersOf(stream)
  // Looks on without being the listener that an error would need.
  stream.on(errorMonitor, (error: unknown) => ended(endingWith(error, stream, readers)))
  stream.on('end', () => ended({ outcome: GOOD }))
  stream.on('close', () => ended({ outcome: CANCELLED }))
  leaveIfLost(stream, leave)
  return stream
}

/** The streams into which it is piped from now on. */
function readersOf(stream: NodeStream): Reader[] {
  const readers: Reader[] = []
  const { pipe } = stream
  const noting = function (this: unknown, ...args: unknown[]): unknown {
    readers.push(args[0] as Reader)
    return Reflect.apply(pipe, this, args)
  }
  Object.defineProperty(stream, 'pipe', { value: noting, writable: true, configurable: true })
  return readers
}

interface Reader {
  destroyed?: boolean
}

/**
 * A reader that leaves a stream early destroys it with an error, too: `pipeline` does so when what it pipes into has
 * been closed. Where it is an HTTP response, Node aborts the request instead, and the response fails as if the server
 * had cut it off.
 */
function endingWith(error: unknown, { req }: NodeStream, readers: Reader[]): Ending {
  const isAborted = (error as { code?: unknown } | undefined)?.code === 'ABORT_ERR' || req?.aborted
  const isLeft = readers.length > 0 && readers.every((reader) => reader?.destroyed)
  return isAborted || isLeft ? { outcome: CANCELLED } : { error }
}

function isAsyncGenerator(value: object): value is AsyncGenerator {
  const { next, return: end, throw: fail, [Symbol.asyncIterator]: iterator } = value as Partial<AsyncGenerator>
  return [next, end, fail, iterator].every((method) => typeof method === 'function')
}
