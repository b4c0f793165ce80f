/** Checks of arguments: each error names what is wrong, and what is allowed. */

/** A text in quotes, on one line, without anything that a terminal would obey. */
export function quoted(text: string): string {
  const escaped = (c: string) => `\\u{${c.codePointAt(0)!.toString(16)}}`
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)
}

/** A value for a message: short, on one line. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > 60 ? `${quoted(value.slice(0, 60))}… (${value.length} characters)` : quoted(value)
    case 'bigint':
      return `${value}n`
    case 'function':
      return 'a function'
    case 'symbol':
      return 'a symbol'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return 'an array'
      return isThenable(value) ? 'a promise' : 'an object'
    default:
      return Object.is(value, -0) ? '0' : String(value)
  }
}

export function invalid(name: string, value: unknown, allowed: string): TypeError {
  const found = value === undefined ? 'missing' : `${shown(value)} is not allowed`
  return Object.assign(new TypeError(`${name}: ${found}; it must be ${allowed}`), { code: 'ERR_INVALID_ARG_VALUE' })
}

/**
 * Checks that there is an object with options, and none that nobody knows, and gives those that are there: its own ones
 * and its class's or prototype's, each read once, but none that somebody has put into `Object.prototype`.
 */
export function optionsOf<T extends object>(what: string, options: T, known: ReadonlySet<string>): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw invalid(what, options, 'an object')
  const [stranger] = strangersIn(options, known)
  if (stranger !== undefined) throw unknownOption(stranger, known)
  const given = { __proto__: null } as Record<string, unknown>
  // Only those of a class may be hidden among its methods.
  for (const name of isPlain(options) ? Object.keys(options) : known) {
    const value = optionOf(options, name)
    if (value !== undefined) given[name] = value
  }
  return given as T
}

/** Whether it is of no class. Those of other realms are plain, too. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** What is given under a name. */
export function optionOf(options: object, name: string): unknown {
  return isGiven(options, name) ? (options as Record<string, unknown>)[name] : undefined
}

/** The names that are given and not known. */
export function strangersIn(options: object, known: ReadonlySet<string>): string[] {
  const strangers: string[] = []
  for (const name in options) {
    if (!known.has(name) && isGiven(options, name)) strangers.push(name)
  }
  return strangers
}

function isGiven(options: object, name: string): boolean {
  return !(name in Object.prototype) || Object.hasOwn(options, name)
}

/**
 * What a predicate has said. A promise says nothing yet, and would count as true: it is refused, and what it may
 * reject with is nobody's.
 */
export function verdict(name: string, said: unknown): boolean {
  if (typeof said === 'boolean') return said
  refusePromise(name, said, 'a function that gives true or false, and no promise')
  return Boolean(said)
}

/** Refuses a promise where a function must answer at once. */
export function refusePromise(name: string, said: unknown, allowed: string): void {
  if (!isThenable(said)) return
  contain(said)
  throw invalid(name, said, allowed)
}

/** Whether it would be awaited. What cannot even be looked at is none. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' && typeof value !== 'function') return false
  try {
    return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
  } catch {
    return false
  }
}

/** Whatever comes of a promise, nobody waits for it. */
function contain(promise: PromiseLike<unknown>): void {
  new Promise((resolve) => resolve(promise)).catch(() => {})
}

function unknownOption(name: string, known: ReadonlySet<string>): TypeError {
  const message = `${shown(name)} is not an option; there are ${[...known].join(', ')}`
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_VALUE' })
}

export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalid(name, value, 'a function')
}

/** Checks a function that must answer at once. */
export function checkSync(name: string, value: unknown): void {
  if (value === undefined) return
  checkFunction(name, value)
  if (ASYNC.includes(Object.prototype.toString.call(value))) throw invalid(name, value, 'a function that is not async')
}

const ASYNC: readonly string[] = ['[object AsyncFunction]', '[object AsyncGeneratorFunction]']

export function checkBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw invalid(name, value, 'true or false')
}

export function checkSignal(name: string, value: unknown): void {
  if (value === undefined || value === null) return
  if (!isSignal(value)) throw invalid(name, value, 'an AbortSignal')
}

/** Of whatever realm, or a polyfill's. */
function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  const { addEventListener, removeEventListener } = value as Partial<AbortSignal>
  return 'aborted' in value && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
}

export function checkCount(name: string, value: unknown): void {
  if (value === undefined) return
  const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) < 2 ** 32
  if (!isCount) throw invalid(name, value, `a whole number from 1 to ${2 ** 32 - 1}`)
}

/** A time in ms: from `min`, and so short that a timer can wait for it. */
export function checkMillis(name: string, value: unknown, min: number): void {
  if (value === undefined) return
  const isTime = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= LONGEST
  if (!isTime) throw invalid(name, value, `a number of milliseconds from ${min} to ${LONGEST}`)
}

/** What `setTimeout` can wait for. */
const LONGEST = 2 ** 31 - 1

/** Checks that a string is UTF-16 that UTF-8 can say, and gives it. */
export function checkName(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed() && isName(value)) return value
  if (isThenable(value)) contain(value)
  throw invalid(name, value, 'a string of 1 to 1024 bytes of UTF-8, not blank, without NUL characters')
}

/** The native part has the last word; this only keeps its errors to what nobody can cause. */
function isName(value: string): boolean {
  return value.length <= 1024 && Buffer.byteLength(value) <= 1024 && !value.includes('\0') && /\P{White_Space}/u.test(value)
}
