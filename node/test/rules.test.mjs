import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { breaker, InvalidRuleError, readRules, Registry } from 'tripcoil'
import { R0, trip, world } from './support.mjs'

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
  assert.throws(() => clock.setNanoseconds(5), { ...bad, message: /^time: / })
  for (const maxResources of [0, -1, 1.5, '5', 2 ** 32, NaN]) assert.throws(() => new Registry({ maxResources }), { ...bad, message: /^maxResources: / })
  assert.throws(() => new Registry({ clock: Date }), { ...bad, message: /^clock: a function is not allowed; it must be a VirtualClock$/ })
  assert.throws(() => new Registry({ size: 1 }), { ...bad, message: /^"size" is not an option; there are clock, maxResources$/ })
  assert.throws(() => registry.onTransition(5), { ...bad, message: /^listener: / })
  assert.throws(() => registry.transitions({ buffer: 0 }), { ...bad, message: /^buffer: / })
})
