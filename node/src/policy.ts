/** What a guarded call is made with. */
import { doors } from './addon'
import { checkBoolean, checkFunction, checkMillis, checkName, checkSync, invalid, verdict } from './check'
import { signalIn } from './carrier'
import { type CircuitOpenError, isBlocked } from './errors'
import { BAD, type Gate, GOOD, IGNORED, type Outcome } from './gate'
import type { Registry } from './registry'
import type { Resource } from './resource'
import { endOf } from './stream'

const { enter } = doors

/**
 * How calls are made and judged. `A` are the function's arguments and `T` what it returns; `B` and `F` are what
 * `onBlocked` and `fallback` return.
 */
export interface CallOptions<A extends readonly unknown[] = any[], T = any, B = unknown, F = unknown> {
  /** In ms: a call that takes longer rejects with a `TimeoutError`, and counts as failed. Default: no limit. */
  timeout?: number | undefined
  /**
   * The position, from 0, of the argument that carries an `AbortSignal` as its `signal`, as `fetch`'s second one does
   * (so 1 for `fetch`). The function is given a signal there that is aborted when the call times out; the caller's
   * own one, if there is one, aborts it too, and that call has no outcome: it rejects with the signal's reason.
   */
  signal?: number | undefined
  /** Whether an error counts as bad. An error that does not counts as good. Default: every error does. */
  isFailure?: ((error: any) => boolean) | undefined
  /** Whether a result counts as bad; the call resolves with it all the same. Default: none does. */
  isFailureResult?: ((value: Awaited<T>) => boolean) | undefined
  /** Whether an error says nothing of the dependency: the call counts nowhere. Asked before `isFailure`. */
  ignore?: ((error: any) => boolean) | undefined
  /** Whether a result says nothing of the dependency. Asked before `isFailureResult`. */
  ignoreResult?: ((value: Awaited<T>) => boolean) | undefined
  /**
   * Whether an inner guarded call's rejection, or what it caused, is judged as any other error. Default: false; it
   * has no outcome.
   */
  judgeBlocked?: boolean | undefined
  /** What blocked calls resolve with. It gets the error, and then the call's arguments. */
  onBlocked?: ((error: CircuitOpenError, ...args: A) => B) | undefined
  /**
   * What blocked and failed calls resolve with (blocked ones where there is no `onBlocked`). Not asked for errors
   * that are ignored or count as good, nor for a call that its caller aborted.
   */
  fallback?: ((error: any, ...args: A) => F) | undefined
  /** Whether `trace(error)` can mark the calls. Costs an AsyncLocalStorage. Default: false. */
  trace?: boolean | undefined
  /**
   * Whether calls whose result is a stream (of Node or of the web), an async generator, or a `Response` end when that
   * ends. Default: false.
   */
  stream?: boolean | undefined
}

/** The options of a resource's calls. */
export const CALL_OPTIONS: ReadonlySet<string> = new Set([
  'timeout',
  'signal',
  'isFailure',
  'isFailureResult',
  'ignore',
  'ignoreResult',
  'judgeBlocked',
  'onBlocked',
  'fallback',
  'trace',
  'stream',
] satisfies (keyof CallOptions)[])

type Options = Omit<CallOptions, 'signal'> & { signal?: unknown }

/** Options, and where calls enter. */
export class Policy {
  readonly timeout: number | undefined
  readonly trace: boolean
  readonly stream: boolean
  readonly onBlocked: CallOptions['onBlocked']
  fallback: CallOptions['fallback']
  signalAt: number | undefined
  /** Rejects a call before it enters. */
  refuse: (() => CircuitOpenError | undefined) | undefined
  /** Whether a caller has given up, of whose call the function itself makes an error. */
  hasLeft: ((args: unknown[]) => boolean) | undefined
  /** Follows the stream in a result. */
  endOf: typeof endOf = endOf
  /** Whether every result is good, so that none need be asked for. */
  readonly trustsResults: boolean
  readonly #isFailure: CallOptions['isFailure']
  readonly #isFailureResult: CallOptions['isFailureResult']
  readonly #ignore: CallOptions['ignore']
  readonly #ignoreResult: CallOptions['ignoreResult']
  readonly #judgeBlocked: boolean
  readonly #target: Resource | Named

  /** Of options among which are none that nobody knows. */
  constructor(options: Options, target: Resource | Named) {
    for (const name of PREDICATES) checkSync(name, options[name])
    for (const name of FUNCTIONS) checkFunction(name, options[name])
    for (const name of BOOLEANS) checkBoolean(name, options[name])
    checkMillis('timeout', options.timeout, 1)
    this.timeout = options.timeout
    this.trace = options.trace ?? false
    this.stream = options.stream ?? false
    this.onBlocked = options.onBlocked
    this.fallback = options.fallback
    this.trustsResults = options.isFailureResult === undefined && options.ignoreResult === undefined
    this.#isFailure = options.isFailure
    this.#isFailureResult = options.isFailureResult
    this.#ignore = options.ignore
    this.#ignoreResult = options.ignoreResult
    this.#judgeBlocked = options.judgeBlocked ?? false
    this.#target = target
  }

  /** Whether a call needs nothing but to be let in and judged. */
  get isPlain(): boolean {
    const isSilent = this.onBlocked === undefined && this.fallback === undefined
    const isFree = this.timeout === undefined && this.signalAt === undefined
    return isSilent && isFree && !this.trace && !this.stream && !('nameOf' in this.#target)
  }

  /** The name of the resource that a call is on. */
  resourceOf(self: unknown, args: unknown[]): string {
    const target = this.#target
    return 'nameOf' in target ? checkName('resource', Reflect.apply(target.nameOf, self, args)) : target.name
  }

  enter(resource: string): number {
    const target = this.#target
    return 'nameOf' in target ? target.registry.named.enter(resource) : enter(target.number)
  }

  get gate(): Gate {
    return 'nameOf' in this.#target ? this.#target.registry.named : this.#target.gate
  }

  /** The outcome of a call that failed. What a classifier throws is the caller's to catch. */
  ofError(error: unknown): Outcome {
    if (!this.#judgeBlocked && isBlocked(error)) return IGNORED
    if (this.#ignore !== undefined && verdict('ignore', this.#ignore(error))) return IGNORED
    return this.#isFailure === undefined || verdict('isFailure', this.#isFailure(error)) ? BAD : GOOD
  }

  /** The outcome of a call that came to a result. */
  ofResult(value: any): Outcome {
    if (this.#ignoreResult !== undefined && verdict('ignoreResult', this.#ignoreResult(value))) return IGNORED
    return this.#isFailureResult !== undefined && verdict('isFailureResult', this.#isFailureResult(value)) ? BAD : GOOD
  }

  /** The caller's signal, where the arguments carry one. */
  callerSignal(args: unknown[]): AbortSignal | undefined {
    return this.signalAt === undefined ? undefined : signalIn(args, this.signalAt)
  }
}

/** A resource whose name the arguments of a call tell. */
export interface Named {
  readonly registry: Registry
  nameOf(...args: any[]): string
}

/** @internal */
export function checkPosition(name: string, value: unknown): void {
  if (value === undefined) return
  const isPosition = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256
  if (!isPosition) throw invalid(name, value, 'the position of an argument, from 0 to 255')
}

const PREDICATES = ['isFailure', 'isFailureResult', 'ignore', 'ignoreResult'] as const
const FUNCTIONS = ['onBlocked', 'fallback'] as const
const BOOLEANS = ['judgeBlocked', 'trace', 'stream'] as const
