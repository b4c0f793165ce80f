/** `breaker(fn, options)`: a function that guards another one. */
import { doors, pulse } from './addon'
import { call } from './call'
import { checkName, checkSync, invalid, optionsOf } from './check'
import { BAD, CANCELLED, CHANGED, type Gate, GOOD, Lease, type Out, type Outcome, stranded } from './gate'
import { watchedLateGenerator } from './generator'
import type { Pass } from './pass'
import { CALL_OPTIONS, type CallOptions, checkPosition, Policy } from './policy'
import { Registry } from './registry'
import type { Resource } from './resource'
import { RULE_FIELDS, type RuleFields, ruleOf } from './rule'
import type { Ending, Leave } from './stream'

// Constants of the module, which the engine knows without looking them up.
const { exit } = doors
// The language's own: one of its reactions runs, and once.
const { then } = Promise.prototype
// A function may have an `apply` of its own.
const { apply } = Reflect

type AnyFunction = (this: any, ...args: any[]) => any

/** Options of `breaker` and `Breaker`: those of calls, and those of a rule, if it brings its own. */
export type BreakerOptions<A extends readonly unknown[] = any[], T = any, B = unknown, F = unknown> = CallOptions<A, T, B, F> &
  (RuleFields | { [Field in keyof RuleFields]?: never }) & {
    /**
     * The resource's name, or a function that tells it from a call's arguments. Without one, the function has a
     * registry of its own, which goes when it does; then there must be a rule.
     */
    resource?: string | ((...args: A) => string) | undefined
    /** Where the resource is. Default: `Registry.global`, which all threads share. */
    registry?: Registry | undefined
  }

/** What a guarded function gives: a promise, or the same async generator. */
export type GuardedResult<T, B, F> = [T] extends [AsyncGenerator] ? T : Promise<Awaited<T> | Awaited<B> | Awaited<F>>

/** A guarded function: called as the one that it guards. Where that is async already, its type is the same. */
export type Guarded<Fn extends AnyFunction, B = never, F = never> = ([B, F] extends [never, never]
  ? ReturnType<Fn> extends Promise<unknown> | AsyncGenerator
    ? Fn
    : (this: ThisParameterType<Fn>, ...args: Parameters<Fn>) => GuardedResult<ReturnType<Fn>, B, F>
  : (this: ThisParameterType<Fn>, ...args: Parameters<Fn>) => GuardedResult<ReturnType<Fn>, B, F>) & {
  /** The resource, unless its name depends on the call. */
  readonly resource: Resource | undefined
  readonly registry: Registry
}

/**
 * Guards a function: the result is called with the same arguments and `this`, and rejects with a `CircuitOpenError`
 * where a breaker rejects the call. It never throws: what a sync function throws is a rejection, and what it
 * returns is a promise's. An async generator function is admitted at the first `next()`, and ends when it ends.
 *
 * A rule among the options becomes its resource's own: it guards while none that is loaded for the name does.
 *
 * @throws {TypeError} An option is unknown, or not what it must be.
 * @throws {InvalidRuleError} The rule has faults.
 */
export function breaker<Fn extends AnyFunction, B = never, F = never>(
  fn: Fn,
  options: BreakerOptions<Parameters<Fn>, ReturnType<Fn>, B, F>,
): Guarded<Fn, B, F> {
  const { policy, registry, resource } = prepareGuard(fn, options as BreakerOptions)
  const guarded = guard(policy, fn, resource)
  Object.defineProperties(guarded, {
    name: { value: fn.name, configurable: true },
    length: { value: fn.length, configurable: true },
    resource: { value: resource },
    registry: { value: registry },
  })
  return guarded as Guarded<Fn, B, F>
}

/** What a function and options come to. */
export interface Prepared {
  policy: Policy
  registry: Registry
  resource: Resource | undefined
}

