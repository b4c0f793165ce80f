import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import Opossum from 'opossum'
import { Breaker, CircuitOpenError, Registry } from 'tripcoil'
import { R0, world } from './support.mjs'

const EVENTS = ['open', 'halfOpen', 'close', 'success', 'failure', 'timeout', 'reject', 'fallback']

function made(fn, options = {}) {
  const { registry, clock } = world()
  const breaker = new Breaker(fn, { resource: 'stock', registry, ...options })
  const events = []
  for (const event of EVENTS) breaker.on(event, (...args) => events.push([event, ...args]))
  return { breaker, registry, clock, events, names: () => events.splice(0).map(([name]) => name) }
}

test('a life: failures, open, rejected, probed, closed', async () => {
  const { breaker, clock, names } = made(async (value) => { if (value instanceof Error) throw value; return value })
  assert.equal(await breaker.fire(5), 5)
  for (let i = 0; i < 3; i++) await assert.rejects(breaker.fire(new Error('no')), /^Error: no$/)
  assert.deepEqual(names(), ['success', 'failure', 'failure', 'failure', 'open'])
  await assert.rejects(breaker.fire(5), CircuitOpenError)
  assert.deepEqual([names(), breaker.opened, breaker.closed, breaker.halfOpen], [['reject'], true, false, false])
  clock.advance(2000)
  assert.equal(await breaker.fire(6), 6)
  assert.deepEqual([names(), breaker.closed], [['halfOpen', 'close', 'success'], true])
  assert.deepEqual(breaker.stats, { fires: 6, successes: 2, failures: 3, timeouts: 0, rejects: 1, fallbacks: 0 })
  const { state, stats, breakers: [own] } = breaker.status
  assert.deepEqual([state, stats.fires, own.totals.blocked, breaker.name], ['closed', 6, 1, 'stock'])
})

test('the fallback gets the arguments and then the error; its answer is an event', async () => {
  const { breaker, events } = made(async () => { throw new Error('no') })
  assert.equal(breaker.fallback((a, b, error) => `${a}${b}${error.message}`), breaker)
  assert.equal(await breaker.fire(1, 2), '12no')
  assert.deepEqual(events.map(([name, first]) => [name, first.message ?? first]), [['failure', 'no'], ['fallback', '12no']])
})

test('a time-out is a failure, too', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { breaker, names } = made(() => new Promise(() => {}), { timeout: 10 })
  const promise = breaker.fire()
  t.mock.timers.tick(10)
  await assert.rejects(promise, { code: 'ETIMEDOUT' })
  assert.deepEqual([names(), breaker.stats.timeouts, breaker.stats.failures], [['timeout', 'failure'], 1, 1])
})

test('events come in the order in which opossum has them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told = [Breaker, Opossum].map((Class) => {
    const options = Class === Breaker ? { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 2, retryTimeout: 1000 } : { errorThresholdPercentage: 49, volumeThreshold: 2, resetTimeout: 1000 }
    const breaker = new Class(async (how) => how === 'hang' ? new Promise(() => {}) : how, { timeout: 10, ...options })
    const events = []
    for (const event of EVENTS) breaker.on(event, () => events.push(event))
    return { breaker, events }
  })
  for (const { breaker, events } of told) {
    breaker.fallback(() => 'instead')
    for (const how of [5, 'hang', 5]) {
      const answer = breaker.fire(how)
      if (how === 'hang') t.mock.timers.tick(10)
      await answer
    }
    breaker.shutdown?.()
  }
  assert.deepEqual(told[0].events, ['success', 'timeout', 'failure', 'open', 'fallback', 'reject', 'fallback'])
  assert.deepEqual(told[1].events, told[0].events)
})

test('a call that a classifier makes fail is a failure, and what is told of it may move the time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { breaker, names } = made(async () => { throw new Error('no') }, { timeout: 10, isFailure() { throw new Error('broken') }, fallback: () => 'instead' })
  breaker.on('failure', () => t.mock.timers.tick(20))
  await assert.rejects(breaker.fire(), /^Error: broken$/)
  assert.deepEqual([names(), breaker.stats.failures, breaker.stats.timeouts], [['failure'], 1, 0])
})

test('by hand: open, close, disable, enable', async () => {
  const { breaker, names } = made(async (error) => { if (error) throw error })
  breaker.open()
  breaker.open()
  await assert.rejects(breaker.fire(), CircuitOpenError)
  assert.deepEqual([breaker.opened, breaker.enabled], [true, true])
  breaker.close()
  await breaker.fire()
  breaker.disable()
  assert.equal(breaker.enabled, false)
  for (let i = 0; i < 10; i++) await assert.rejects(breaker.fire(new Error('no')), /^Error: no$/)
  breaker.enable()
  assert.deepEqual([breaker.closed, breaker.enabled], [true, true])
  assert.deepEqual(names().filter((name) => name !== 'failure'), ['open', 'reject', 'close', 'success'])
})

