import { doors, type Native } from './addon'
import { invalid, optionsOf } from './check'
import { BAD, CANCELLED, Gate, GOOD, IGNORED, type Outcome } from './gate'
import type { Hub } from './transitions'

const { exit } = doors

/** How an entry can be ended besides. */
export interface ExitOptions {
  /** A response time in ms that the caller has measured; without it, the time since the call was admitted. */
  responseTime?: number
}

/** What an entry holds: apart from it, so that it is still there when the entry has been lost. */
interface Held {
  readonly hub: Gate['weakHub']
  readonly token: number
  readonly native: Native.NativeResource
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
  /** Whose listeners are told as long as this is here. */
  readonly #gate: Gate
  #bad = false

  /** @internal */
  constructor(resource: string, gate: Gate, token: number, native: Native.NativeResource) {
    if (!(gate instanceof Gate)) throw invalid('new Entry', undefined, "asked of a resource: `resource.enter()`")
    this.resource = resource
    this.#gate = gate
    this.#held = { hub: gate.weakHub, token, native, hasEnded: false }
    lost.register(this, this.#held)
  }

  /** Whether it has ended. */
  get hasEnded(): boolean {
    return this.#held.hasEnded
  }

  /** Ends the call well, unless it was marked bad. */
  exit(options?: ExitOptions): boolean {
    return this.#end(this.#bad ? BAD : GOOD, options)
  }

  /** Ends the call as failed. */
  fail(options?: ExitOptions): boolean {
    return this.#end(BAD, options)
  }

  /** Ends the call without outcome: its result says nothing of the dependency. */
  ignore(): boolean {
    return this.#end(IGNORED)
  }

  /** Ends the call without outcome: the caller gave up. */
  cancel(): boolean {
    return this.#end(CANCELLED)
  }

  /** Makes a later `exit()` count as failed: for errors that do not show in what the call returns. */
  markBad(): void {
    this.#bad = true
  }

  /** As `cancel()`, for `using`. */
  [Symbol.dispose](): void {
    this.#end(CANCELLED)
  }

  #end(outcome: Outcome, options?: ExitOptions): boolean {
    const responseTime = options === undefined ? undefined : responseTimeOf(options)
    return end(this.#held, this.#gate.hub, outcome, responseTime)
  }
}

const lost = new FinalizationRegistry((held: Held) => end(held, held.hub.deref(), CANCELLED, undefined))

function end(held: Held, hub: Hub | undefined, outcome: Outcome, responseTime: number | undefined): boolean {
  if (held.hasEnded) return false
  held.hasEnded = true
  const token = held.token + outcome
  const isChanged = responseTime === undefined ? exit(token) : held.native.exitWith(token, responseTime)
  if (isChanged) hub?.drain()
  return true
}

function responseTimeOf(options: ExitOptions): number | undefined {
  if (options instanceof Error) throw invalid('options', options, 'an object with a responseTime: an error is not asked for')
  // The usual way by itself, which is quick.
  const isUsual = typeof options === 'object' && options !== null && isOnly(Object.keys(options), 'responseTime')
  const { responseTime } = isUsual ? options : optionsOf('options', options, EXIT_OPTIONS)
  const isTime = responseTime === undefined || (typeof responseTime === 'number' && responseTime >= 0)
  if (!isTime) throw invalid('responseTime', responseTime, 'a number of milliseconds from 0')
  return responseTime
}

function isOnly(names: string[], name: string): boolean {
  return names.length === 1 && names[0] === name
}

const EXIT_OPTIONS: ReadonlySet<string> = new Set(['responseTime'])
