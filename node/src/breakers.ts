import type { Native } from './addon'
import { invalid } from './check'
import type { Registry } from './registry'
import type { Rule } from './rule'

/** A breaker's state: a breaker whose wait is over reads open until a call comes. */
export type State = 'closed' | 'open' | 'halfOpen'

/**
 * What a breaker does, whatever its state: decide; reject everything; admit and count everything; or decide and
 * tell, but reject nothing.
 */
export type Mode = 'normal' | 'forcedOpen' | 'disabled' | 'observeOnly'

/** A breaker at one time. */
export interface Snapshot {
  state: State
  mode: Mode
  /** Grows with every change of state or mode, and every forfeited probe round. */
  generation: number
  /** Calls in the window that were not bad. */
  good: number
  /** Calls in the window that were bad: slow, for the slow ratio; failed, for the others. */
  bad: number
  /** Failed calls since the last good one, for consecutive errors; else 0. */
  run: number
  /** In ms, until the next probe may go; absent where none is waited for, or without a limit. */
  retryAfter?: number
  /** Since the rule was loaded. */
  totals: Totals
}

/** What a breaker has seen since its rule was loaded. */
export interface Totals {
  /** Calls admitted that have ended. */
  passed: number
  /** Calls rejected. */
  blocked: number
  /** Outcomes that counted as good, and as bad. */
  good: number
  bad: number
  /** Calls without outcome: ignored, or given up. */
  ignored: number
  cancelled: number
  /** Outcomes that came after the breaker had moved on. */
  late: number
  /** Calls that a breaker in `observeOnly` would have rejected. */
  observed: number
}

/** Why a breaker opened. */
export interface Trip {
  /** Its condition came true, a probe ended badly, or the last probe had no outcome. */
  cause: 'condition' | 'probeFailed' | 'probeGivenBack' | 'unknown'
  /** The ratio or count that was compared; 1 where it reopened. */
  value: number
  threshold: number
  /** Calls in the window that were not bad, and that were; for consecutive errors, the run. */
  good: number
  bad: number
  /** The length of the window in ms. */
  window: number
  /** When, in ms on the registry's clock; and until when it is open: Infinity for ever. */
  at: number
  openUntil: number
  /** All of it as a sentence. */
  explanation: string
}

/**
 * One rule's breaker on one resource. One whose rule has been removed since reads as one that has never been used,
 * and cannot be controlled.
 */
export class RuleBreaker {
  readonly #native: Native.NativeBreaker
  readonly #registry: Registry

  /** @internal */
  constructor(breaker: Native.NativeBreaker, registry: Registry) {
    this.#native = breaker
    this.#registry = registry
  }

  /** The rule, as it was when the breaker was asked for. */
  get rule(): Rule {
    return this.#native.rule()
  }

  /** The state. */
  get state(): State {
    return this.snapshot().state
  }

  /** Whether a reload has removed its rule. */
  get isRemoved(): boolean {
    return this.#native.isRemoved()
  }

  /** Why it last opened. */
  get lastTrip(): Trip | undefined {
    return this.#native.lastTrip() ?? undefined
  }

  /** State, counts and totals. Reading changes nothing. */
  snapshot(): Snapshot {
    return this.#native.snapshot()
  }

  /** Sets the mode, which closes the breaker and clears its window. Says whether the breaker was still in use. */
  setMode(mode: Mode): boolean {
    const done = this.#native.setMode(checkMode(mode))
    this.#registry.hub.drain()
    return done
  }

  /** Closes the breaker and clears its window within its mode. Says whether the breaker was still in use. */
  reset(): boolean {
    const done = this.#native.reset()
    this.#registry.hub.drain()
    return done
  }
}

export function checkMode(mode: unknown): string {
  if (typeof mode === 'string' && MODES.includes(mode)) return mode
  throw invalid('mode', mode, `one of ${MODES.join(', ')}`)
}

const MODES: readonly string[] = ['normal', 'forcedOpen', 'disabled', 'observeOnly'] satisfies Mode[]
