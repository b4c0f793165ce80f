/** Async generators whose calls end when they do. */
import { CANCELLED, GOOD } from './gate'
import { type Ended, type Ending, type Leave, leaveIfLost } from './stream'

type Result = IteratorResult<unknown, unknown>

type Begin = () => { generator: AsyncGenerator; leave: Leave }

/**
 * A generator in the place of another one, that tells how it ends: also if it is closed before it has begun, or if
 * nobody has it any more, of which a generator's own `finally` never hears.
 */
export function watchedGenerator(generator: AsyncGenerator, ended: Ended, leave: Leave): AsyncGenerator {
  const watched = new WatchedGenerator(generator, undefined, ended)
  leaveIfLost(watched, leave)
  return watched as unknown as AsyncGenerator
}

/** As `watchedGenerator`, of one that is made when it is first asked for something. */
export function watchedLateGenerator(begin: Begin, ended: Ended): AsyncGenerator {
  return new WatchedGenerator(undefined, begin, ended) as unknown as AsyncGenerator
}

class WatchedGenerator {
  #generator: AsyncGenerator | undefined
  #begin: Begin | undefined
  readonly #ended: Ended

  constructor(generator: AsyncGenerator | undefined, begin: Begin | undefined, ended: Ended) {
    this.#generator = generator
    this.#begin = begin
    this.#ended = ended
  }

  next(...sent: [] | [unknown]): Promise<Result> {
    return this.#step(() => this.#begun()?.next(...sent), completed)
  }

  return(value: unknown): Promise<Result> {
    return this.#step(() => this.#closed()?.return(value) ?? closedWith(value), left)
  }

  throw(error: unknown): Promise<Result> {
    return this.#step(() => this.#closed()?.throw(error) ?? Promise.reject(error), completed)
  }

  /** Asks at once, so that steps are made in the order in which they are asked for. */
  async #step(ask: () => Promise<Result> | undefined, endingOf: (value: unknown) => Ending): Promise<Result> {
    let result: Result
    try {
      result = (await ask()) ?? { done: true, value: undefined }
    } catch (error) {
      this.#ended({ error })
      throw error
    }
    if (result.done) this.#ended(endingOf(result.value))
    return result
  }

  /** The other generator; none where this one was closed before it had begun. */
  #begun(): AsyncGenerator | undefined {
    const begin = this.#begin
    if (begin === undefined) return this.#generator
    this.#begin = undefined
    const { generator, leave } = begin()
    leaveIfLost(this, leave)
    return (this.#generator = generator)
  }

  /** As `#begun`, but one that has not begun never will. */
  #closed(): AsyncGenerator | undefined {
    this.#begin = undefined
    return this.#generator
  }
}

async function closedWith(value: unknown): Promise<Result> {
  return { done: true, value: await value }
}

function completed(value: unknown): Ending {
  return { outcome: GOOD, value }
}

function left(): Ending {
  return { outcome: CANCELLED }
}

// It has all that generators have, such as what makes it iterable.
Object.setPrototypeOf(WatchedGenerator.prototype, (async function* () {}).constructor.prototype.prototype as object)
