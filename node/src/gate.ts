/** Where calls enter and leave, and why some do not. */
import type { Native } from './addon'
import { circuitOpen, type CircuitOpenError, type Reason } from './errors'
import type { Hub } from './transitions'

/** Added to an entry's token to end it. */
export const GOOD = 0
export const BAD = 1
export const IGNORED = 2
export const CANCELLED = 3
export type Outcome = typeof GOOD | typeof BAD | typeof IGNORED | typeof CANCELLED

/** A bit of a token: changes wait to be told. */
export const CHANGED = 4

/** What the native part has for one resource, or for all resources by name. */
interface Doors {
  exit(token: number): boolean
  retryAfter(): number
}

/** Ends calls, and makes the errors of those that were blocked. */
export class Gate {
  readonly hub: Hub
  readonly #exit: (token: number) => boolean
  readonly #retryAfter: () => number
  readonly #readReason: () => Native.Reason | null
  #number = 0
  #reason: Reason | undefined

  constructor(doors: Doors, readReason: () => Native.Reason | null, hub: Hub) {
    this.#exit = doors.exit
    this.#retryAfter = doors.retryAfter
    this.#readReason = readReason
    this.hub = hub
  }

  /** Ends a call. */
  exit(token: number, outcome: Outcome): void {
    if (this.#exit(token + outcome)) this.hub.drain()
  }

  /** Ends a call as it is judged: where judging throws, as bad, and what it throws goes on. */
  end(token: number, judge: () => Outcome): void {
    let outcome: Outcome = BAD
    try {
      outcome = judge()
    } finally {
      this.exit(token, outcome)
    }
  }

  /** The error of a call that was blocked, for what `enter` gave. */
  blocked(token: number, resource: string): CircuitOpenError {
    if (this.#number !== token) {
      this.#number = token
      this.#reason = reason(resource, this.#readReason())
    }
    return circuitOpen(resource, this.#reason!, this.#retryAfter())
  }
}

function reason(resource: string, read: Native.Reason | null): Reason {
  const state = read?.state ?? 'open'
  const mode = read?.mode ?? 'normal'
  const why =
    mode === 'forcedOpen' ? 'is forced open' : state === 'halfOpen' ? 'is half-open and its probes are out' : 'is open'
  return {
    state,
    mode,
    rule: read?.rule && Object.freeze(read.rule),
    ruleText: read?.ruleText,
    headline: `call blocked: the breaker of ${JSON.stringify(resource)} ${why}`,
  }
}
