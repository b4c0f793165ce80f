import assert from 'node:assert/strict'
import { types } from 'node:util'
import { test } from 'node:test'
import vm from 'node:vm'
import { Worker } from 'node:worker_threads'
import { CircuitOpenError, InvalidRuleError, isBlocked, Registry, TimeoutError } from 'tripcoil'
import { R0, trip, world } from './support.mjs'

function blocked() {
  const { stock, clock } = world()
  trip(stock)
  clock.advance(500.25)
  try {
    stock.enter()
  } catch (error) {
    return error
  }
}

test('a rejection after a load names the rule as that has edited it', () => {
  const { registry, stock } = world({ id: 'one' })
  stock.setMode('forcedOpen')
  const rejected = () => {
    try {
      return stock.enter()
    } catch ({ rule, explanation }) {
      return [rule.threshold, explanation.includes(`at least ${rule.threshold} `)]
    }
  }
  assert.deepEqual(rejected(), [0.5, true])
  registry.load({ resource: 'stock', ...R0, id: 'one', threshold: 0.9 })
  assert.equal(stock.breakers()[0].snapshot().mode, 'forcedOpen')
  assert.deepEqual(rejected(), [0.9, true])
})

test('a rejection tells the resource, the rule, the state, the time, and all of it in words', () => {
  const error = blocked()
  assert.ok(error instanceof CircuitOpenError && error instanceof Error && types.isNativeError(error))
  const { name, code, message, resource, state, mode, retryAfter, explanation, rule } = error
  assert.deepEqual({ name, code, resource, state, mode, retryAfter }, { name: 'CircuitOpenError', code: 'ECIRCUITOPEN', resource: 'stock', state: 'open', mode: 'normal', retryAfter: 1499.75 })
  assert.equal(message, 'call blocked: the breaker of "stock" is open, next probe in 1500 ms')
  assert.equal(explanation, `${message} ("stock": error ratio of at least 0.5 in 1s, open for 2s)`)
  assert.deepEqual([rule.strategy, rule.threshold], ['errorRatio', 0.5])
  assert.equal(String(error), `CircuitOpenError: ${message}`)
  assert.equal(error.stack, String(error))
})

