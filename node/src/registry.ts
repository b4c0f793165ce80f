import { createReadStream } from 'node:fs'
import { native, type Native } from './addon'
import { checkBoolean, checkCount, checkName, invalid, optionsOf } from './check'
import { VirtualClock } from './clock'
import { type Fault, InvalidRuleError } from './errors'
import { Gate } from './gate'
import { type Held, Resource } from './resource'
import { documentText, isDocument, prepare, type Rule, type RuleOptions, told, type Warning } from './rule'
import { Hub, type Transition, type TransitionListener, transitions, type TransitionsOptions } from './transitions'

/** Options of a registry. */
export interface RegistryOptions {
  /** The source of time. Default: the system's monotonic clock. */
  clock?: VirtualClock | undefined
  /**
   * The most resources that it keeps, from 1. A new name beyond that takes the place of a resource that nobody
   * uses and whose breakers are as new; where there is none, its calls pass unguarded, and are counted.
   * Default: no limit.
   */
  maxResources?: number | undefined
}

/** Rules: objects, or a document (JSON text or its bytes, in Sentinel's or sentinel-golang's fields). */
export type RuleSource = readonly RuleOptions[] | RuleOptions | string | Uint8Array

/** What a load did. */
export interface Report {
  /** How many rules were taken; the same rule twice counts once. */
  rules: number
  /** What was wrong with the rules that a lenient load left out. */
  faults: Fault[]
  /** What was ignored. */
  warnings: Warning[]
}

/** What a rule document may take at most, see `setLimits`. */
export interface Limits {
  /** The bytes of a document. Default: 16 MiB. */
  documentBytes: number
  /** The rules of a document, good and bad. Default: 1,000,000. */
  rules: number
  /** The bytes that one pattern takes when compiled; each matching thread adds 100 KiB. Default: 1 MiB. */
  patternBytes: number
  /** The bytes that all patterns of a document take together. Default: 64 MiB. */
  patternsBytes: number
  /** How many faults are listed, and how many warnings; a last one says how many more. Default: 1000. */
  listed: number
}

/** Options of a load. */
export interface LoadOptions {
  /** Take the valid rules of a document, and leave out the others, as Sentinel does. Default: false. */
  lenient?: boolean | undefined
}

/**
 * Resources by name, and the rules that guard them. A resource is made when its name is first asked for, and kept;
 * it is guarded by the rules that are loaded for it then and later.
 */
export class Registry {
  static #global: Registry | undefined

