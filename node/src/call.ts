/** A guarded call with all that can be wanted of it: time-outs, signals, fallbacks, streams. */
import { EventEmitter, getMaxListeners, setMaxListeners } from 'node:events'
import { withSignal } from './carrier'
import { isBlocked, TimeoutError } from './errors'
import { BAD, CANCELLED, CHANGED, endStranded, GOOD, Lease, type Outcome, stranded } from './gate'
import type { Policy } from './policy'
import type { Ending, Leave } from './stream'
import { storage, type Traced } from './trace'
import { report } from './transitions'

type Fn = (...args: any[]) => unknown

/** How a call went, for those who count: what `Breaker` makes its events of. They do not throw. */
export interface Events {
  success(value: unknown): void
  failure(error: unknown): void
  timeout(error: unknown): void
  reject(error: unknown): void
  fallback(value: unknown): void
}

/** Calls `fn` if it is admitted. Never throws: whatever goes wrong is a rejection. */
export function call(policy: Policy, fn: Fn, self: unknown, args: unknown[], events?: Events): Promise<unknown> {
  // What throws in here rejects.
  return new Promise((resolve, reject) => {
    const signal = policy.callerSignal(args)
    if (signal?.aborted) return reject(signal.reason)
    const made = new Call(policy, fn, self, args, signal, events, resolve, reject)
    try {
      made.begin()
    } catch (error) {
      // There was no stack to end it with, or to tell of that it has.
      const { out } = made
      if (out.token >= 0) stranded[stranded.length] = out.token
      out.token = -1
      throw error
    }
  })
}

const NO_ARGS: unknown[] = []
/** Outside of all functions, so that it keeps nothing of theirs. */
const nothing = (): void => {}

/** One call. It ends once: by its function, its time-out, or its caller. */
class Call {
  readonly #policy: Policy
  #fn: Fn | undefined
  #self: unknown
  #args: unknown[]
  /** The caller's. */
  readonly #signal: AbortSignal | undefined
  readonly #events: Events | undefined
  #resolve: (value: unknown) => void
  #reject: (error: unknown) => void
  readonly #resource: string
  /** Of the signal that the function is given. */
  #controller: AbortController | undefined
  #traced: Traced | undefined
  #onAbort: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Where it is ended, until it is a lease's. */
  readonly out = { token: -1 }
  /** The call of a result that goes on. */
  #lease: Lease | undefined
  /** Whether it has its outcome. */
  #hasEnded = false

  constructor(
    policy: Policy,
    fn: Fn,
    self: unknown,
    args: unknown[],
    signal: AbortSignal | undefined,
    events: Events | undefined,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#policy = policy
    this.#fn = fn
    this.#self = self
    this.#args = args
    this.#signal = signal
    this.#events = events
    this.#resolve = resolve
    this.#reject = reject
    this.#resource = policy.resourceOf(self, args)
  }

