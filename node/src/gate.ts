/** Where calls enter and leave, and why some do not. */
import { doors, type Native, pulse } from './addon'
import { quoted } from './check'
import { circuitOpen, type CircuitOpenError, type Reason } from './errors'
import type { Hub } from './transitions'

/** Where the native part has what the last rejection was about. */
export interface Source {
  /** Whether equal numbers mean equal reasons. */
  readonly sharesReasons: boolean
  reason(): Native.Reason | null
  retryAfter(): number
}

/** Added to an entry's token to end it. */
export const GOOD = 0
export const BAD = 1
export const IGNORED = 2
export const CANCELLED = 3
export type Outcome = typeof GOOD | typeof BAD | typeof IGNORED | typeof CANCELLED

/** A bit of a token: changes wait to be told. */
export const CHANGED = 4

// Constants of the module, so that the engine knows which functions are called.
const { exit } = doors

/** A call that is out. */
export interface Out {
  /** Negative once it has ended. */
  token: number
}

/**
 * Calls that could not be ended for want of stack. They have failed, and are ended when another one asks for leave. What is
 * done to put one here must call nothing.
 */
export const stranded: number[] = []

export function endStranded(): void {
  for (const token of stranded.splice(0)) exit(token + BAD)
}

/** Ends calls, and makes the errors of those that were blocked. */
export class Gate {
  readonly hub: Hub
  /** For what must not keep the hub, and with it all listeners. */
  readonly weakHub: WeakRef<Hub>
  readonly #source: Source
  #number = 0
  /** The pulse when the reason was asked for: a load may have edited the rule since. */
  #beat = -1
  #reason: Reason | undefined

  constructor(source: Source, hub: Hub) {
    this.#source = source
    this.hub = hub
    this.weakHub = new WeakRef(hub)
  }

  /** Ends a call. */
  exit(token: number, outcome: Outcome): void {
    if (exit(token + outcome)) this.hub.drain()
  }

  /** As `exit`, for one that must not be lost whatever fails. */
  exitOut(out: Out, outcome: Outcome): void {
    if (out.token < 0) return
    const isChanged = exit(out.token + outcome)
    out.token = -1
    if (isChanged) this.hub.drain()
  }

  /** As `end`, for one that must not be lost whatever fails. */
  endOut(out: Out, judge: () => Outcome): void {
    let outcome: Outcome = BAD
    try {
      outcome = judge()
    } finally {
      this.exitOut(out, outcome)
    }
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

  /** The error of a call on a resource that is held open, but has no breakers. */
  heldOpen(resource: string): CircuitOpenError {
    return circuitOpen(resource, reason(resource, { state: 'closed', mode: 'forcedOpen' }), Infinity)
  }

  /** The error of a call that was blocked, for what `enter` gave. */
  blocked(token: number, resource: string): CircuitOpenError {
    const beat = pulse[0]!
    if (this.#number !== token || this.#beat !== beat || !this.#source.sharesReasons) {
      this.#number = token
      this.#beat = beat
      this.#reason = reason(resource, this.#source.reason())
    }
    return circuitOpen(resource, this.#reason!, this.#source.retryAfter())
  }
}

/**
 * A call that is out, as it can be ended when nobody has it any more: it keeps nothing of its user's, which might
 * have what it waits to lose.
 */
export class Lease {
  #token: number
  readonly #hub: WeakRef<Hub>

  constructor(token: number, gate: Gate) {
    this.#token = token
    this.#hub = gate.weakHub
  }

  get hasEnded(): boolean {
    return this.#token < 0
  }

  /** Ends the call, the first time. */
  end(outcome: Outcome): boolean {
    const token = this.#token
    if (token < 0) return false
    this.#token = -1
    if (exit(token + outcome)) this.#hub.deref()?.drain()
    return true
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
    headline: `call blocked: the breaker of ${quoted(resource)} ${why}`,
  }
}
