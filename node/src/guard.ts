/** `breaker(fn, options)`: a function that guards another one. */
import { call } from './call'
import { checkName, checkSync, invalid, optionsOf } from './check'
import { BAD, CANCELLED, CHANGED, GOOD, Lease, type Outcome } from './gate'
import { watchedLateGenerator } from './generator'
import { guardPlainly } from './plain'
import { CALL_OPTIONS, type CallOptions, checkPosition, Policy } from './policy'
import { Registry } from './registry'
import type { Resource } from './resource'
import { RULE_FIELDS, type RuleFields, ruleOf } from './rule'
import type { Ending, Leave } from './stream'

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