  begin(): void {
    const { gate, onBlocked, fallback } = this.#policy
    const refusal = this.#policy.refuse?.()
    if (stranded.length > 0) endStranded()
    if (refusal === undefined) this.out.token = this.#policy.enter(this.#resource)
    const { token } = this.out
    if (token < 0) {
      const error = refusal ?? gate.blocked(token, this.#resource)
      this.#events?.reject(error)
      return this.#recover(error, onBlocked ?? fallback)
    }
    if (token & CHANGED) gate.hub.drain()
    let result: unknown
    try {
      this.#watch()
      if (this.#hasEnded) return
      result = this.#run()
    } catch (error) {
      return this.#rejected(error)
    }
    // Adopts thenables of whatever kind; a promise's own constructor may throw.
    new Promise((resolve) => resolve(result)).then(this.#fulfilled, this.#rejected)
  }

  /** Minds the time, and the caller. */
  #watch(): void {
    const { timeout, signalAt, trace } = this.#policy
    if (signalAt !== undefined) this.#controller = new AbortController()
    if (trace) this.#traced = { policy: this.#policy, isBad: false }
    if (this.#signal !== undefined) {
      this.#onAbort = () => this.#aborted()
      allowManyCalls(this.#signal)
      this.#signal.addEventListener('abort', this.#onAbort)
      // By the function that named the resource, or by a listener: the signal tells of that nobody who comes later.
      if (this.#signal.aborted) return this.#aborted()
    }
    if (timeout === undefined) return
    // Looked up now, so that fake timers take its place; and it keeps no event loop alive.
    this.#timer = setTimeout(() => this.#timedOut(), timeout)
    this.#timer.unref?.()
  }

  #run(): unknown {
    const { signal } = this.#controller ?? {}
    const args = signal === undefined ? this.#args : withSignal(this.#args, this.#policy.signalAt!, signal)
    const run = (): unknown => Reflect.apply(this.#fn!, this.#self, args)
    return this.#traced === undefined ? run() : storage.run(this.#traced, run)
  }

  /** Gives the call its outcome; false where it has one already. */
  #end(outcome: Outcome): boolean {
    if (this.#hasEnded) return false
    this.#hasEnded = true
    clearTimeout(this.#timer)
    const isBad = outcome === GOOD && this.#traced?.isBad
    const judged = isBad ? BAD : outcome
    if (this.#lease !== undefined) return this.#lease.end(judged)
    this.#policy.gate.exitOut(this.out, judged)
    return true
  }

  /** Ends the call as failed; that is told before what it changes, as with opossum. */
  #fail(error: unknown): void {
    // Who is told may move the time on.
    clearTimeout(this.#timer)
    this.#events?.failure(error)
    this.#end(BAD)
  }

  /** The caller can stop nothing any more. */
  release(): void {
    if (this.#onAbort !== undefined) this.#signal!.removeEventListener('abort', this.#onAbort)
  }

  #aborted(): void {
    const { reason } = this.#signal!
    this.release()
    if (this.#end(CANCELLED)) this.#reject(reason)
    this.#controller?.abort(reason)
  }

  #timedOut(): void {
    if (this.#hasEnded) return
    this.release()
    const error = new TimeoutError(this.#resource, this.#policy.timeout!)
    this.#events?.timeout(error)
    this.#fail(error)
    this.#recover(error, this.#policy.fallback)
    this.#controller?.abort(error)
  }

  readonly #fulfilled = (value: unknown): void => {
    if (this.#hasEnded) return
    const outcome = this.#judged(() => this.#policy.ofResult(value))
    if (outcome === undefined) return
    // What goes on can still be stopped by the caller, even if it is clear already how the call has gone.
    const streamed = this.#policy.stream && isObject(value) ? this.#followed(value) : undefined
    if (streamed === undefined) this.release()
    if (streamed === undefined || outcome !== GOOD) this.#end(outcome)
    else clearTimeout(this.#timer)
    this.#events?.success(value)
    const resolve = this.#resolve
    // They know the promise, and that its stream: a call that waits for its end must not keep what it waits for.
    this.#resolve = this.#reject = nothing
    this.#fn = this.#self = undefined
    if (this.#policy.hasLeft === undefined) this.#args = NO_ARGS
    resolve(streamed ?? value)
  }

  /** What to hand out for a result that goes on; nothing for one that does not, or whose end cannot be seen. */
  #followed(value: unknown): object | undefined {
    const lease = new Lease(this.out.token, this.#policy.gate)
    this.#lease = lease
    this.out.token = -1
    try {
      return this.#policy.endOf(value, this.#streamed, leaving(lease, this.#signal && new WeakRef(this)))
    } catch {
      return undefined
    }
  }

  readonly #rejected = (error: unknown): void => {
    if (this.#hasEnded) return
    this.release()
    const outcome = this.#judged(() => this.#ofError(error))
    if (outcome === undefined) return
    if (outcome === BAD) this.#fail(error)
    else this.#end(outcome)
    this.#recover(error, outcome === BAD || isBlocked(error) ? this.#policy.fallback : undefined)
  }

  /** How a stream that the call has come to has ended. */
  readonly #streamed = (ending: Ending): void => {
    this.release()
    if (!('error' in ending)) return void this.#end(ending.outcome)
    try {
      this.#end(this.#ofError(ending.error))
    } catch (failure) {
      // Whoever reads the stream has its error, and nobody waits for this one.
      if (this.#end(BAD)) report('classifier', failure)
    }
  }

  #ofError(error: unknown): Outcome {
    return this.#policy.hasLeft?.(this.#args) ? CANCELLED : this.#policy.ofError(error)
  }

  /** An outcome; none where judging failed, and the call with it. */
  #judged(judge: () => Outcome): Outcome | undefined {
    try {
      return judge()
    } catch (failure) {
      this.release()
      this.#fail(failure)
      this.#reject(failure)
      return undefined
    }
  }

  /** Resolves with what the user has instead of a result, or rejects. */
  #recover(error: any, instead: ((error: any, ...args: any[]) => unknown) | undefined): void {
    if (instead === undefined) return this.#reject(error)
    try {
      const value = Reflect.apply(instead, this.#self, [error, ...this.#args])
      this.#events?.fallback(value)
      this.#resolve(value)
    } catch (failure) {
      this.#reject(failure)
    }
  }
}

/** A signal may be that of many calls at once, of which Node would warn; `fetch` does the same. */
function allowManyCalls(signal: AbortSignal): void {
  if (!(signal instanceof EventTarget) || getMaxListeners(signal) !== EventEmitter.defaultMaxListeners) return
  setMaxListeners(MOST_CALLS, signal)
}

const MOST_CALLS = 1500

/** By itself, so that it knows no more than it needs: of the call itself only as long as its signal does. */
function leaving(lease: Lease, call: WeakRef<Call> | undefined): Leave {
  return () => {
    lease.end(CANCELLED)
    call?.deref()?.release()
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
