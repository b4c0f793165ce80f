import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { breaker, Entry, InvalidRuleError, readRules, Registry } from 'tripcoil'
import { guardAdapter } from 'tripcoil/axios'
import { guardFetch } from 'tripcoil/fetch'
import { R0, run, trip, world } from './support.mjs'

const SENTINEL = { resource: 'stock', grade: 1, count: 0.5, timeWindow: 10 }

/** What is wrong with one rule that is R0 with these changes: its faults' fields. */
function faultsOf(changes, registry = new Registry()) {
  try {
    registry.load({ resource: 'stock', ...R0, ...changes })
    return []
  } catch (error) {
    assert.ok(error instanceof InvalidRuleError)
    assert.equal(error.code, 'EINVALIDRULE')
    for (const { message } of error.faults) assert.ok(error.message.includes(message))
    return error.faults
  }
}

const NONE = [-1, 1.5, '5', 2 ** 53, NaN, Infinity, null, true, 5n, {}, [], () => 5, Symbol('5')]
const WHOLE = ['retryTimeout', 'minRequestAmount', 'statInterval', 'statSlidingWindowBucketCount', 'probeNum', 'probeTimeout', 'maxRetryTimeout']

test('a whole number that is none is refused by its name', () => {
  for (const field of WHOLE) {
    for (const value of NONE) {
      const faults = faultsOf({ [field]: value })
      assert.deepEqual(faults.map((fault) => fault.field), [field], `${field}: ${String(value)}`)
      assert.match(faults[0].message, new RegExp(`^rule 0 \\(resource "stock"\\), field ${field}: .* is not allowed; it must be a whole number from [01] to \\d+`))
    }
  }
})

test('values at and beyond the bounds', () => {
  const bounds = {
    threshold: [[0, 1, 0.5], [-0.1, 1.0001, NaN, Infinity, -Infinity, '0.5', null]],
    retryTimeout: [[1, 1500, 2 ** 53 - 1], [0, 2 ** 53]],
    minRequestAmount: [[1, 2 ** 53 - 1], [0]],
    statInterval: [[10, 2 ** 53 - 1 - ((2 ** 53 - 1) % 10)], [0]],
    statSlidingWindowBucketCount: [[1, 1000], [0, 1001, 3, 7]],
    probeNum: [[1, 65_535], [0, 65_536]],
    probeTimeout: [[0, 1], []],
    backoffFactor: [[1, 1.5, Number.MAX_VALUE], [0.99, NaN, Infinity, '2']],
    maxRetryTimeout: [[1], [0]],
    inclusive: [[true, false], [1, 'true', null]],
    regex: [[true, false], [0, 'false', null]],
    id: [[5, -5, '5', 'a'], [1.5, 2 ** 53, NaN, {}, null, true, '\ud800']],
    strategy: [['errorRatio'], ['errorRate', 0, 1, null, 'slow ratio']],
    resource: [['a', ' a '], ['', ' ', '\u3000', 'a\0b', '\ud800', 'é'.repeat(513), 5, null, {}]],
  }
  for (const [field, [good, bad]] of Object.entries(bounds)) {
    for (const value of good) assert.deepEqual(faultsOf({ [field]: value }), [], `${field}: ${value}`)
    for (const value of bad) {
      assert.deepEqual(faultsOf({ [field]: value }).map((fault) => fault.field), [field], `${field}: ${String(value)}`)
    }
  }
})

test('what is required and missing is named', () => {
  for (const field of ['resource', 'strategy', 'threshold', 'retryTimeout']) {
    const [fault, ...more] = faultsOf({ [field]: undefined })
    assert.deepEqual([fault.field, fault.value, more], [field, undefined, []])
    assert.match(fault.message, new RegExp(`field ${field}: missing; it must be `))
  }
  assert.deepEqual(faultsOf({ strategy: 'slowRatio' }).map(({ field }) => field), ['maxAllowedRt'])
})

test('an unknown option is an error', () => {
  const [fault] = faultsOf({ retryTimeoutMs: 5 })
  assert.match(fault.message, /^rule 0 \(resource "stock"\), field retryTimeoutMs: 5 is not allowed; it must be left out: there are resource, /)
})

