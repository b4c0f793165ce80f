import { native, type Native } from './addon'
import { invalid } from './check'

/**
 * A clock that stands still until it is told otherwise: for tests of programs. Given to a registry of its own,
 * `new Registry({ clock })`. Starts at 0. Timers (`timeout`) are not its business: see the README for how it goes
 * with the fake timers of node:test and vitest.
 */
export class VirtualClock {
  /** @internal */
  readonly native: Native.NativeClock = new native.NativeClock()

  /** The time in ms. */
  get time(): number {
    return this.native.time()
  }

  /** Sets the time in ms, forward or back. */
  set(time: number): void {
    this.native.set(millis('time', time))
  }

  /** Sets the time in ns, which ms as a number cannot say beyond 104 days. It stays at 2^64 - 1. */
  setNanoseconds(time: bigint): void {
    if (typeof time !== 'bigint' || time < 0n) throw invalid('time', time, 'a bigint of nanoseconds from 0')
    this.native.setNanoseconds(time)
  }

  /** Moves the time forward by so many ms. */
  advance(by: number): void {
    this.native.advance(millis('by', by))
  }
}

function millis(name: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value
  throw invalid(name, value, `a number of milliseconds from 0 to ${Number.MAX_SAFE_INTEGER}`)
}