export function prepareGuard(fn: AnyFunction, given: BreakerOptions): Prepared {
  if (typeof fn !== 'function') throw invalid('fn', fn, 'a function')
  const options = optionsOf('options', given, BREAKER_OPTIONS)
  checkPosition('signal', options.signal)
  if (isGenerator(fn)) throw invalid('fn', fn, 'another than a sync generator function: make it an async one')
  const useless = isAsyncGenerator(fn) && NOT_OF_GENERATORS.find((name) => options[name] !== undefined)
  if (useless) throw invalid(useless, options[useless], 'left out for an async generator function')
  const { resource: name, registry = defaultRegistry(options) } = options
  if (!(registry instanceof Registry)) throw invalid('registry', registry, 'a Registry')
  if (typeof name === 'function') {
    const rule = ruleOf(options)
    if (rule !== undefined) throw invalid('strategy', rule.strategy, 'left out where the resource depends on the call')
  }
  const nameOf = typeof name === 'function' ? name : undefined
  checkSync('resource', nameOf)
  const resource = nameOf ? undefined : named(registry, name, fn, options)
  const policy = new Policy(options, resource ?? { registry, nameOf: nameOf! })
  policy.signalAt = options.signal
  return { policy, registry, resource }
}

function named(registry: Registry, name: unknown, fn: AnyFunction, options: BreakerOptions): Resource {
  const rule = ruleOf(options)
  const resource = registry.resource(name === undefined ? ownName(fn) : checkName('resource', name))
  if (rule !== undefined) registry.setOwnRules(resource.name, { resource: resource.name, ...rule })
  return resource
}

/** Of a function that shares its breaker with nobody: only messages show it. */
function ownName(fn: AnyFunction): string {
  try {
    return checkName('name', fn.name)
  } catch {
    return 'anonymous'
  }
}

function defaultRegistry({ resource, ...options }: BreakerOptions): Registry {
  if (resource !== undefined) return Registry.global
  if (ruleOf(options) === undefined) throw invalid('resource', undefined, 'given, unless the options hold a rule')
  return new Registry()
}

function guard(policy: Policy, fn: AnyFunction, resource: Resource | undefined): AnyFunction {
  if (isAsyncGenerator(fn)) return guardGenerator(policy, fn)
  if (resource !== undefined && policy.isPlain) return guardPlainly(policy, fn, resource)
  return function (this: unknown, ...args: unknown[]) {
    return call(policy, fn, this, args)
  }
}

/**
 * The short way, for calls that only need to be let in and judged. It is written for speed: what is made for a call is
 * used again when the call has ended, and no closure captures what is the call's, so that one call after the other
 * makes no garbage.
 */
function guardPlainly(policy: Policy, fn: AnyFunction, { passes, gate, name }: Resource): AnyFunction {
  const spare = new Spare()
  return function (this: unknown, ...args: unknown[]) {
    let pass = passes.last
    let { token } = pass
    if (pass.beat !== pulse[0]) {
      token = passes.admit()
      if (token < 0) return Promise.reject(gate.blocked(token, name))
      pass = passes.last
    }
    let end: End = fail
    let to: unknown
    let settlers: Settlers | undefined
    try {
      const result = apply(fn, this, args)
      if (isObject(result)) {
        settlers = spare.take() ?? new Settlers(policy, gate, spare)
        settlers.begin(token, pass)
        return (isPlainPromise(result) ? result : adopted(result)).then(settlers.fulfilled, settlers.rejected)
      }
      end = succeed
      to = result
    } catch (error) {
      // Also where looking at it has failed, or its constructor has changed since: there are no reactions.
      to = error
    }
    const out = { token }
    try {
      settlers?.forget()
      return settled(end, policy, gate, out, to)
    } finally {
      // There was no stack to end it with.
      if (out.token >= 0) stranded[stranded.length] = token
    }
  }
}

/** The reactions that end a call: one call at a time, and then another. */
class Settlers {
  /** Negative for none: a `then` that is not the one it was when it was looked at may react twice. */
  #token = -1
  /** What the token is of, if it is of a pass: kept until the call has ended. */
  #pass: Pass | undefined
  readonly #spare: Spare
  readonly fulfilled: (value: unknown) => unknown
  readonly rejected: (error: unknown) => never

  constructor(policy: Policy, gate: Gate, spare: Spare) {
    const { hub } = gate
    const { trustsResults } = policy
    this.#spare = spare
    this.fulfilled = (value) => {
      const token = this.forget()
      if (token < 0) return value
      if (!trustsResults) return succeed(policy, gate, { token }, value)
      if (exit(token)) hub.drain()
      return value
    }
    this.rejected = (error) => {
      const token = this.forget()
      if (token < 0) throw error
      return fail(policy, gate, { token }, error)
    }
  }

