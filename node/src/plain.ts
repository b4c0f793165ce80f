/** The short way of a guarded function: of calls that only need to be let in and judged. */
import { doors, pulse } from './addon'
import { CHANGED, type Gate, type Out, stranded } from './gate'
import type { Pass } from './pass'
import type { Policy } from './policy'
import type { Resource } from './resource'

// Constants of the module, which the engine knows without looking them up.
const { exit } = doors
// The language's own: one of its reactions runs, and once.
const { then } = Promise.prototype
// A function may have an `apply` of its own.
const { apply } = Reflect

type AnyFunction = (this: any, ...args: any[]) => any

/**
 * A function that guards another one. It is written for speed: what is made for a call is
 * used again when the call has ended, and no closure captures what is the call's, so that one call after the other
 * makes no garbage.
 */
export function guardPlainly(policy: Policy, fn: AnyFunction, { passes, gate, name }: Resource): AnyFunction {
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
      // Now that the pass is held: who is told may call, and then has a pass of its own.
      if (token & CHANGED) gate.hub.drain()
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' ? value !== null : typeof value === 'function'
}
