/// <reference types="node" preserve="true" />
/** The errors that a user meets. Each is known by its `code`, also in another realm or thread. */
import type { Mode, State } from './breakers'
import { invalid, quoted } from './check'
import type { Rule } from './rule'

/** One thing that is wrong with rules. */
export interface Fault {
  /** The rule's position in its list, from 0; absent for a fault of the whole document. */
  index?: number
  /** The rule's resource, where it has a valid one. */
  resource?: string
  /** The field, as it was spelled; absent for the whole rule or document. */
  field?: string
  /** What stands there, shortened; absent where something is missing. */
  value?: string
  /** What is allowed there, to be read after "it must be". */
  allowed: string
  /** The line in a document, from 1. */
  line?: number
  /** All of it, on one line. */
  message: string
}

/** Why calls are blocked; all of one breaker in one state share it. @internal */
export interface Reason {
  state: State
  mode: Mode
  rule: Rule | undefined
  ruleText: string | undefined
  /** The beginning of the message. */
  headline: string
}

/**
 * A breaker rejected the call: it was not made. Has no stack frames, since these cost more than a call.
 *
 * `instanceof` goes by `code`, so that it holds for an error of another realm, or one that a worker ended
 * with. What `postMessage` carries of an error is its message only: send `error.toJSON()`, and make an error
 * of it with {@link CircuitOpenError.from}.
 */
export class CircuitOpenError extends Error {
  declare readonly code: 'ECIRCUITOPEN'
  /** The resource's name. */
  declare readonly resource: string
  /** The rule whose breaker rejected; undefined for the legacy check. */
  declare readonly rule: Rule | undefined
  /** The state that rejected: `closed` where the breaker is forced open. */
  declare readonly state: State
  /** The mode that rejected. */
  declare readonly mode: Mode
  /**
   * In ms, until the next probe may go: while open, until the wait is over; while half-open, until the probes'
   * lease ends. Infinity without a limit.
   */
  declare readonly retryAfter: number
  /** The message, and the rule in words. */
  declare readonly explanation: string

  /** The library makes them, and {@link CircuitOpenError.from} makes them again. */
  constructor(made: never)
  /** @internal */
  constructor(resource: string, reason: Reason, retryAfter: number)
  constructor(resource: string, reason?: Reason, retryAfter = Infinity) {
    if (reason?.headline === undefined) throw invalid('new CircuitOpenError', undefined, 'made by the library, or by `CircuitOpenError.from`')
    const message =
      retryAfter === Infinity ? reason.headline : `${reason.headline}, next probe in ${Math.ceil(retryAfter)} ms`
    super(message)
    this.code = 'ECIRCUITOPEN'
    this.resource = resource
    this.rule = reason.rule
    this.state = reason.state
    this.mode = reason.mode
    this.retryAfter = retryAfter
    this.explanation = reason.ruleText === undefined ? message : `${message} (${reason.ruleText})`
  }

  /** All of its fields, as a plain object. */
  toJSON(): CircuitOpenFields {
    const { name, message, code, resource, rule, state, mode, retryAfter, explanation } = this
    return { name, message, code, resource, rule, state, mode, retryAfter, explanation }
  }

  /** An error with these fields: for what {@link CircuitOpenError.toJSON} gave in another thread or process. */
  static from(fields: CircuitOpenFields): CircuitOpenError {
    if (!hasCode(fields, 'ECIRCUITOPEN')) throw invalid('fields', fields, 'what toJSON() of a CircuitOpenError has given')
    const error = Object.create(CircuitOpenError.prototype) as CircuitOpenError
    const { name: _name, retryAfter, ...own } = fields
    // Made of a real error, so that it is one to `util.types.isNativeError` and to structured clones.
    return Object.assign(Object.setPrototypeOf(new Error(fields.message), Object.getPrototypeOf(error)), own, {
      retryAfter: retryAfter ?? Infinity,
    })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === CircuitOpenError ? hasCode(value, 'ECIRCUITOPEN') : isMadeBy(this, value)
  }
}

/** The fields of a {@link CircuitOpenError}. */
export interface CircuitOpenFields
  extends Pick<CircuitOpenError, 'name' | 'message' | 'code' | 'resource' | 'rule' | 'state' | 'mode' | 'explanation'> {
  /** As of the error; null for Infinity, which JSON cannot say, once it has been a text. */
  retryAfter: number | null
}

/** A call was not done within its `timeout`; it counts as failed. What it comes to later is not heard. */
export class TimeoutError extends Error {
  declare readonly code: 'ETIMEDOUT'
  /** The resource's name. */
  declare readonly resource: string
  /** In ms. */
  declare readonly timeout: number

  /** The library makes them. */
  constructor(made: never)
  /** @internal */
  constructor(resource: string, timeout: number)
  constructor(resource: string, timeout = Infinity) {
    super(`the call of ${quoted(String(resource))} was not done within ${timeout} ms`)
    this.code = 'ETIMEDOUT'
    this.resource = resource
    this.timeout = timeout
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TimeoutError) return isMadeBy(this, value)
    // The code alone is that of sockets, too.
    return hasCode(value, 'ETIMEDOUT') && (value as Error).name === 'TimeoutError'
  }
}

/** Rules have faults, and were not loaded: nothing has changed. */
export class InvalidRuleError extends Error {
  declare readonly code: 'EINVALIDRULE'
  /** Every fault, in the order of the rules. */
  declare readonly faults: readonly Fault[]

  /** The library makes them. */
  constructor(made: never)
  /** @internal */
  constructor(faults: readonly Fault[])
  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => fault.message).join('\n'))
    this.code = 'EINVALIDRULE'
    this.faults = faults
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === InvalidRuleError ? hasCode(value, 'EINVALIDRULE') : isMadeBy(this, value)
  }
}

for (const type of [CircuitOpenError, TimeoutError, InvalidRuleError]) {
  const name = { value: type.name, writable: true, configurable: true }
  Object.defineProperty(type.prototype, 'name', name)
}

/**
 * Whether an error is this library's rejection, or was caused by one (by its `cause`, and so on). Such an error
 * that passes through an outer guarded call has no outcome there.
 */
export function isBlocked(error: unknown): boolean {
  return findBlocked(error) !== undefined
}

/** This library's rejection that an error is, or was caused by. @internal */
export function findBlocked(error: unknown): CircuitOpenError | undefined {
  // Causes may go in a circle.
  for (let depth = 0; depth < 100 && typeof error === 'object' && error !== null; depth++) {
    if (hasCode(error, 'ECIRCUITOPEN')) return error as CircuitOpenError
    try {
      error = (error as Error).cause
    } catch {
      return undefined
    }
  }
  return undefined
}

function hasCode(value: unknown, code: string): boolean {
  try {
    return typeof value === 'object' && value !== null && (value as { code?: unknown }).code === code
  } catch {
    return false
  }
}

function isMadeBy(type: unknown, value: unknown): boolean {
  return Function.prototype[Symbol.hasInstance].call(type, value)
}

/**
 * Without stack frames, whose capture is most of what an error costs. Where intrinsics are frozen the limit cannot
 * be set, and the frames are captured.
 *
 * @internal
 */
export function circuitOpen(resource: string, reason: Reason, retryAfter: number): CircuitOpenError {
  if (!Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable) {
    return new CircuitOpenError(resource, reason, retryAfter)
  }
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new CircuitOpenError(resource, reason, retryAfter)
  Error.stackTraceLimit = limit
  return error
}