test('open holds until close: through enable, after loads, and without a rule', async () => {
  const { breaker, registry, clock, names } = made(async () => 5)
  const isHeld = async () => {
    await assert.rejects(breaker.fire(), (error) => error instanceof CircuitOpenError && error.mode === 'forcedOpen' && error.retryAfter === Infinity)
    assert.deepEqual([breaker.opened, breaker.closed], [true, false])
  }
  breaker.open()
  await isHeld()
  breaker.enable()
  await isHeld()
  clock.advance(1e9)
  await isHeld()
  registry.load({ resource: 'stock', ...R0, threshold: 0.7 })
  await isHeld()
  assert.throws(() => breaker.resource.enter(), CircuitOpenError)
  registry.load([])
  await isHeld()
  registry.load({ resource: 'stoc.', regex: true, ...R0 })
  await isHeld()
  breaker.disable()
  assert.deepEqual([await breaker.fire(), breaker.enabled], [5, false])
  breaker.enable()
  await isHeld()
  breaker.close()
  assert.deepEqual([await breaker.fire(), breaker.closed, breaker.stats.rejects], [5, true, 7])
  registry.load({ resource: 'stock', ...R0 })
  assert.equal(await breaker.fire(), 5)
  assert.equal(names().filter((name) => name === 'reject').length, 7)
})

test('open without a rule has the fallback answer, and is held for all that are on the resource', async () => {
  const registry = new Registry()
  const [one, other] = [1, 2].map((n) => new Breaker(async () => n, { resource: 'bare', registry, fallback: (error) => error.code }))
  one.open()
  assert.deepEqual([await one.fire(), await other.fire(), other.opened], ['ECIRCUITOPEN', 'ECIRCUITOPEN', true])
  other.close()
  assert.deepEqual([await one.fire(), await other.fire(), one.opened], [1, 2, false])
  one.open()
  one.resource.setMode('normal')
  assert.deepEqual([await one.fire(), one.opened], [1, false])
})

test('disable holds until enable, after loads, and without a rule; enable opens and closes nothing', async () => {
  const { breaker, registry } = made(async (error) => { if (error) throw error })
  breaker.disable()
  registry.load({ resource: 'stock', ...R0, threshold: 0.7 })
  for (let i = 0; i < 10; i++) await assert.rejects(breaker.fire(new Error('no')), /^Error: no$/)
  registry.load([])
  assert.equal(breaker.enabled, false)
  registry.load({ resource: 'stock', ...R0 })
  assert.equal(breaker.enabled, false)
  breaker.enable()
  for (let i = 0; i < 4; i++) await assert.rejects(breaker.fire(new Error('no')), /^Error: no$/)
  assert.deepEqual([breaker.enabled, breaker.opened], [true, true])
  breaker.enable()
  assert.equal(breaker.opened, true)
})

test('what another thread loads does not end what is held', async () => {
  const breaker = new Breaker(async () => 5, { resource: 'held by one thread', ...R0 })
  breaker.open()
  const load = "require('tripcoil').Registry.global.loadResource('held by one thread', require('node:worker_threads').workerData)"
  const worker = new Worker(load, { eval: true, workerData: { resource: 'held by one thread', ...R0, threshold: 0.7 } })
  await once(worker, 'exit')
  assert.equal(breaker.resource.breakers()[0].rule.threshold, 0.7)
  await assert.rejects(breaker.fire(), CircuitOpenError)
})

test('async generator functions are refused, of which fire would only begin what can fail', () => {
  const refused = { name: 'TypeError', message: 'fn: a function is not allowed; it must be another than an async generator function, which `breaker` guards' }
  assert.throws(() => new Breaker(async function* () {}, R0), refused)
  assert.throws(() => new Breaker((async function* () {}).bind(null), R0), refused)
})

test('this is passed by call, and success tells the time', async () => {
  const self = {}
  const { breaker, events } = made(async function () { return this })
  assert.equal(await breaker.call(self), self)
  assert.ok(events[0][2] >= 0)
})

test('events of other resources are not told', () => {
  const { registry, names } = made(async () => {})
  registry.load([{ resource: 'stock', ...R0 }, { resource: 'other', ...R0 }])
  registry.resource('other').setMode('forcedOpen')
  assert.deepEqual(names(), [])
})

test('once means once, and a listener that throws stops nobody', async (t) => {
  t.mock.method(process, 'emitWarning', () => {})
  const { breaker, names } = made(async () => 5)
  const once = []
  breaker.once('success', (value) => once.push(value))
  breaker.prependListener('success', () => { throw new Error('listener') })
  assert.deepEqual([await breaker.fire(), await breaker.fire(), once, names()], [5, 5, [5], ['success', 'success']])
})

test('the resource must have a name, and options are checked', () => {
  assert.throws(() => new Breaker(async () => {}, { resource: () => 'a' }), { message: /^resource: a function is not allowed; it must be a string$/ })
  assert.throws(() => new Breaker(async () => {}, { errorThresholdPercentage: 50 }), { message: /^"errorThresholdPercentage" is not an option/ })
  assert.throws(() => new Breaker(async () => {}), { message: /^options: missing/ })
  assert.throws(() => new Breaker(async () => {}, R0).fallback(5), { message: /^fallback: 5 is not allowed/ })
})

test('the fallback may be another breaker, as with opossum', async () => {
  const registry = new Registry()
  const other = new Breaker(async (sku, error) => `${sku} ${error.message}`, { resource: 'other', registry })
  const breaker = new Breaker(async () => { throw new Error('no') }, { resource: 'stock', registry }).fallback(other)
  assert.equal(await breaker.fire('a'), 'a no')
  assert.deepEqual([other.stats.fires, breaker.stats.fallbacks], [1, 1])
  other.open()
  await assert.rejects(breaker.fire('a'), CircuitOpenError)
  for (const wrong of [undefined, null, {}, 'other']) assert.throws(() => breaker.fallback(wrong), { name: 'TypeError', message: /^fallback: / })
})