test('every fault is named at once, in the order of the rules, and nothing is changed', () => {
  const { registry, stock } = world()
  trip(stock)
  const rules = [
    { resource: 'a', ...R0, threshold: 2, probeNum: 0 },
    { resource: 'b', ...R0 },
    { resource: 'c', ...R0, foo: 1, inclusive: 'yes', minRequestAmount: -1 },
    'no rule',
    { resource: 'd', ...R0, id: 1 },
    { resource: 'd', ...R0, id: '1', threshold: 0.1 },
  ]
  assert.throws(() => registry.load(rules), ({ faults }) => {
    assert.deepEqual(faults.map(({ index, field }) => `${index} ${field}`), ['0 threshold', '0 probeNum', '2 foo', '2 inclusive', '2 minRequestAmount', '3 undefined', '5 id'])
    return true
  })
  assert.deepEqual([registry.rules.map(({ resource }) => resource), stock.state], [['stock'], 'open'])
})

test('a rule that a function brings is checked before anything happens', () => {
  const registry = new Registry()
  assert.throws(() => breaker(async () => {}, { resource: 'a', registry, ...R0, threshold: 7 }), InvalidRuleError)
  assert.throws(() => breaker(async () => {}, { resource: 'a', registry, threshold: 0.5 }), InvalidRuleError)
  assert.deepEqual(registry.rules, [])
})

test('rules are read back with their defaults, and may be loaded again', () => {
  const registry = new Registry()
  const rule = { resource: 'stock', strategy: 'slowRatio', threshold: 0.5, retryTimeout: 1500, maxAllowedRt: 1.001, id: 7 }
  registry.load(rule)
  assert.deepEqual(registry.rules, [{
    resource: 'stock', regex: false, strategy: 'slowRatio', threshold: 0.5, maxAllowedRt: 1.001, retryTimeout: 1500, minRequestAmount: 5,
    statInterval: 1000, statSlidingWindowBucketCount: 1, probeNum: 1, probeTimeout: 1500, backoffFactor: 1,
    maxRetryTimeout: 86_400_000, inclusive: true, id: '7',
  }])
  const stock = registry.resource('stock')
  stock.setMode('forcedOpen')
  registry.load(registry.rules)
  assert.equal(stock.breakers()[0].snapshot().mode, 'forcedOpen')
})

