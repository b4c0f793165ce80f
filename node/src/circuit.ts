/** The class for those who come from opossum. */
import { EventEmitter } from 'node:events'
import type { Snapshot, State } from './breakers'
import { call } from './call'
import { invalid } from './check'
import { type BreakerOptions, isAsyncGenerator, prepareGuard } from './guard'
import type { CircuitOpenError } from './errors'
import type { Policy } from './policy'
import type { Registry } from './registry'
import type { Resource } from './resource'
import { contained, type Transition } from './transitions'

/** What a breaker has been asked for, and what came of it. */
export interface Stats {
  /** Calls of `fire`. */
  fires: number
  /** Calls that came to a result. */
  successes: number
  /** Calls that failed, time-outs included. */
  failures: number
  timeouts: number
  /** Calls that were not made. */
  rejects: number
  /** Calls that were answered by the fallback. */
  fallbacks: number
}

/** A breaker's state, and all that it counts. */
export interface Status {
  state: State
  stats: Stats
  /** Each rule's breaker on the resource: window, totals, deadlines. */
  breakers: Snapshot[]
}

/** The events of a `Breaker`, with what their listeners get. */
export interface BreakerEvents<T = unknown> {
  /** A call came to a result: the result, and its time in ms. */
  success: [value: T, latency: number]
  /** A call failed, or timed out: the error, and its time in ms. */
  failure: [error: unknown, latency: number]
  timeout: [error: unknown, latency: number]
  /** A call was not made. */
  reject: [error: unknown]
  /** The fallback has answered. */
  fallback: [value: unknown]
  /** The resource has changed. */
  open: [transition: Transition]
  halfOpen: [transition: Transition]
  close: [transition: Transition]
}

/**
 * A function's breaker as an object with events. Its options are those of {@link breaker}; the README maps those of
 * opossum. What a listener throws becomes a warning of the process.
 */
export class Breaker<A extends unknown[] = any[], T = any> extends EventEmitter<BreakerEvents<Awaited<T>>> {
  readonly resource: Resource
  readonly registry: Registry
  readonly #fn: (...args: A) => T
  readonly #policy: Policy
  readonly #stats: Stats = { fires: 0, successes: 0, failures: 0, timeouts: 0, rejects: 0, fallbacks: 0 }

  /**
   * As {@link breaker}, except that the resource's name cannot depend on the call, and that async generator functions,
   * of which a call of `fire` would only begin what can fail, are refused.
   */
  constructor(fn: (...args: A) => T, options: BreakerOptions<A, T> & { resource?: string | undefined }) {
    super()
    if (typeof options?.resource === 'function') throw invalid('resource', options.resource, 'a string')
    if (isAsyncGenerator(fn)) throw invalid('fn', fn, 'another than an async generator function, which `breaker` guards')
    const { policy, registry, resource } = prepareGuard(fn, options as BreakerOptions)
    this.#fn = fn
    this.#policy = policy
    this.registry = registry
    this.resource = resource!
    policy.refuse = () => (registry.held.size === 0 ? undefined : refusal(resource!))
    follow(this, registry, resource!.name)
  }

  /** The resource's name. */
  get name(): string {
    return this.resource.name
  }

  /** Calls the function, if it is admitted. Never throws; rejects as a function guarded by {@link breaker} does. */
  fire(...args: A): Promise<Awaited<T>> {
    return this.#fire(undefined, args)
  }

  /** As `fire`, with a `this`. */
  call(self: unknown, ...args: A): Promise<Awaited<T>> {
    return this.#fire(self, args)
  }

