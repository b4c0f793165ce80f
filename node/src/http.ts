/** What the HTTP clients' adapters have in common: one breaker a host. */
import { checkCount, checkName, checkSync, invalid, optionsOf, verdict } from './check'
import { isBlocked } from './errors'
import { BAD, CANCELLED, GOOD, IGNORED, type Outcome } from './gate'
import { Registry } from './registry'
import { RULE_FIELDS, type RuleFields, ruleOf } from './rule'

/** Options of the adapters of HTTP clients. */
export interface HttpOptions extends Partial<RuleFields> {
  /**
   * Where the resources are. Default: a registry of the adapter's own, if there is a rule among the options, which
   * then guards each host; otherwise `Registry.global`, with whatever rules are loaded there.
   */
  registry?: Registry | undefined
  /**
   * The resource of a request. Default: its URL's host, with the port if it is not the protocol's own; for a URL
   * without a host, such as `data:`, its protocol. A request to a `Client` or `Pool` of undici has no URL, unless it
   * says its `origin`: it needs this option, which is then given nothing.
   */
  resource?: ((url: URL) => string) | undefined
  /** Whether a status counts as bad. Default: those from 500 do. */
  isFailureStatus?: ((status: number) => boolean) | undefined
  /** Whether an error counts as bad; otherwise it counts as good. Default: every one does. */
  isFailure?: ((error: any) => boolean) | undefined
  /**
   * Whether an error says nothing of the host. Default: none does, but for requests that their caller aborts, whatever
   * the signal's reason: `AbortSignal.timeout` is a caller's, too.
   */
  ignore?: ((error: any) => boolean) | undefined
  /** With a registry of its own: the most hosts that it keeps. Default: 10000. */
  maxHosts?: number | undefined
}

/** Checked options. */
export class HttpPolicy {
  readonly registry: Registry
  readonly #resource: (url: URL) => string
  readonly #isFailureStatus: (status: number) => boolean
  readonly #isFailure: ((error: any) => boolean) | undefined
  readonly #ignore: ((error: any) => boolean) | undefined

  constructor(given: HttpOptions) {
    const options = optionsOf('options', given, HTTP_OPTIONS)
    for (const name of ['resource', 'isFailureStatus', 'isFailure', 'ignore'] as const) checkSync(name, options[name])
    this.registry = registryOf(options)
    this.#resource = options.resource ?? hostOf
    this.#isFailureStatus = options.isFailureStatus ?? ((status) => status >= 500)
    this.#isFailure = options.isFailure
    this.#ignore = options.ignore
  }

  /** The resource of a request. */
  resourceOf(url: string | URL | undefined): string {
    return checkName('resource', this.#resource((typeof url === 'string' ? new URL(url) : url) as URL))
  }

  isFailureStatus(status: number): boolean {
    return verdict('isFailureStatus', this.#isFailureStatus(status))
  }

  /** Whether an error is its caller's, and says nothing of the host. */
  isIgnored(error: unknown): boolean {
    return isAborted(error) || this.#isToIgnore(error)
  }

  isBadError(error: unknown): boolean {
    return this.#isFailure === undefined || verdict('isFailure', this.#isFailure(error))
  }

  #isToIgnore(error: unknown): boolean {
    return this.#ignore !== undefined && verdict('ignore', this.#ignore(error))
  }

  ofError(error: unknown): Outcome {
    if (isAborted(error)) return CANCELLED
    if (isBlocked(error) || this.#isToIgnore(error)) return IGNORED
    return this.isBadError(error) ? BAD : GOOD
  }
}

function hostOf(url: URL | undefined): string {
  if (url === undefined) throw invalid('origin', undefined, 'given with a request to a Client or Pool, unless there is the option `resource`')
  return url.host || url.protocol
}

function registryOf({ registry, maxHosts = 10_000, ...options }: HttpOptions): Registry {
  checkCount('maxHosts', maxHosts)
  const rule = ruleOf(options)
  if (rule === undefined) {
    if (registry !== undefined && !(registry instanceof Registry)) throw invalid('registry', registry, 'a Registry')
    return registry ?? Registry.global
  }
  if (registry !== undefined) throw invalid('registry', registry, 'left out where there is a rule: load it there as a default rule')
  const own = new Registry({ maxResources: maxHosts })
  own.loadDefaults({ resource: '*', ...rule })
  return own
}

/** What the clients reject with when a caller aborts without a reason of its own. */
function isAborted(error: unknown): boolean {
  const { name, code } = (typeof error === 'object' && error !== null ? error : {}) as { name?: unknown; code?: unknown }
  return name === 'AbortError' || code === 'UND_ERR_ABORTED' || code === 'ERR_CANCELED'
}

export const HTTP_OPTIONS: ReadonlySet<string> = new Set([
  ...RULE_FIELDS,
  'registry',
  'resource',
  'isFailureStatus',
  'isFailure',
  'ignore',
  'maxHosts',
])