test('documents are text, bytes or files, in both forms', async (t) => {
  const registry = new Registry()
  const text = JSON.stringify([SENTINEL, { resource: 'price', strategy: 1, threshold: 0.2, retryTimeoutMs: 3000, note: 1 }])
  for (const document of [text, Buffer.from(text), new TextEncoder().encode(`\ufeff${text}`)]) {
    const report = registry.load(document)
    assert.deepEqual([report.rules, report.faults, report.warnings.map(({ field }) => field)], [2, [], ['note']])
  }
  const folder = await mkdtemp(join(tmpdir(), 'tripcoil-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'rules.json')
  await writeFile(file, text)
  assert.equal((await registry.loadFile(file)).rules, 2)
  assert.equal((await registry.loadFile(pathToFileURL(file))).rules, 2)
  await assert.rejects(registry.loadFile(join(folder, 'none.json')), { code: 'ENOENT' })
})

test('faults of a document tell the line', () => {
  const document = `[${JSON.stringify(SENTINEL)},\n {"resource": "b", "grade": 1, "count": 1.5, "timeWindow": 0}]`
  assert.throws(() => new Registry().load(document), ({ faults }) => {
    assert.deepEqual(faults.map(({ index, line, field, value }) => [index, line, field, value]), [[1, 2, 'count', '1.5'], [1, 2, 'timeWindow', '0']])
    return true
  })
})

test('bytes may be of another realm, as those that a test runner\'s files are', () => {
  const bytes = runInNewContext('Uint8Array.from(text, (c) => c.charCodeAt())', { text: JSON.stringify([SENTINEL]) })
  const { registry } = world()
  assert.equal(registry.load(bytes).rules, 1)
  assert.equal(registry.loadResource('stock', bytes).rules, 1)
  assert.equal(readRules(bytes).rules.length, 1)
})

test('a lenient load takes what is valid, of a document', () => {
  const registry = new Registry()
  const document = JSON.stringify([SENTINEL, { ...SENTINEL, count: 2 }])
  const report = registry.load(document, { lenient: true })
  assert.deepEqual([report.rules, report.faults.length, registry.rules.length], [1, 1, 1])
  assert.throws(() => registry.load('[', { lenient: true }), InvalidRuleError)
  assert.throws(() => registry.load([], { lenient: true }), { message: /^lenient: true is not allowed/ })
  assert.throws(() => registry.load([], { strict: true }), { message: /^"strict" is not an option/ })
})

test('a lone surrogate is a fault of the whole document, written or escaped', () => {
  for (const text of ['[{"resource": "\ud800", "grade": 1}]', String.raw`[{"resource": "\ud800", "grade": 1}]`, '\udc00']) {
    const { faults, rules } = readRules(text)
    assert.deepEqual([faults.map(({ index }) => index), rules], [[undefined], []])
  }
})

test('whatever a document holds, reading it never throws', () => {
  const texts = ['', 'null', '{}', '[1]', '[[]]', '['.repeat(100), '{"resource":1}', '\0', '[{"resource":"a","resource":"b"}]', '1e999', 'a'.repeat(100_000)]
  for (const text of texts) {
    assert.ok(readRules(text).faults.length > 0, text.slice(0, 20))
    assert.throws(() => new Registry().load(text), InvalidRuleError)
  }
  assert.deepEqual(readRules('[]'), { rules: [], json: '[]', faults: [], warnings: [] })
})

test('what is no source of rules is refused', () => {
  for (const source of [undefined, null, 5, true, () => {}]) {
    assert.throws(() => new Registry().load(source), InvalidRuleError)
  }
  assert.throws(() => new Registry().loadLegacy('1.8', '[]'), { message: /^release: "1.8" is not allowed/ })
  assert.throws(() => new Registry().loadLegacy('1.7', []), { message: /^document: an array is not allowed/ })
})

test('a function\'s own rule is beneath those that are loaded for its name, and stays when they go', () => {
  const registry = new Registry()
  const guarded = breaker(async () => 1, { resource: 'stock', registry, ...R0, threshold: 0.25 })
  const threshold = () => guarded.resource.breakers().map(({ rule }) => rule.threshold)
  registry.load([{ resource: 'other', ...R0 }])
  assert.deepEqual(threshold(), [0.25])
  registry.load([{ resource: 'stock', ...R0, threshold: 0.75 }])
  breaker(async () => 2, { resource: 'stock', registry, ...R0, threshold: 0.5 })
  assert.deepEqual(threshold(), [0.75])
  registry.load([])
  assert.deepEqual(threshold(), [0.5])
  registry.setOwnRules('stock', '[]')
  assert.deepEqual(threshold(), [])
  assert.throws(() => registry.setOwnRules('stock', { resource: 'b', ...R0 }), ({ faults }) => faults[0].field === 'resource')
})

test('one resource\'s rules, default rules and patterns', () => {
  const registry = new Registry()
  registry.loadResource('a', [{ resource: 'a', ...R0 }])
  assert.throws(() => registry.loadResource('a', { resource: 'b', ...R0 }), ({ faults }) => faults[0].field === 'resource')
  assert.throws(() => registry.loadDefaults({ resource: 'a', ...R0 }), ({ faults }) => faults[0].field === 'resource')
  registry.loadDefaults({ resource: '*', ...R0 })
  registry.exclude('free')
  assert.deepEqual([registry.resource('a'), registry.resource('b'), registry.resource('free')].map((resource) => resource.states().length), [1, 1, 0])
  registry.include('free')
  assert.deepEqual([registry.excluded, registry.resource('free').states().length], [[], 1])
  registry.load({ resource: 'ord.*', regex: true, ...R0 })
  assert.deepEqual(registry.resource('orders').breakers()[0].rule.resource, 'ord.*')
  assert.throws(() => registry.load({ resource: '(', regex: true, ...R0 }), ({ faults }) => faults[0].field === 'resource')
})

test('the legacy check is chosen explicitly', () => {
  const { registry, clock } = world()
  registry.load([])
  registry.loadLegacy('1.7', JSON.stringify({ resource: 'old', grade: 2, count: 4, timeWindow: 10 }))
  const old = registry.resource('old')
  for (let i = 0; i < 10; i++) old.tryEnter()?.fail()
  const { pass, block, exception } = old.legacyStatistics
  assert.deepEqual([pass, block, exception], [4, 6, 4])
  assert.throws(() => old.enter(), (error) => error.code === 'ECIRCUITOPEN' && error.rule === undefined && error.retryAfter === 10_000 && /legacy/.test(error.explanation))
  clock.advance(11_000)
  assert.equal(old.tryEnter(), undefined)
  assert.equal(registry.resource('other').legacyStatistics?.pass ?? 0, 0)
})

test('a hole in a list of rules is a fault of its position, and nothing is loaded', () => {
  const { registry } = world()
  const before = registry.rules
  const sparse = [{ resource: 'a', ...R0 }, , { resource: 'b', ...R0 }, undefined]
  assert.throws(() => registry.load(sparse), ({ faults }) => {
    assert.deepEqual(faults.map(({ message }) => message), ['rule 1: missing; it must be an object', 'rule 3: missing; it must be an object'])
    return true
  })
  assert.throws(() => registry.load(new Array(3)), ({ faults }) => faults.length === 3)
  assert.deepEqual(registry.rules, before)
})

test('what ends an entry takes a response time, and nothing else', () => {
  const { stock } = world()
  for (const how of ['exit', 'fail']) {
    const entry = stock.enter()
    for (const options of [null, 5, '5', [], new Error('no'), () => {}, true]) {
      assert.throws(() => entry[how](options), { name: 'TypeError', message: /^options: .* is not allowed; it must be an object/ })
    }
    assert.throws(() => entry[how]({ rt: 3 }), { name: 'TypeError', message: '"rt" is not an option; there are responseTime' })
    assert.throws(() => entry[how]({ responseTime: '5' }), { name: 'TypeError', message: /^responseTime: "5" is not allowed/ })
    assert.equal(entry.hasEnded, false)
    assert.equal(entry[how]({ responseTime: 3 }), true)
    assert.throws(() => entry[how](5), TypeError)
    assert.equal(entry[how](), false)
  }
})

test('options and rules may be of a class, or have a prototype: all are taken, and all are checked', () => {
  class Config {
    #threshold = 0.5
    strategy = 'errorRatio'
    get threshold() { return this.#threshold }
    get retryTimeout() { return 1000 }
    get resource() { return 'stock' }
  }
  const { registry } = world()
  registry.load(new Config())
  registry.load([Object.create({ resource: 'stock', ...R0 })])
  assert.equal(registry.rules[0].retryTimeout, R0.retryTimeout)
  assert.throws(() => registry.load(Object.create({ resource: 'stock', ...R0, tresh: 1 })), ({ faults }) => faults[0].field === 'tresh' && faults[0].value === '1')
  registry.load([])
  const own = breaker(() => {}, new (class extends Config { registry = registry })())
  assert.equal(own.resource.breakers()[0].rule.retryTimeout, 1000)
  const inherited = breaker(() => {}, Object.create({ ...R0, resource: 'stock', registry }))
  assert.equal(inherited.resource.breakers()[0].rule.minRequestAmount, R0.minRequestAmount)
  const bad = { code: 'ERR_INVALID_ARG_VALUE' }
  assert.throws(() => breaker(() => {}, Object.create({ ...R0, tresh: 1 })), { ...bad, message: /^"tresh" is not an option/ })
  assert.throws(() => breaker(() => {}, Object.create({ ...R0, timeout: -1 })), { ...bad, message: /^timeout: / })
  assert.throws(() => new Registry(Object.create({ maxResources: 0 })), { ...bad, message: /^maxResources: / })
  assert.throws(() => breaker(() => {}, Object.assign([], R0)), { ...bad, message: /^options: an array is not allowed/ })
})

test('an option is read once', async () => {
  const { registry } = world()
  let reads = 0
  const options = { registry, get resource() { reads += 1; return 'stock' }, get timeout() { reads += 1; return reads > 10 ? -1 : 1000 } }
  await breaker(() => {}, options)()
  assert.equal(reads, 2)
})

test('what is put into Object.prototype is no option', () => {
  const script = `
    import { breaker, Registry } from 'tripcoil'
    Object.assign(Object.prototype, { timeout: 5, responseTime: 'x', isFailure: 5, maxResources: -1, lenient: true, regex: true, foreign: 1 })
    const registry = new Registry()
    registry.load([{ resource: 'a.', strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 }])
    const call = breaker(() => new Promise((resolve) => setTimeout(resolve, 20)), { registry, resource: 'a.' })
    await call()
    console.log(registry.resource('a.').enter().exit(), registry.rules[0].regex)
  `
  const { status, stdout, stderr } = run(script)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'true false', ''])
})

test('documents have limits', () => {
  const registry = new Registry()
  const limits = { documentBytes: 2 ** 24, rules: 1_000_000, patternBytes: 2 ** 20, patternsBytes: 2 ** 26, listed: 1000 }
  assert.deepEqual({ ...registry.limits }, limits)
  registry.setLimits({ rules: 2, listed: 1 })
  assert.deepEqual({ ...registry.limits }, { ...limits, rules: 2, listed: 1 })
  const refused = (text) => {
    try {
      registry.load(text)
    } catch (error) {
      return error.faults
    }
  }
  assert.match(refused('[1, 2, 3]')[0].message, /a list of 3 rules is not allowed; it must be a list of at most 2/)
  assert.deepEqual(refused('[1, 2]').map((fault) => fault.index), [0, undefined])
  registry.setLimits({ documentBytes: 1 })
  assert.match(refused('[]')[0].message, /more than 1 bytes/)
  registry.setLimits({ documentBytes: 2 ** 32 - 1, rules: 2 ** 32 - 1, patternBytes: 2 ** 32 - 1, patternsBytes: 2 ** 32 - 1, listed: 2 ** 32 - 1 })
  assert.equal(registry.load('[]').rules, 0)
  for (const name of Object.keys(limits))
    for (const wrong of [0, -0, -1, 0.5, NaN, Infinity, 2 ** 32, 2 ** 64, 5n, '5', null, true])
      assert.throws(() => registry.setLimits({ [name]: wrong }), { message: new RegExp(`^${name}: `) })
  assert.throws(() => registry.setLimits({ size: 1 }), { message: /^"size" is not an option; there are documentBytes, rules/ })
})

test('what the adapters are given is refused by its name', () => {
  const bad = { code: 'ERR_INVALID_ARG_VALUE' }
  assert.throws(() => guardFetch({ ...R0, maxHosts: 0 }), { ...bad, message: /^maxHosts: 0 is not allowed/ })
  assert.throws(() => guardFetch({}, 'fetch'), { ...bad, message: /^fetch: "fetch" is not allowed/ })
  assert.throws(() => guardAdapter('http'), { ...bad, message: /^adapter: "http" is not allowed/ })
})

test('arguments that are none are refused by name', () => {
  const { registry, stock, clock } = world()
  const bad = { code: 'ERR_INVALID_ARG_VALUE' }
  for (const name of ['', ' ', 'a\0', '\ud800', 'x'.repeat(1025), 5, undefined, null]) assert.throws(() => registry.resource(name), { ...bad, message: /^resource: / })
  for (const mode of ['open', 1, undefined]) assert.throws(() => stock.setMode(mode), { ...bad, message: /^mode: / })
  for (const time of [-1, NaN, '5', 2 ** 53, undefined, 5n]) {
    assert.throws(() => clock.set(time), { ...bad, message: /^time: / })
    assert.throws(() => clock.advance(time), { ...bad, message: /^by: / })
    assert.throws(() => stock.enter().exit({ responseTime: time === 2 ** 53 ? -5 : (time ?? null) }), { ...bad, message: /^responseTime: / })
  }
  for (const document of [5, undefined, null, {}, [], new DataView(new ArrayBuffer(1))]) assert.throws(() => readRules(document), { ...bad, message: /^document: / })
  assert.throws(() => new Entry(), { ...bad, message: /^new Entry: / })
  assert.throws(() => clock.setNanoseconds(5), { ...bad, message: /^time: / })
  for (const rules of [0, -1, 1.5, '5', 2 ** 32, NaN]) assert.throws(() => registry.setLimits({ rules }), { ...bad, message: /^rules: / })
  for (const maxResources of [0, -1, 1.5, '5', 2 ** 32, NaN]) assert.throws(() => new Registry({ maxResources }), { ...bad, message: /^maxResources: / })
  assert.throws(() => new Registry({ clock: Date }), { ...bad, message: /^clock: a function is not allowed; it must be a VirtualClock$/ })
  assert.throws(() => new Registry({ size: 1 }), { ...bad, message: /^"size" is not an option; there are clock, maxResources$/ })
  assert.throws(() => registry.onTransition(5), { ...bad, message: /^listener: / })
  assert.throws(() => registry.transitions({ buffer: 0 }), { ...bad, message: /^buffer: / })
})

test('own rules are listed while they guard, and reported as taken where there is a place for them', () => {
  const registry = new Registry({ maxResources: 1 })
  const held = registry.resource('held')
  const own = { strategy: 'errorCount', threshold: 7, retryTimeout: 1000 }
  const thresholds = () => registry.rules.map(({ threshold }) => threshold)
  assert.equal(registry.setOwnRules('held', { resource: 'held', ...own }).rules, 1)
  assert.equal(registry.setOwnRules('other', { resource: 'other', ...own }).rules, 0)
  assert.deepEqual(thresholds(), [7])
  registry.load({ resource: '.*', regex: true, ...own, threshold: 3 })
  assert.deepEqual(thresholds(), [3])
  registry.load({ resource: 'held', ...own, threshold: 2 })
  assert.deepEqual(thresholds(), [2])
  registry.load([])
  registry.loadDefaults({ resource: '*', ...own, threshold: 1 })
  assert.deepEqual(thresholds(), [7, 1])
  assert.equal(held.breakers()[0].rule.threshold, 7)
})
