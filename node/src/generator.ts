/** Async generators whose calls end when they do. */
import { CANCELLED, GOOD } from './gate'
import { type Ended, type Ending, leaveIfLost } from './stream'

type Result = IteratorResult<unknown, unknown>

/**
 * A generator in the place of another one, that tells how it ends: also if it is closed before it has begun, or if
 * nobody has it any more, of which a generator's own `finally` never hears.
 */
export function watchedGenerator(generator: AsyncGenerator, ended: Ended): AsyncGenerator {
  const watched = new WatchedGenerator(generator, ended)
  leaveIfLost(watched, ended)
  return watched as unknown as AsyncGenerator
}

class WatchedGenerator {
  readonly #generator: AsyncGenerator
  readonly #ended: Ended

  constructor(generator: AsyncGenerator, ended: Ended) {
    this.#generator = generator
    this.#ended = ended
  }

  next(...sent: [] | [unknown]): Promise<Result> {
    return this.#step(() => this.#generator.next(...sent), completed)
  }

  return(value: unknown): Promise<Result> {
    return this.#step(() => this.#generator.return(value), left)
  }

  throw(error: unknown): Promise<Result> {
    return this.#step(() => this.#generator.throw(error), completed)
  }

  /** Asks at once, so that steps are made in the order in which they are asked for. */
  async #step(ask: () => Promise<Result>, endingOf: (value: unknown) => Ending): Promise<Result> {
    let result: Result
    try {
      result = await ask()
    } catch (error) {
      this.#ended({ error })
      throw error
    }
    if (result.done) this.#ended(endingOf(result.value))
    return result
  }
}

function completed(value: unknown): Ending {
  return { outcome: GOOD, value }
}

function left(): Ending {
  return { outcome: CANCELLED }
}

// It has all that generators have, such as what makes it iterable.
Object.setPrototypeOf(WatchedGenerator.prototype, (async function* () {}).constructor.prototype.prototype as object)
