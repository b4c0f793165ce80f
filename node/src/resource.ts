import { doors, native, type Native } from './addon'
import { checkMode, type Mode, RuleBreaker, type State } from './breakers'
import { call } from './call'
import { checkSignal, invalid, optionsOf } from './check'
import { Entry } from './entry'
import { CHANGED, Gate } from './gate'
import { Passes } from './pass'
import { CALL_OPTIONS, type CallOptions, Policy } from './policy'
import type { Registry } from './registry'

const { enter } = doors
const { retryAfter } = native

/** What the legacy check counts, in its last second. */
export interface LegacyStatistics {
  /** Calls admitted, and rejected. */
  pass: number
  block: number
  /** Calls that ended, failed ones too, and those that failed. */
  success: number
  exception: number
  /** Response times of the calls that ended in ms, each capped at 4900. */
  rt: number
}

/** Options of `resource.call`. */
export interface OneCallOptions<T, B = never, F = never> extends Omit<CallOptions<[], T, B, F>, 'signal'> {
  /** The caller's: when it is aborted, the call ends without outcome, and rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** What a function that is called by `resource.call` is given. */
export interface CallContext {
  /** Aborted when the call is timed out, or by the caller's own signal. */
  readonly signal: AbortSignal
}

/** What a {@link Breaker} holds until it is told otherwise. */
export interface Held {
  readonly open: boolean
  readonly disabled: boolean
}

/** A named thing to protect. Made by {@link Registry.resource}; keep it: it stays valid over reloads. */
export class Resource {
  /** The name. */
  readonly name: string
  /** Where it is from. */
  readonly registry: Registry
  /** @internal */
  readonly gate: Gate
  /** For the doors. @internal */
  readonly number: number
  /** @internal */
  readonly passes: Passes
  readonly #native: Native.NativeResource
  /** Of calls without options. */
  #policy: Policy | undefined

  /** @internal */
  constructor(name: string, resource: Native.NativeResource, registry: Registry) {
    this.name = name
    this.registry = registry
    this.#native = resource
    this.number = resource.number
    const source = { sharesReasons: true, reason: () => resource.reason(), retryAfter: () => retryAfter(this.number) }
    this.gate = new Gate(source, registry.hub)
    this.passes = new Passes(this.number)
  }

  /**
   * Asks for leave to make a call, and begins it: for calls that begin and end in different places.
   *
   * @throws {CircuitOpenError} The call must not be made.
   */
  enter(): Entry {
    const token = enter(this.number)
    if (token < 0) throw this.gate.blocked(token, this.name)
    return this.#entry(token)
  }

  /** As `enter`, but gives nothing where the call must not be made: without an error, that is cheap. */
  tryEnter(): Entry | undefined {
    const token = enter(this.number)
    return token < 0 ? undefined : this.#entry(token)
  }

  #entry(token: number): Entry {
    if (token & CHANGED) this.gate.hub.drain()
    return new Entry(this.name, this.gate, token, this.#native)
  }

  /**
   * Calls `fn` if the breakers admit it. Options as for {@link breaker}, except that `signal` is the caller's own;
   * `fn` is given one that also ends with the `timeout`.
   */
  call<T, B = never, F = never>(
    fn: (context: CallContext) => T,
    options?: OneCallOptions<T, B, F>,
  ): Promise<Awaited<T> | Awaited<B> | Awaited<F>> {
    if (typeof fn !== 'function') throw invalid('fn', fn, 'a function')
    const given: OneCallOptions<T, B, F> = options === undefined ? {} : optionsOf('options', options, CALL_OPTIONS)
    const policy = options === undefined ? (this.#policy ??= this.#policyOf({})) : this.#policyOf(given)
    const { signal } = given
    checkSignal('signal', signal)
    const guarded = call(policy, fn as (context: CallContext) => unknown, undefined, [signal ? { signal } : {}])
    return guarded as Promise<Awaited<T> | Awaited<B> | Awaited<F>>
  }

  #policyOf(options: OneCallOptions<any, any, any>): Policy {
    const policy = new Policy(options, this)
    policy.signalAt = 0
    return policy
  }

  /** The breakers that guard it, in the order in which they are asked. */
  breakers(): RuleBreaker[] {
    return this.#native.breakers().map((breaker) => new RuleBreaker(breaker, this.registry))
  }

  /** The breakers' states, in the same order. */
  states(): State[] {
    return this.#native.states()
  }

  /** The state that says most: open if a breaker is, else halfOpen if one is, else closed. */
  get state(): State {
    const states = this.states()
    return (['open', 'halfOpen'] as const).find((state) => states.includes(state)) ?? 'closed'
  }

  /** Sets the mode of all breakers that it has now, which closes them, and says how many there were. */
  setMode(mode: Mode): number {
    const checked = checkMode(mode)
    this.registry.held.delete(this.name)
    return this.#setMode(checked)
  }

  #setMode(mode: string): number {
    const count = this.#native.setMode(mode)
    this.gate.hub.drain()
    return count
  }

  /** The mode that is held. @internal */
  get heldMode(): Mode {
    const { open, disabled } = this.registry.held.get(this.name) ?? NOT_HELD
    if (disabled) return 'disabled'
    return open ? 'forcedOpen' : 'normal'
  }

  /** As `setMode`, but for what a load brings later, too. @internal */
  hold(change: Partial<Held>): void {
    const held = { ...(this.registry.held.get(this.name) ?? NOT_HELD), ...change }
    if (held.open || held.disabled) this.registry.held.set(this.name, held)
    else this.registry.held.delete(this.name)
    this.#setMode(this.heldMode)
  }

  /** Sets the held mode where a load has brought breakers without it. @internal */
  keep(): void {
    const mode = this.heldMode
    for (const breaker of this.breakers()) if (breaker.snapshot().mode !== mode) breaker.setMode(mode)
  }

  /** Resets all breakers that it has now within their modes, and says how many there were. */
  reset(): number {
    const count = this.#native.reset()
    this.gate.hub.drain()
    return count
  }

  /** Whether calls pass unguarded because a bounded registry had no place for the name. */
  get isUnguarded(): boolean {
    return this.#native.isUnguarded()
  }

  /** What the legacy check counts now, where it is in use. */
  get legacyStatistics(): LegacyStatistics | undefined {
    return this.#native.legacyStatistics() ?? undefined
  }
}

const NOT_HELD: Held = { open: false, disabled: false }