  #fire(self: unknown, args: A): Promise<Awaited<T>> {
    const began = performance.now()
    const latency = (): number => performance.now() - began
    const stats = this.#stats
    stats.fires += 1
    return call(this.#policy, this.#fn as (...args: unknown[]) => unknown, self, args, {
      success: (value) => {
        stats.successes += 1
        this.#tell('success', value as Awaited<T>, latency())
      },
      failure: (error) => {
        stats.failures += 1
        this.#tell('failure', error, latency())
      },
      timeout: (error) => {
        stats.timeouts += 1
        this.#tell('timeout', error, latency())
      },
      reject: (error) => {
        stats.rejects += 1
        this.#tell('reject', error)
      },
      fallback: (value) => {
        stats.fallbacks += 1
        this.#tell('fallback', value)
      },
    }) as Promise<Awaited<T>>
  }

  /**
   * Sets what blocked and failed calls resolve with: a function's result, or what another breaker's `fire` resolves
   * with. It gets the call's arguments, and then the error.
   */
  fallback(instead: ((...args: any[]) => unknown) | Breaker): this {
    const fn = instead instanceof Breaker ? (...args: unknown[]) => instead.fire(...args) : instead
    if (typeof fn !== 'function') throw invalid('fallback', fn, 'a function, or another Breaker')
    this.#policy.fallback = function (this: unknown, error: unknown, ...args: unknown[]) {
      return Reflect.apply(fn, this, [...args, error])
    }
    return this
  }

  /**
   * Rejects every call until `close()`, whatever the time: also while the resource has no rule, and after others have
   * been loaded. It is the resource that is open, for whoever calls it; `resource.setMode` ends it, too.
   */
  open(): void {
    this.resource.hold({ open: true })
  }

  /** Lets the breaker decide again, beginning closed and with nothing counted. */
  close(): void {
    this.resource.hold({ open: false })
  }

  /** Lets the breaker decide again after `disable()`; what was opened is still open. */
  enable(): void {
    if (!this.enabled) this.resource.hold({ disabled: false })
  }

  /** Admits every call, and counts it, until `enable()`. */
  disable(): void {
    this.resource.hold({ disabled: true })
  }

  /** Whether the breaker decides: it is not disabled. */
  get enabled(): boolean {
    return this.resource.heldMode !== 'disabled' && this.resource.breakers().every((breaker) => breaker.snapshot().mode !== 'disabled')
  }

  /** Whether calls are rejected: it is open, or forced open. */
  get opened(): boolean {
    return this.resource.heldMode === 'forcedOpen' || this.resource.breakers().some((breaker) => isOpen(breaker.snapshot()))
  }

  get halfOpen(): boolean {
    return this.resource.state === 'halfOpen'
  }

  get closed(): boolean {
    return !this.opened && !this.halfOpen
  }

  /** What this object has been asked for since it was made. */
  get stats(): Stats {
    return { ...this.#stats }
  }

  get status(): Status {
    const breakers = this.resource.breakers().map((breaker) => breaker.snapshot())
    return { state: this.resource.state, stats: this.stats, breakers }
  }

  /** As `emit`, but what a listener throws goes no further. */
  #tell<Name extends keyof BreakerEvents>(name: Name, ...args: BreakerEvents<Awaited<T>>[Name]): void {
    tell(this, name, args)
  }
}

function tell(breaker: EventEmitter, name: string, args: unknown[]): void {
  for (const listener of breaker.rawListeners(name)) contained(() => Reflect.apply(listener, breaker, args))
}

/** Keeps the resource as it is held, also against loads by other threads; rejects where it has nothing to hold. */
function refusal(resource: Resource): CircuitOpenError | undefined {
  if (resource.heldMode === 'normal') return undefined
  resource.keep()
  const isOpen = resource.heldMode === 'forcedOpen' && resource.breakers().length === 0
  return isOpen ? resource.gate.heldOpen(resource.name) : undefined
}

function isOpen({ state, mode }: Snapshot): boolean {
  return mode === 'forcedOpen' || (mode === 'normal' && state === 'open')
}

/** Tells a breaker of its resource's changes as long as somebody has it: the registry must not keep it. */
function follow(breaker: EventEmitter, registry: Registry, resource: string): void {
  const weak = new WeakRef(breaker)
  const unlisten = registry.onTransition((transition) => {
    const name = transition.resource === resource ? nameOf(transition) : undefined
    const alive = name === undefined ? undefined : weak.deref()
    if (alive) tell(alive, name!, [transition])
  })
  dropped.register(breaker, unlisten)
}

const dropped = new FinalizationRegistry((unlisten: () => void) => unlisten())

function nameOf({ from, to, fromMode, toMode }: Transition): 'open' | 'halfOpen' | 'close' | undefined {
  if (toMode === 'forcedOpen') return fromMode === 'forcedOpen' ? undefined : 'open'
  if (from === to) return fromMode === 'forcedOpen' ? 'close' : undefined
  return to === 'closed' ? 'close' : to
}
