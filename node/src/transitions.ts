/** Telling of changes. */
import type { Native } from './addon'
import type { Mode, State, Trip } from './breakers'
import { checkSignal, invalid } from './check'
import type { Rule } from './rule'

/** One change of a breaker's state or mode. */
export interface Transition {
  /** The resource's own name, also where a pattern or a default rule guards it. */
  resource: string
  /** The rule, as it was when the change was made. */
  rule: Rule
  /** The breaker's position among its resource's, from 0. */
  position: number
  from: State
  to: State
  fromMode: Mode
  /** The same, except for manual control. */
  toMode: Mode
  /** The value that tripped the breaker, a ratio or a count; 1 where it reopened; otherwise absent. */
  snapshot?: number
  /** In ms, on the registry's clock. */
  at: number
  /** Grows by one with every change of the registry, from 1. */
  sequence: number
  /** The breaker's generation that began. */
  generation: number
  /** Where the breaker opened: why. */
  trip?: Trip
}

export type TransitionListener = (transition: Transition) => void

/** Tells the listeners of one registry in one thread. */
export class Hub {
  readonly #native: Native.NativeRegistry
  readonly #listeners = new Set<{ listener: TransitionListener }>()
  #telling = false
  /** Whether the rest is for a later turn. */
  #isResting = false

  constructor(registry: Native.NativeRegistry) {
    this.#native = registry
  }

  /**
   * Tells of the changes that wait. What a listener changes is told after what it is being told of; where that goes on
   * and on, the rest is for a later turn of the event loop.
   */
  drain(): void {
    if (this.#telling || this.#isResting || this.#listeners.size === 0) return
    this.#telling = true
    try {
      for (let told = 0; told < MOST_AT_ONCE; told++) {
        const change = this.#native.nextChange()
        if (change === null) return
        for (const { listener } of [...this.#listeners]) contained(() => listener(change))
      }
    } finally {
      this.#telling = false
    }
    this.#isResting = true
    const rest = setImmediate(() => {
      this.#isResting = false
      this.drain()
    })
    // Fake timers may have none.
    rest.unref?.()
  }

  listen(listener: TransitionListener): () => void {
    if (typeof listener !== 'function') throw invalid('listener', listener, 'a function')
    if (this.#listeners.size === 0) this.#begin()
    const place = { listener }
    this.#listeners.add(place)
    return () => {
      if (this.#listeners.delete(place) && this.#listeners.size === 0) this.#native.observe(null)
    }
  }

  /** The native part keeps what wakes it for ever, so that must not keep this hub. */
  #begin(): void {
    const weak = new WeakRef(this)
    this.#native.observe(() => weak.deref()?.drain())
  }
}

/** Far more than one call, or one change by hand, makes where listeners make no others. */
const MOST_AT_ONCE = 1000

/** Calls what is a user's: what it throws, or rejects with, is reported aside. */
export function contained(call: () => unknown): void {
  try {
    const result = call()
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
      Promise.resolve(result).then(undefined, (error) => report('listener', error))
    }
  } catch (error) {
    report('listener', error)
  }
}

/** Tells of an error that no caller is there to get. */
export function report(whose: 'listener' | 'classifier', error: unknown): void {
  const code = `TRIPCOIL_${whose.toUpperCase()}`
  process.emitWarning(`a ${whose} failed: ${shown(error)}`, { type: 'TripcoilWarning', code })
}

/** What is thrown may be anything, and fail in turn when it is looked at. */
function shown(error: unknown): string {
  try {
    return String(error instanceof Error ? error.stack : error)
  } catch {
    return 'it threw what cannot be shown'
  }
}

/** Options of `registry.transitions`. */
export interface TransitionsOptions {
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
  /** How many changes wait for the iterator at most, from 1; then the oldest are lost. Default: 1024. */
  buffer?: number | undefined
}

/** Changes as an async iterator, from now on. It keeps no event loop alive. */
export function transitions(hub: Hub, { signal, buffer = 1024 }: TransitionsOptions): AsyncIterableIterator<Transition> {
  checkSignal('signal', signal)
  if (!Number.isSafeInteger(buffer) || buffer < 1) throw invalid('buffer', buffer, 'a whole number from 1')
  const waiting: Transition[] = []
  const readers: ((result: IteratorResult<Transition>) => void)[] = []
  const done = { done: true, value: undefined } as const
  let ended = false
  const end = (): void => {
    ended = true
    unlisten()
    signal?.removeEventListener('abort', end)
    for (const reader of readers.splice(0)) reader(done)
  }
  const unlisten = hub.listen((transition) => {
    const reader = readers.shift()
    if (reader) return reader({ done: false, value: transition })
    if (waiting.length === buffer) waiting.shift()
    waiting.push(transition)
  })
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end)
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      const value = waiting.shift()
      if (value) return Promise.resolve({ done: false, value })
      return ended ? Promise.resolve(done) : new Promise((resolve) => readers.push(resolve))
    },
    return() {
      end()
      waiting.length = 0
      return Promise.resolve(done)
    },
  }
}