test('no name breaks the line that tells of it', () => {
  const hostile = 'a\n\r\u001b[31m\u202e\u2028'
  const registry = new Registry()
  registry.setOwnRules(hostile, { resource: hostile, ...R0 })
  const resource = registry.resource(hostile)
  trip(resource)
  assert.throws(() => resource.enter(), (error) => {
    for (const text of [error.message, error.explanation, error.stack, new TimeoutError(hostile, 5).message]) {
      assert.doesNotMatch(text, /[\p{Cc}\u202e\u2028]/u)
      assert.match(text, /\\u(001b|\{1b\})\[31m/)
    }
    return error.resource === hostile
  })
})

test('each rejection is an error of its own, and the stack traces of others stay as they are', () => {
  const { stock } = world()
  stock.setMode('forcedOpen')
  const errors = [0, 1].map(() => { try { stock.enter() } catch (error) { return error } })
  assert.notEqual(errors[0], errors[1])
  assert.match(new Error('other').stack, /errors\.test/)
  assert.throws(() => { errors[0].rule.threshold = 1 }, TypeError)
})

test('a half-open breaker says so, and for how long at most', () => {
  const { stock, clock } = world()
  trip(stock)
  clock.advance(2000)
  stock.enter()
  clock.advance(500)
  assert.throws(() => stock.enter(), { state: 'halfOpen', retryAfter: 1500, message: 'call blocked: the breaker of "stock" is half-open and its probes are out, next probe in 1500 ms' })
})

test('a rule that was edited under its id is told with its present numbers', () => {
  const { stock, registry } = world({ id: 'one' })
  trip(stock)
  assert.throws(() => stock.enter(), (error) => error.rule.threshold === 0.5)
  registry.load({ resource: 'stock', ...R0, id: 'one', threshold: 0.25 })
  stock.setMode('forcedOpen')
  assert.throws(() => stock.enter(), (error) => error.rule.threshold === 0.25)
})

test('instanceof goes by code: for errors of another realm, and subclasses of ours only by their class', () => {
  const foreign = vm.runInNewContext(`Object.assign(new Error('x'), { code: 'ECIRCUITOPEN' })`)
  assert.ok(foreign instanceof CircuitOpenError && isBlocked(foreign))
  class Mine extends CircuitOpenError {}
  assert.ok(!(foreign instanceof Mine) && !(blocked() instanceof Mine))
  for (const value of [undefined, null, 5, 'ECIRCUITOPEN', {}, new Error('x'), Object.assign(new Error('x'), { code: 'ETIMEDOUT' })]) {
    assert.ok(!(value instanceof CircuitOpenError) && !(value instanceof InvalidRuleError) && !(value instanceof TimeoutError))
  }
})

test('a rejection crosses threads: as the error that a worker ends with, and as its JSON', async () => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { Registry, CircuitOpenError } = require('tripcoil')
    const registry = new Registry()
    registry.load({ resource: 'stock', strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 })
    registry.resource('stock').setMode('forcedOpen')
    try { registry.resource('stock').enter() } catch (error) {
      if (!(error instanceof CircuitOpenError)) throw new Error('not even here')
      parentPort.postMessage(error.toJSON())
      throw error
    }`
  const worker = new Worker(code, { eval: true })
  const [message, error] = await Promise.all([new Promise((resolve) => worker.once('message', resolve)), new Promise((resolve) => worker.once('error', resolve))])
  assert.ok(error instanceof CircuitOpenError && isBlocked(new Error('outer', { cause: error })))
  const made = CircuitOpenError.from(message)
  assert.ok(made instanceof CircuitOpenError && made instanceof Error && types.isNativeError(made))
  for (const it of [error, made]) {
    assert.deepEqual([it.code, it.resource, it.mode, it.retryAfter, it.rule.threshold], ['ECIRCUITOPEN', 'stock', 'forcedOpen', Infinity, 0.5])
  }
  assert.equal(made.message, 'call blocked: the breaker of "stock" is forced open')
  assert.equal(made.name, 'CircuitOpenError')
})

test('rejections are known by what they caused', () => {
  const error = blocked()
  assert.ok(isBlocked(error) && isBlocked(new Error('a', { cause: new Error('b', { cause: error }) })))
  assert.ok(!isBlocked(new Error('a', { cause: new Error('b') })) && !isBlocked(undefined))
})

test('the registry of the process is one for its threads: state, rules and changes', async () => {
  Registry.global.loadResource('across', { resource: 'across', ...R0 })
  const resource = Registry.global.resource('across')
  const told = []
  const first = new Promise((resolve) => Registry.global.onTransition((transition) => {
    if (transition.resource !== 'across') return
    told.push(transition.to)
    resolve()
  }))
  const worker = new Worker(`
    const { breaker } = require('tripcoil')
    const call = breaker(async () => { throw new Error('no') }, { resource: 'across' })
    ;(async () => { for (let i = 0; i < 4; i++) await call().catch(() => {}) })()
  `, { eval: true })
  await new Promise((resolve) => worker.once('exit', resolve))
  assert.equal(resource.state, 'open')
  const keepAlive = setInterval(() => {}, 1000)
  await first
  clearInterval(keepAlive)
  assert.deepEqual(told, ['open'])
})

test('an error that has been JSON in between is the same, also without a limit', () => {
  const { stock } = world()
  stock.setMode('forcedOpen')
  const error = (() => { try { stock.enter() } catch (error) { return error } })()
  const made = CircuitOpenError.from(JSON.parse(JSON.stringify(error)))
  assert.deepEqual([made.retryAfter, { ...made.toJSON() }], [Infinity, { ...error.toJSON() }])
  assert.deepEqual(CircuitOpenError.from(structuredClone(error.toJSON())).toJSON(), error.toJSON())
})

test('an error is made of nothing but what toJSON has given', () => {
  for (const fields of [5, null, undefined, {}, 'ECIRCUITOPEN', { code: 'ETIMEDOUT' }, []]) {
    assert.throws(() => CircuitOpenError.from(fields), { name: 'TypeError', message: /^fields: / })
  }
})
