/** Leave that many calls make use of, so that a healthy breaker need not be asked for each. */
import { doors, native, pulse } from './addon'
import { CHANGED, endStranded, stranded } from './gate'

const { admit } = doors

/** A bit of a token: it is a pass. */
const PASS = 2 ** 30

/** Every call may begin with its token while the pulse is its beat. Kept by all calls that are out on it. */
export class Pass {
  readonly token: number
  beat: number

  constructor(token: number, beat: number) {
    this.token = token
    this.beat = beat
  }
}

const lost = new FinalizationRegistry((token: number) => native.forget(token))

/** What is good at no beat. */
const NONE = new Pass(0, -1)

/** The passes of a resource, one after the other. */
export class Passes {
  /** The last one. */
  last = NONE
  readonly #number: number

  constructor(number: number) {
    this.#number = number
  }

  /** Begins a call, as `enter` does, for which the last pass was not good. If it has a pass, that is the last one now. */
  admit(): number {
    // Read before: what changes meanwhile is noticed by the next call.
    const beat = pulse[0]!
    if (stranded.length > 0) endStranded()
    const token = admit(this.#number)
    if (token >= 0 && token & PASS) this.#renew(token & ~CHANGED, beat)
    return token
  }

  #renew(token: number, beat: number): void {
    if (token === this.last.token) {
      this.last.beat = beat
      return
    }
    this.last = new Pass(token, beat)
    lost.register(this.last, token)
  }
}