  begin(token: number, pass: Pass): void {
    this.#token = token
    // Most calls have the pass of the one before: writing a number costs less.
    if (this.#pass !== pass) this.#pass = pass
  }

  /** Gives back the token of the call, once. */
  forget(): number {
    const token = this.#token
    if (token < 0) return token
    this.#token = -1
    this.#spare.give(this)
    return token
  }
}

/** Reactions that no call needs now. Nothing is taken out: most are soon put back where they are. */
class Spare {
  readonly #all: Settlers[] = []
  #count = 0

  take(): Settlers | undefined {
    return this.#count > 0 ? this.#all[--this.#count] : undefined
  }

  give(settlers: Settlers): void {
    const place = this.#count++
    if (this.#all[place] !== settlers) this.#all[place] = settlers
  }
}

function succeed<T>(policy: Policy, gate: Gate, out: Out, value: T): T {
  gate.endOut(out, () => policy.ofResult(value))
  return value
}

function fail(policy: Policy, gate: Gate, out: Out, error: unknown): never {
  gate.endOut(out, () => policy.ofError(error))
  throw error
}

type End = (policy: Policy, gate: Gate, out: Out, settled: unknown) => unknown

/** Ends a call that has come to something at once. */
function settled(end: End, policy: Policy, gate: Gate, out: Out, to: unknown): Promise<unknown> {
  return new Promise((resolve) => resolve(end(policy, gate, out, to)))
}

/** Whether its reactions are the language's: for what only looks like it, reacting fails, as awaiting it does. */
function isPlainPromise(result: object): result is Promise<unknown> {
  return (result as Promise<unknown>).then === then && result.constructor === Promise
}

/** A promise of this realm's for any thenable, even one that throws; for what is none, of itself. */
function adopted(thenable: object): Promise<unknown> {
  return new Promise((resolve) => resolve(thenable))
}

/** Admitted when it is first asked for something; a consumer that leaves it early has given the call up. */
function guardGenerator(policy: Policy, fn: AnyFunction): AnyFunction {
  const { gate } = policy
  return function (this: unknown, ...args: unknown[]) {
    let lease: Lease | undefined
    const begin = (): { generator: AsyncGenerator; leave: Leave } => {
      const resource = policy.resourceOf(this, args)
      const token = policy.enter(resource)
      if (token < 0) throw gate.blocked(token, resource)
      if (token & CHANGED) gate.hub.drain()
      lease = new Lease(token, gate)
      return { generator: apply(fn, this, args), leave: leaving(lease) }
    }
    const ended = (ending: Ending): void => {
      if (lease === undefined || lease.hasEnded) return
      let outcome: Outcome = BAD
      try {
        outcome = outcomeOf(policy, ending)
      } finally {
        lease.end(outcome)
      }
    }
    return watchedLateGenerator(begin, ended)
  }
}

/** By itself, so that it knows no more than it needs. */
function leaving(lease: Lease): Leave {
  return () => void lease.end(CANCELLED)
}

function outcomeOf(policy: Policy, ending: Ending): Outcome {
  if ('error' in ending) return policy.ofError(ending.error)
  return ending.outcome === GOOD ? policy.ofResult(ending.value) : ending.outcome
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' ? value !== null : typeof value === 'function'
}

export function isAsyncGenerator(fn: AnyFunction): boolean {
  return tag(fn) === '[object AsyncGeneratorFunction]'
}

function isGenerator(fn: AnyFunction): boolean {
  return tag(fn) === '[object GeneratorFunction]'
}

function tag(fn: AnyFunction): string {
  return Object.prototype.toString.call(fn)
}

const BREAKER_OPTIONS: ReadonlySet<string> = new Set([...CALL_OPTIONS, ...RULE_FIELDS, 'resource', 'registry'])
/** Of an async generator, whose consumer decides how long it goes on. */
const NOT_OF_GENERATORS = ['timeout', 'signal', 'onBlocked', 'fallback', 'trace', 'stream'] as const
