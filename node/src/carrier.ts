/** Arguments that carry a signal. */
import { checkSignal, invalid, isPlain } from './check'

/** The signal that the argument at a position carries. */
export function signalIn(args: unknown[], at: number): AbortSignal | undefined {
  const carrier = args[at]
  if (carrier === undefined || carrier === null) return undefined
  if (typeof carrier !== 'object') throw invalid(`argument ${at}`, carrier, 'an object, which may carry a signal')
  const { signal } = carrier as { signal?: AbortSignal | null }
  checkSignal('signal', signal)
  return signal ?? undefined
}

/** The arguments with another signal at a position. */
export function withSignal(given: unknown[], at: number, signal: AbortSignal): unknown[] {
  const args = [...given]
  while (args.length < at) args.push(undefined)
  args[at] = carrying((args[at] ?? {}) as object, signal)
  return args
}

function carrying(given: object, signal: AbortSignal): object {
  return isPlain(given) ? { ...given, signal } : lookAlike(given, signal)
}

/**
 * Of an object of a class, of which a copy would have only a part: it reads through to it, and its methods find in
 * `this` the object that has their class's private fields.
 */
function lookAlike(given: object, signal: AbortSignal): object {
  const made = Object.create(Object.getPrototypeOf(given)) as object
  const methods = new Map<unknown, object>()
  const ofGiven = (value: unknown): unknown => {
    if (typeof value !== 'function') return value
    const method = methods.get(value) ?? new Proxy(value, { apply: (fn, self, args) => Reflect.apply(fn, self === made ? given : self, args) })
    methods.set(value, method)
    return method
  }
  for (let from = given; Object.getPrototypeOf(from) !== null; from = Object.getPrototypeOf(from)) {
    for (const key of Reflect.ownKeys(from)) {
      if (key === 'constructor' || Object.hasOwn(made, key)) continue
      const { enumerable = false } = Object.getOwnPropertyDescriptor(from, key)!
      const get = (): unknown => ofGiven(Reflect.get(given, key))
      const set = (value: unknown): void => void Reflect.set(given, key, value)
      Object.defineProperty(made, key, { get, set, enumerable, configurable: true })
    }
  }
  return Object.defineProperty(made, 'signal', { value: signal, enumerable: true, configurable: true, writable: true })
}
