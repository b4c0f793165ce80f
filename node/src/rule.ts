/** Rules in JavaScript's own vocabulary. Times are in ms. */
import { types } from 'node:util'
import { native } from './addon'
import { invalid, optionOf, shown, strangersIn } from './check'
import type { Fault } from './errors'
import type { RuleOptions as NativeOptions } from './native'

/** What a rule judges calls by. */
export type Strategy = 'slowRatio' | 'errorRatio' | 'errorCount' | 'consecutiveErrors'

/** When a breaker opens, and for how long: what `breaker(fn, …)` takes. */
export interface RuleFields {
  /** What calls are judged by: the ratio of slow calls, the ratio or number of failed ones, or failures in a row. */
  strategy: Strategy
  /** A ratio from 0 to 1, or a number of errors (in a row: from 1), at which the breaker opens. */
  threshold: number
  /** How long the breaker stays open, in whole ms, from 1. */
  retryTimeout: number
  /** Required for `slowRatio`, otherwise not looked at: a call that takes longer is slow. In ms, fractions allowed. */
  maxAllowedRt?: number | undefined
  /** How many calls, from 1, the window must hold before it is judged. Default: 5. */
  minRequestAmount?: number | undefined
  /** The length of the window in whole ms, from 1. Default: 1000. */
  statInterval?: number | undefined
  /** The buckets of the window, from 1 to 1000; they divide its length. Default: 1. */
  statSlidingWindowBucketCount?: number | undefined
  /** How many probes must end well to close the breaker, from 1 to 65535. Default: 1. */
  probeNum?: number | undefined
  /** How long, in whole ms, a probe may be out before others take its place; 0: for ever. Default: `retryTimeout`. */
  probeTimeout?: number | undefined
  /** What each reopening in a row multiplies the wait by, from 1. Default: 1. */
  backoffFactor?: number | undefined
  /** The longest wait that `backoffFactor` leads to, in whole ms, from 1. Default: a day. */
  maxRetryTimeout?: number | undefined
  /** Whether exactly the threshold opens the breaker, too. Default: true. */
  inclusive?: boolean | undefined
  /** A name under which the rule keeps its breaker when its numbers are edited; 1 and "1" are the same. */
  id?: string | number | undefined
}

/** A rule for a resource: what `registry.load` takes. */
export interface RuleOptions extends RuleFields {
  /** The resource's name, or the pattern of names if `regex` is set. */
  resource: string
  /** Whether `resource` is a pattern, in the dialect of Rust's `regex` crate, for whole names. Default: false. */
  regex?: boolean | undefined
}

/** A valid rule, with all its defaults. */
export interface Rule extends Readonly<Required<Omit<RuleOptions, 'maxAllowedRt' | 'id'>>> {
  readonly maxAllowedRt?: number
  readonly id?: string
}

/** What is wrong with a document, and what it holds. */
export interface ReadRules {
  /** The valid rules. */
  rules: Rule[]
  /** The valid rules in Sentinel's fields, normalised: a list in JSON. */
  json: string
  faults: Fault[]
  warnings: Warning[]
}

/** Something in a document that is allowed, but does nothing. */
export interface Warning extends Omit<Fault, 'allowed'> {
  /** What becomes of it, and why. */
  note: string
}

/** Reads a rule document (JSON, in Sentinel's or sentinel-golang's fields), and loads nothing. Never throws for its contents. */
export function readRules(document: string | Uint8Array): ReadRules {
  if (!isDocument(document)) throw invalid('document', document, 'JSON text, or its bytes')
  return native.readRules(documentText(document))
}

/** Text, or bytes of whatever realm: test runners have their own. */
export function isDocument(rules: unknown): rules is string | Uint8Array {
  return typeof rules === 'string' || types.isUint8Array(rules)
}

/** A document as the native part takes it: a lone surrogate, which UTF-8 cannot say, in JSON's escapes. */
export function documentText(document: string | Uint8Array): string | Uint8Array {
  if (typeof document !== 'string') return document
  return document.isWellFormed() ? document : document.replace(/\p{Surrogate}/gu, escaped)
}

function escaped(surrogate: string): string {
  return `\\u${surrogate.charCodeAt(0).toString(16)}`
}

