import { invalid, optionsOf } from './check'
import { BAD, CANCELLED, Gate, GOOD, IGNORED, type Outcome } from './gate'

/** How an entry can be ended besides. */
export interface ExitOptions {
  /** A response time in ms that the caller has measured; without it, the time since the call was admitted. */
  responseTime?: number
}

/** What an entry holds: apart from it, so that it is still there when the entry has been lost. */
interface Held {
  readonly gate: Gate
  readonly token: number
  readonly exitWith: (token: number, responseTime: number) => boolean
  hasEnded: boolean
}

/**
 * An admitted call, from {@link Resource.enter} to its end. It ends once; each method that ends it says whether
 * it was the first to do so.
 *
 * One that is left unfinished by `using`, or that is lost, is a call without outcome: it counts nowhere, and a
 * probe's place is free again (for a lost one, when the garbage collector finds it). JavaScript does not tell
 * whether a block was left by an error, so a failed call must be said to have failed: `entry.fail()`.
 */
export class Entry {
  /** The resource's name. */
  readonly resource: string
  readonly #held: Held
  #bad = false

  /** @internal */
  constructor(resource: string, gate: Gate, token: number, exitWith: Held['exitWith']) {
    if (!(gate instanceof Gate)) throw invalid('new Entry', undefined, "asked of a resource: `resource.enter()`")
    this.resource = resource
    this.#held = { gate, token, exitWith, hasEnded: false }
    lost.register(this, this.#held)
  }

  /** Whether it has ended. */
  get hasEnded(): boolean {
    return this.#held.hasEnded
  }

  /** Ends the call well, unless it was marked bad. */
  exit(options?: ExitOptions): boolean {
    return end(this.#held, this.#bad ? BAD : GOOD, options)
  }

  /** Ends the call as failed. */
  fail(options?: ExitOptions): boolean {
    return end(this.#held, BAD, options)
  }

  /** Ends the call without outcome: its result says nothing of the dependency. */
  ignore(): boolean {
    return end(this.#held, IGNORED)
  }

  /** Ends the call without outcome: the caller gave up. */
  cancel(): boolean {
    return end(this.#held, CANCELLED)
  }

  /** Makes a later `exit()` count as failed: for errors that do not show in what the call returns. */
  markBad(): void {
    this.#bad = true
  }

  /** As `cancel()`, for `using`. */
  [Symbol.dispose](): void {
    end(this.#held, CANCELLED)
  }
}

const lost = new FinalizationRegistry((held: Held) => end(held, CANCELLED))

function end(held: Held, outcome: Outcome, options?: ExitOptions): boolean {
  const responseTime = options === undefined ? undefined : responseTimeOf(options)
  if (held.hasEnded) return false
  if (responseTime === undefined) {
    held.hasEnded = true
    held.gate.exit(held.token, outcome)
    return true
  }
  held.hasEnded = true
  if (held.exitWith(held.token + outcome, responseTime)) held.gate.hub.drain()
  return true
}

function responseTimeOf(options: ExitOptions): number | undefined {
  if (options instanceof Error) throw invalid('options', options, 'an object with a responseTime: an error is not asked for')
  const { responseTime } = optionsOf('options', options, EXIT_OPTIONS)
  const isTime = responseTime === undefined || (typeof responseTime === 'number' && responseTime >= 0)
  if (!isTime) throw invalid('responseTime', responseTime, 'a number of milliseconds from 0')
  return responseTime
}

const EXIT_OPTIONS: ReadonlySet<string> = new Set(['responseTime'])