  /**
   * The registry that the process shares: its worker threads, too. What one thread loads or learns holds for all,
   * and each tells its own listeners.
   */
  static get global(): Registry {
    return (this.#global ??= new Registry(native.NativeRegistry.global()))
  }

  /** @internal */
  readonly hub: Hub
  /** What is held by hand, by the resources' names: also for the breakers that a load brings. @internal */
  readonly held = new Map<string, Held>()
  readonly #native: Native.NativeRegistry
  #named: NamedGate | undefined

  /** A registry of its own, for this thread. */
  constructor(options?: RegistryOptions)
  /** @internal */
  constructor(registry: Native.NativeRegistry)
  constructor(options: RegistryOptions | Native.NativeRegistry = {}) {
    this.#native = options instanceof native.NativeRegistry ? options : make(options)
    this.hub = new Hub(this.#native)
  }

  /**
   * The resource of a name, made if it is new.
   *
   * @throws {TypeError} The name is not a string of 1 to 1024 bytes of UTF-8, or is blank, or holds a NUL.
   */
  resource(name: string): Resource {
    return new Resource(name, this.#native.resource(checkName('resource', name)), this)
  }

  /** Calls by name. @internal */
  get named(): NamedGate {
    return (this.#named ??= new NamedGate(this.#native, this.hub))
  }

  /**
   * Replaces all exact and regex rules, or, if anything is wrong, changes nothing. A rule that is loaded already
   * keeps its breaker with state and window, and so does an edited one of the same `id` whose window keeps its shape.
   *
   * @throws {InvalidRuleError} Every fault.
   */
  load(rules: RuleSource, options: LoadOptions = {}): Report {
    const { lenient = false } = optionsOf('options', options, LOAD_OPTIONS)
    checkBoolean('lenient', lenient)
    if (isDocument(rules)) return this.#done(this.#native.load(documentText(rules), lenient))
    if (lenient) throw invalid('lenient', true, 'left out: rules that are objects are loaded all or none')
    return this.#loadObjects('ordinary', '', rules)
  }

  /** As `load`, from a document in a file. */
  async loadFile(path: string | URL, options: LoadOptions = {}): Promise<Report> {
    return this.load(await documentOf(path, this.limits), options)
  }

  /** Replaces the exact rules of one resource; a rule of another one, or with `regex`, is a fault. */
  loadResource(name: string, rules: RuleSource): Report {
    checkName('name', name)
    if (isDocument(rules)) return this.#done(this.#native.loadResource(name, documentText(rules)))
    return this.#loadObjects('resource', name, rules)
  }

  /**
   * Gives a resource rules of its own, in the place of those it had: what the code that calls it says, as the rule
   * among the options of `breaker` does. They guard it while no rule that is loaded for its name does, and default
   * rules then do not; loads leave them. A bounded registry forgets them with the resource, and takes none for a name
   * that it has no place for: its report says 0 then.
   */
  setOwnRules(name: string, rules: RuleSource): Report {
    checkName('name', name)
    if (isDocument(rules)) return this.#done(this.#native.setOwn(name, documentText(rules)))
    return this.#loadObjects('own', name, rules)
  }

  /**
   * Replaces the default rules, whose resource is `*`. They guard every resource that no other rule matches and
   * that is not excluded, each with breakers of its own.
   */
  loadDefaults(rules: RuleSource): Report {
    if (isDocument(rules)) return this.#done(this.#native.loadDefaults(documentText(rules)))
    return this.#loadObjects('defaults', '*', rules)
  }

  /** What rule documents may take. */
  get limits(): Limits {
    return this.#native.limits
  }

  /**
   * Sets what rule documents that are loaded from now on may take: those that are given, each a whole number from 1;
   * the others stay. Documents come from configuration services and files, and who can write there should not be
   * able to exhaust the process that reads them. A document beyond a limit changes nothing, and the error says which
   * it is. Fixed besides: 64 brackets open at once, and names, patterns, ids and `limitApp` of 1024 bytes.
   */
  setLimits(limits: Partial<Limits>): void {
    const now = this.#native.limits
    const given = optionsOf('limits', limits, new Set(Object.keys(now)))
    for (const [name, limit] of Object.entries(given)) checkCount(name, limit)
    this.#native.setLimits({ ...now, ...given })
  }

  /** Chooses the check that Sentinel made before 1.8 (without a half-open state), and replaces its rules. */
  loadLegacy(release: '1.6' | '1.7', document: string | Uint8Array): Report {
    if (release !== '1.6' && release !== '1.7') throw invalid('release', release, "'1.6' or '1.7'")
    if (!isDocument(document)) throw invalid('document', document, 'JSON text, or its bytes')
    return this.#done(this.#native.loadLegacy(release, documentText(document)))
  }

  #loadObjects(scope: 'ordinary' | 'resource' | 'own' | 'defaults', name: string, source: unknown): Report {
    const { rules, places, faults } = prepare(source)
    const loaded = this.#native.loadRules(scope, name, rules, faults.length === 0)
    const found = loaded.faults.map(({ index, ...fault }) => told(index === undefined ? fault : { index: places[index]!, ...fault }))
    // What JavaScript has found about the same field is nearer to what was meant.
    const isNew = ({ index, field }: Fault): boolean => !faults.some((known) => known.index === index && known.field === field)
    loaded.faults = [...faults, ...found.filter(isNew)].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
    return this.#done(loaded)
  }

  #done({ done, ...report }: Native.Loaded): Report {
    if (!done) throw new InvalidRuleError(report.faults)
    this.hub.drain()
    for (const name of this.held.keys()) this.resource(name).keep()
    return report
  }

  /** Takes names out of the default rules' guard: their default breakers are gone, with their state. */
  exclude(...names: string[]): void {
    this.#native.exclude(names.map((name) => checkName('name', name)))
  }

  /** Puts excluded names back under the default rules' guard, with new breakers. */
  include(...names: string[]): void {
    this.#native.include(names.map((name) => checkName('name', name)))
  }

  /** The names that default rules do not guard, sorted. */
  get excluded(): string[] {
    return this.#native.excluded()
  }

  /** All rules: exact ones, then regex ones, then resources' own where none of these guards them, then default ones. */
  get rules(): Rule[] {
    return this.#native.rules()
  }

  /** The names of all known resources, sorted. */
  get names(): string[] {
    return this.#native.names()
  }

  /** How many resources are known. */
  get size(): number {
    return this.#native.size()
  }

  /** How many calls a bounded registry has admitted unguarded, for want of a place for their names. */
  get unguardedCalls(): number {
    return this.#native.unguardedCalls()
  }

  /** The time on its clock in ms: that of transitions and trips. */
  get now(): number {
    return this.#native.now()
  }

  /**
   * Tells `listener` of every change, until the function that is given back is called. A change made by a call of
   * this thread is told before that call goes on; one made by another thread, in a turn of the event loop. What a
   * listener throws becomes a warning of the process. Keeps no event loop alive.
   */
  onTransition(listener: TransitionListener): () => void {
    return this.hub.listen(listener)
  }

  /** Every change from now on, as an async iterator. */
  transitions(options: TransitionsOptions = {}): AsyncIterableIterator<Transition> {
    return transitions(this.hub, optionsOf('options', options, TRANSITIONS_OPTIONS))
  }

  /** How many changes were lost because this thread was too busy to take them. */
  get lostTransitions(): number {
    return this.#native.lostChanges()
  }
}

/** A file's document, or so much of it that it is refused as too large, were it endless. */
async function documentOf(path: string | URL, { documentBytes }: Limits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  // `end` is inclusive: one byte too many is enough.
  for await (const chunk of createReadStream(path, { end: documentBytes })) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** Calls on resources by name. */
export class NamedGate extends Gate {
  readonly enter: (name: string) => number

  constructor(registry: Native.NativeRegistry, hub: Hub) {
    const reason = (): Native.Reason | null => registry.reasonNamed()
    super({ sharesReasons: false, reason, retryAfter: () => registry.retryAfterNamed() }, hub)
    this.enter = (name) => registry.enterNamed(name)
  }
}

function make(options: RegistryOptions): Native.NativeRegistry {
  const { clock, maxResources } = optionsOf('options', options, REGISTRY_OPTIONS)
  if (clock !== undefined && !(clock instanceof VirtualClock)) throw invalid('clock', clock, 'a VirtualClock')
  checkCount('maxResources', maxResources)
  return new native.NativeRegistry(clock?.native, maxResources ?? 0)
}

const REGISTRY_OPTIONS: ReadonlySet<string> = new Set(['clock', 'maxResources'])
const LOAD_OPTIONS: ReadonlySet<string> = new Set(['lenient'])
const TRANSITIONS_OPTIONS: ReadonlySet<string> = new Set(['signal', 'buffer'])