const NUMBERS = [
  'threshold',
  'retryTimeout',
  'maxAllowedRt',
  'minRequestAmount',
  'statInterval',
  'statSlidingWindowBucketCount',
  'probeNum',
  'probeTimeout',
  'backoffFactor',
  'maxRetryTimeout',
] as const

const STRATEGIES: readonly string[] = ['slowRatio', 'errorRatio', 'errorCount', 'consecutiveErrors'] satisfies Strategy[]

/** The options of a rule, its resource aside. */
export const RULE_FIELDS: readonly string[] = ['strategy', ...NUMBERS, 'inclusive', 'id']

const KNOWN: ReadonlySet<string> = new Set(['resource', 'regex', ...RULE_FIELDS])

/** The rule among the options of something, if they hold one. */
export function ruleOf(options: object): RuleFields | undefined {
  const fields = Object.entries(options).filter(([name, value]) => RULE_FIELDS.includes(name) && value !== undefined)
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as unknown as RuleFields)
}

/** Rules on their way to the native part, and what of them it cannot even be told. */
export interface Prepared {
  rules: NativeOptions[]
  /** The position that each had in its list. */
  places: number[]
  faults: Fault[]
}

/** Prepares rules. Numbers are judged by the library; here, only what is none becomes NaN. */
export function prepare(rules: unknown): Prepared {
  const prepared: Prepared = { rules: [], places: [], faults: [] }
  const list: unknown[] = Array.isArray(rules) ? rules : [rules]
  // By position, since a hole is a mistake like any other.
  for (let index = 0; index < list.length; index++) prepareOne(prepared, list[index], index)
  return prepared
}

function prepareOne({ rules, places, faults }: Prepared, rule: unknown, index: number): void {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    faults.push(told({ index, ...(rule !== undefined && { value: shown(rule) }), allowed: 'an object' }))
    return
  }
  const fields: Record<string, unknown> = Object.fromEntries([...KNOWN].map((name) => [name, optionOf(rule, name)]))
  const { resource, regex, inclusive, strategy, id } = fields
  const isName = typeof resource === 'string' && resource.isWellFormed()
  const wrong = (field: string, allowed: string, value = fields[field], isMissing = value === undefined): void => {
    faults.push(
      told({
        index,
        ...(isName && { resource }),
        field,
        ...(!isMissing && { value: shown(value) }),
        allowed,
      }),
    )
  }
  for (const name of strangersIn(rule, KNOWN)) {
    wrong(name, `left out: there are ${[...KNOWN].join(', ')}`, (rule as Record<string, unknown>)[name], false)
  }
  if (typeof strategy !== 'string' || !STRATEGIES.includes(strategy)) wrong('strategy', `one of ${STRATEGIES.join(', ')}`)
  for (const name of ['regex', 'inclusive']) {
    if (fields[name] !== undefined && typeof fields[name] !== 'boolean') wrong(name, 'true or false')
  }
  const isId = id === undefined || Number.isSafeInteger(id) || (typeof id === 'string' && id.isWellFormed())
  if (!isId) wrong('id', 'a string, or a whole number of at most 9007199254740991 in size')
  const given = [...KNOWN].filter((name) => fields[name] !== undefined)
  // Without a prototype: the native part reads what somebody has put into that of every object.
  const options: NativeOptions = Object.assign(Object.create(null), {
    resource: isName ? resource : '',
    strategy: typeof strategy === 'string' ? strategy : '',
    given: given.map((name) => ({ name, value: shown(fields[name]) })),
  })
  if (typeof regex === 'boolean') options.regex = regex
  if (typeof inclusive === 'boolean') options.inclusive = inclusive
  if (isId && id !== undefined) options.id = String(id)
  for (const name of NUMBERS) {
    const value = fields[name]
    if (value !== undefined) options[name] = typeof value === 'number' ? value : NaN
  }
  rules.push(options)
  places.push(index)
}

/** A fault with its message. */
export function told(fault: Omit<Fault, 'message'>): Fault {
  const { index, resource, field, value, allowed } = fault
  const of = resource === undefined ? '' : ` (resource ${shown(resource)})`
  const place = [...(index === undefined ? [] : [`rule ${index}${of}`]), ...(field === undefined ? [] : [`field ${field}`])]
  const found = value === undefined ? 'missing' : `${value} is not allowed`
  return { ...fault, message: `${place.join(', ')}: ${found}; it must be ${allowed}` }
}
