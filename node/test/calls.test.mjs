import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { breaker, Breaker, CircuitOpenError, isBlocked, Registry, trace } from 'tripcoil'
import { deferred, guardedWorld, R0, run, totals, trip, turn, world } from './support.mjs'

test('arguments, this, name and length are those of the function', async () => {
  const { call } = guardedWorld(async function fetchStock(sku, amount) {
    return [this, sku, amount, arguments.length]
  })
  const self = {}
  assert.deepEqual(await call.call(self, 'sku-1'), [self, 'sku-1', undefined, 1])
  assert.equal((await call.call(self, 1, 2))[0], self)
  assert.deepEqual([call.name, call.length], ['fetchStock', 2])
  const shop = { name: 'shop', call: guardedWorld(function () { return this.name }).call }
  assert.equal(await shop.call(), 'shop')
})

test('a blocked call rejects, never throws, and is not made', async () => {
  let calls = 0
  const { call, stock } = guardedWorld(async () => void calls++)
  trip(stock)
  const promise = call()
  assert.ok(promise instanceof Promise)
  await assert.rejects(promise, CircuitOpenError)
  assert.equal(calls, 0)
})

test('a sync function becomes async: its value and its error', async () => {
  const { call, stock } = guardedWorld((value) => {
    if (value === undefined) throw new Error('no')
    return value
  })
  assert.equal(await call(5), 5)
  assert.deepEqual(await call({ then: undefined, a: 1 }), { then: undefined, a: 1 })
  const failing = call()
  await assert.rejects(failing, /^Error: no$/)
  assert.deepEqual(totals(stock), { passed: 3, good: 2, bad: 1 })
})

test('undefined and null are good results', async () => {
  const { call, stock } = guardedWorld((value) => value)
  assert.equal(await call(undefined), undefined)
  assert.equal(await call(null), null)
  assert.deepEqual(totals(stock), { passed: 2, good: 2 })
})

test('thenables of all kinds are awaited', async () => {
  class Late extends Promise {}
  const kinds = {
    thenable: [{ then: (resolve) => resolve(1) }, 'good'],
    'a function that is one': [Object.assign(() => {}, { then: (resolve) => setImmediate(resolve, 1) }), 'good'],
    'one that rejects': [{ then: (_, reject) => reject(new Error('no')) }, 'bad'],
    'one that throws': [{ then() { throw new Error('no') } }, 'bad'],
    'one whose then cannot be read': [{ get then() { throw new Error('no') } }, 'bad'],
    'one that settles twice': [{ then(resolve, reject) { resolve(1); reject(new Error('no')) } }, 'good'],
    'a subclass of Promise': [Late.resolve(1), 'good'],
    'a promise of a strange constructor': [Object.defineProperty(Promise.resolve(1), 'constructor', { get() { throw new Error('no') } }), 'bad'],
  }
  for (const [kind, [value, outcome]] of Object.entries(kinds)) {
    for (const options of [{}, { timeout: 60_000 }]) {
      const { call, stock } = guardedWorld(() => value, options)
      const settled = (await Promise.allSettled([call()]))[0].status
      assert.equal(settled, outcome === 'good' ? 'fulfilled' : 'rejected', kind)
      assert.deepEqual(totals(stock), { passed: 1, [outcome]: 1 }, kind)
    }
  }
})

const own = (then) => Object.assign(Promise.resolve(1), { then })
const constructed = (descriptor) => Object.defineProperty(Promise.resolve(1), 'constructor', descriptor)

function flipping() {
  let reads = 0
  return constructed({
    get() {
      reads += 1
      if (reads > 1) throw new Error('flip')
      return Promise
    },
  })
}

/** Looks like one of the language's, until it is used: then it reacts in both ways, twice. */
function changing() {
  let reads = 0
  const { then } = Promise.prototype
  const twice = function (resolve, reject) {
    for (let i = 0; i < 2; i++) {
      resolve(1)
      try { reject(new Error('no')) } catch {}
    }
    return then.call(this, () => 1)
  }
  return Object.defineProperty(Promise.resolve(1), 'then', { get: () => (reads++ === 0 ? then : twice) })
}

class Refusing extends Promise {
  then() { throw new Error('refused') }
}

class Twice extends Promise {
  then(resolve, reject) {
    super.then(resolve, reject)
    super.then(resolve, reject)
  }
}

/** Promises that are not quite those of the language. */
const oddPromises = {
  'a then of its own that throws': [() => own(() => { throw new Error('no') }), 'bad'],
  'a then of its own that settles twice': [() => own((resolve, reject) => { resolve(1); resolve(2); reject(new Error('no')) }), 'good'],
  'a then of its own that gives no promise': [() => own((resolve) => { resolve(1); return 5 }), 'good'],
  'no then': [() => own(undefined), 'good'],
  'a constructor that changes': [flipping, 'bad', { timeout: undefined }],
  'a then that changes': [changing, 'good', { timeout: undefined }],
  'a subclass that refuses': [() => new Refusing(() => {}), 'bad'],
  'a subclass that settles twice': [() => Twice.resolve(1), 'good'],
  'a species of its own': [() => constructed({ value: { [Symbol.species]: function () { throw new Error('species') } } }), 'bad'],
  'a proxy': [() => new Proxy(Promise.resolve(1), {}), 'bad'],
  'one of another realm': [() => runInNewContext('Promise.resolve(1)'), 'good'],
  'a rejected one of another realm': [() => runInNewContext('Promise.reject(1)'), 'bad'],
}

for (const [kind, [make, outcome, ...only]] of Object.entries(oddPromises)) {
  test(`an odd promise: ${kind}`, async () => {
    for (const options of only.length > 0 ? only : [{}, { timeout: 60_000 }]) {
      const { call, stock } = guardedWorld((given) => given, options)
      const given = call(make())
      assert.ok(given instanceof Promise)
      await Promise.allSettled([given])
      await turn()
      assert.deepEqual(totals(stock), { passed: 1, [outcome]: 1 })
      // What has ended this call ends no other: each of the next two has its own outcome.
      const [one, other] = [deferred(), deferred()]
      const calls = Promise.allSettled([call(one.promise), call(other.promise)])
      one.reject(new Error('one'))
      await turn()
      other.resolve(2)
      const [{ reason }, { value }] = await calls
      assert.deepEqual([reason.message, value], ['one', 2])
      const { good = 0, bad = 0 } = totals(stock)
      assert.deepEqual([good, bad], [outcome === 'good' ? 2 : 1, outcome === 'bad' ? 2 : 1])
    }
  })
}

test('a function is called as such, whatever it has of its own', async () => {
  const hijacked = Object.assign(() => 5, { apply() { throw new Error('apply') }, call() { throw new Error('call') } })
  const bare = Object.setPrototypeOf(() => 5, null)
  const proxied = new Proxy(() => 4, { apply: () => 5 })
  const frozen = Object.freeze(async () => 5)
  for (const fn of [hijacked, bare, proxied, frozen]) {
    for (const options of [{}, { timeout: 60_000 }, { resource: fn === bare ? 'stock' : () => 'stock' }]) {
      const { call, stock } = guardedWorld(fn, options)
      assert.equal(await call(), 5)
      assert.deepEqual(totals(stock), { passed: 1, good: 1 })
    }
    const blocked = guardedWorld(() => { throw new Error('no') }, { fallback: fn, onBlocked: fn })
    assert.equal(await blocked.call(), 5)
    blocked.stock.setMode('forcedOpen')
    assert.equal(await blocked.call(), 5)
  }
  const generator = Object.assign(async function* () { yield 5 }, { apply() { throw new Error('apply') } })
  for await (const item of guardedWorld(generator).call()) assert.equal(item, 5)
})

test('functions and options of another realm are as good', async () => {
  const fn = runInNewContext('async (error) => { if (error) throw error; return 5 }')
  const { call, stock } = guardedWorld(fn, runInNewContext('({ isFailure: (error) => error !== "fine" })'))
  assert.equal(await call(), 5)
  await assert.rejects(call('fine'), (error) => error === 'fine')
  await assert.rejects(call(runInNewContext('new Error("no")')), /no/)
  assert.deepEqual(totals(stock), { passed: 3, good: 2, bad: 1 })
  const generator = guardedWorld(runInNewContext('(async function* () { yield 1 })'))
  for await (const item of generator.call()) assert.equal(item, 1)
  assert.deepEqual(totals(generator.stock), { passed: 1, good: 1 })
})

test('AsyncLocalStorage is kept by every kind of wrapper, to whatever is called and after it', async () => {
  const storage = new AsyncLocalStorage()
  const lost = []
  let seen = 0
  const see = (where) => {
    seen += 1
    if (storage.getStore() !== 'mine') lost.push(where)
  }
  const fn = (where) => async () => { await turn(); see(where); return 5 }
  const fails = async () => { await turn(); throw new Error('no') }
  const items = (where) => async function* () { await turn(); see(where); yield 1; await turn(); see(where) }
  await storage.run('mine', async () => {
    for (const options of [{}, { timeout: 60_000 }, { signal: 0 }, { trace: true }, { stream: true }]) {
      const where = JSON.stringify(options)
      await guardedWorld(fn(where), options).call({})
      see(`after ${where}`)
      await guardedWorld(fails, { ...options, fallback: () => see(`fallback ${where}`) }).call({})
      see(`after the fallback ${where}`)
    }
    await world().stock.call(fn('call'))
    see('after call')
    for await (const _ of guardedWorld(items('generator')).call()) see('its items')
    for await (const _ of await guardedWorld(async () => items('stream')(), { stream: true }).call()) see('its items, too')
    see('after the stream')
    const breaker = new Breaker(fails, { ...R0, minRequestAmount: 1 })
    for (const event of ['failure', 'open', 'reject']) breaker.on(event, () => see(event))
    for (let i = 0; i < 2; i++) await breaker.fire().catch(() => see('catch'))
    const controller = new AbortController()
    const aborted = guardedWorld(() => new Promise(() => {}), { signal: 0 }).call({ signal: controller.signal })
    storage.run('another\'s', () => controller.abort())
    await aborted.catch(() => see('after an abort'))
  })
  assert.deepEqual(lost, [])
  assert.equal(seen, 35)
})

test('errors are judged by ignore, then by isFailure; results by isFailureResult', async () => {
  const options = {
    isFailure: (error) => error !== 'fine',
    ignore: (error) => error === 'ignored',
    isFailureResult: (value) => value === 500,
    ignoreResult: (value) => value === 304,
  }
  const outcomes = { fine: 'good', ignored: 'ignored', other: 'bad', 200: 'good', 500: 'bad', 304: 'ignored' }
  for (const more of [{}, { timeout: 60_000 }]) {
    for (const [what, outcome] of Object.entries(outcomes)) {
      const result = Number(what)
      const { call, stock } = guardedWorld(async () => result || Promise.reject(what), { ...options, ...more })
      if (result) assert.equal(await call(), result)
      else await assert.rejects(call(), (error) => error === what)
      assert.deepEqual(totals(stock), { passed: 1, [outcome]: 1 }, what)
    }
  }
})

test('a classifier that throws makes the call count as bad, and its error goes on', async () => {
  const broken = () => { throw new Error('broken') }
  for (const more of [{}, { timeout: 60_000 }]) {
    for (const option of ['isFailure', 'ignore', 'isFailureResult', 'ignoreResult']) {
      const failing = option.endsWith('Result') ? async () => 5 : async () => { throw new Error('no') }
      const { call, stock } = guardedWorld(failing, { [option]: broken, ...more })
      await assert.rejects(call(), /broken/)
      assert.deepEqual(totals(stock), { passed: 1, bad: 1 }, option)
    }
  }
})

test('no outcome on a probe gives its place back', async () => {
  for (const options of [{ ignore: () => true }, { ignore: () => true, timeout: 60_000 }]) {
    const { call, stock, clock } = guardedWorld(async () => { throw new Error('no') }, options)
    trip(stock)
    clock.advance(2000)
    for (let i = 0; i < 1000; i++) await assert.rejects(call(), /^Error: no$/)
    const entry = stock.enter()
    assert.equal(stock.state, 'halfOpen')
    entry.exit()
    assert.equal(stock.state, 'closed')
  }
})

test('the rejection of an inner call has no outcome in the outer one, unless it is to be judged', async () => {
  const inner = guardedWorld(async () => 1)
  inner.stock.setMode('forcedOpen')
  const wrapped = async () => {
    try {
      return await inner.call()
    } catch (cause) {
      throw new Error('wrapped', { cause })
    }
  }
  for (const fn of [inner.call, wrapped]) {
    for (const more of [{}, { timeout: 60_000 }]) {
      const outer = guardedWorld(fn, more)
      await assert.rejects(outer.call(), isBlocked)
      assert.deepEqual(totals(outer.stock), { passed: 1, ignored: 1 })
      const judging = guardedWorld(fn, { judgeBlocked: true, ...more })
      await assert.rejects(judging.call(), isBlocked)
      assert.deepEqual(totals(judging.stock), { passed: 1, bad: 1 })
    }
  }
})

test('errors whose causes go in a circle, or cannot be read, are judged', async () => {
  const circle = new Error('circle')
  circle.cause = circle
  const hostile = { get code() { throw new Error('code') }, get cause() { throw new Error('cause') } }
  for (const error of [circle, hostile, undefined, null, 5, Object.create(null)]) {
    const { call, stock } = guardedWorld(async () => { throw error })
    await assert.rejects(call(), (caught) => caught === error)
    assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
  }
})

test('onBlocked is for rejections, fallback for failures too; both get the arguments and this', async () => {
  const instead = (kind) => function (error, ...args) { return [kind, this, error.message.split(':')[0], ...args] }
  const fail = async () => { throw new Error('no') }
  const self = {}
  const both = guardedWorld(fail, { onBlocked: instead('onBlocked'), fallback: instead('fallback') })
  assert.deepEqual(await both.call.call(self, 1, 2), ['fallback', self, 'no', 1, 2])
  both.stock.setMode('forcedOpen')
  assert.deepEqual(await both.call.call(self, 1, 2), ['onBlocked', self, 'call blocked', 1, 2])
  const fallback = guardedWorld(fail, { fallback: instead('fallback') })
  fallback.stock.setMode('forcedOpen')
  assert.deepEqual(await fallback.call.call(self), ['fallback', self, 'call blocked'])
  const onBlocked = guardedWorld(fail, { onBlocked: instead('onBlocked') })
  await assert.rejects(onBlocked.call(), /^Error: no$/)
})

test('fallback is not asked for errors that are ignored or count as good', async () => {
  for (const options of [{ ignore: () => true }, { isFailure: () => false }]) {
    const { call } = guardedWorld(async () => { throw new Error('no') }, { ...options, fallback: () => 5 })
    await assert.rejects(call(), /^Error: no$/)
  }
})

test('a fallback may be async, and may fail', async () => {
  const fail = async () => { throw new Error('no') }
  assert.equal(await guardedWorld(fail, { fallback: async () => 5 }).call(), 5)
  await assert.rejects(guardedWorld(fail, { fallback: async () => { throw new Error('either') } }).call(), /either/)
  await assert.rejects(guardedWorld(fail, { fallback: () => { throw new Error('either') } }).call(), /either/)
})

test('trace makes a call that resolves count as bad', async () => {
  const { call, stock } = guardedWorld(async (error) => {
    await turn()
    if (error) assert.equal(trace(error), true)
    return 5
  }, { trace: true, ignore: (error) => error === 'ignored' })
  assert.equal(await call(), 5)
  assert.equal(await call(new Error('no')), 5)
  assert.equal(await call('ignored'), 5)
  assert.deepEqual(totals(stock), { passed: 3, good: 2, bad: 1 })
  assert.equal(trace(new Error('nowhere')), false)
})

test('trace marks the innermost call', async () => {
  const inner = guardedWorld(async () => trace(new Error('no')), { trace: true })
  const outer = guardedWorld(() => inner.call(), { trace: true })
  assert.equal(await outer.call(), true)
  assert.deepEqual([totals(inner.stock), totals(outer.stock)], [{ passed: 1, bad: 1 }, { passed: 1, good: 1 }])
})

test('AsyncLocalStorage is kept: in the function, after it, in fallbacks and listeners', async () => {
  const storage = new AsyncLocalStorage()
  const seen = []
  const see = (where) => seen.push([where, storage.getStore()])
  const options = { fallback: () => see('fallback'), timeout: 60_000 }
  const { call, registry } = guardedWorld(async (fn) => { see('function'); await fn() }, options)
  registry.onTransition(() => see('listener'))
  await storage.run('mine', async () => {
    await call(turn)
    see('after')
    for (let i = 0; i < 3; i++) await call(async () => { throw new Error('no') })
  })
  assert.deepEqual(new Set(seen.map(([where]) => where)), new Set(['function', 'after', 'fallback', 'listener']))
  for (const [where, store] of seen) assert.equal(store, 'mine', where)
})

test('the resource may depend on the arguments', async () => {
  const { registry } = world()
  registry.loadDefaults({ resource: '*', ...R0 })
  const call = breaker(async (host) => { if (host === 'down') throw new Error('no') }, { registry, resource: (host) => host })
  for (let i = 0; i < 4; i++) await assert.rejects(call('down'), /^Error: no$/)
  await assert.rejects(call('down'), (error) => error instanceof CircuitOpenError && error.resource === 'down')
  await call('up')
  await assert.rejects(call(' '), { code: 'ERR_INVALID_ARG_VALUE', message: /^resource: " " is not allowed/ })
  assert.deepEqual(registry.names, ['down', 'stock', 'up'])
  registry.resource('other').setMode('forcedOpen')
  await assert.rejects(call('other'), (error) => error.resource === 'other' && error.mode === 'forcedOpen' && error.retryAfter === Infinity)
  await assert.rejects(call('down'), (error) => error.resource === 'down' && error.rule.resource === '*' && error.retryAfter === 2000)
})

test('a function without a resource has a breaker of its own', async () => {
  const one = breaker(async () => { throw new Error('no') }, R0)
  const other = breaker(async () => 5, R0)
  for (let i = 0; i < 4; i++) await assert.rejects(one(), /^Error: no$/)
  await assert.rejects(one(), CircuitOpenError)
  assert.equal(await other(), 5)
  assert.notEqual(one.registry, other.registry)
  assert.notEqual(one.registry, Registry.global)
})

test('functions of one resource share its breaker, in the registry of the process unless another is given', async () => {
  const fail = breaker(async () => { throw new Error('no') }, { resource: 'shared', ...R0 })
  const call = breaker(async () => 5, { resource: 'shared' })
  for (let i = 0; i < 4; i++) await assert.rejects(fail(), /^Error: no$/)
  await assert.rejects(call(), CircuitOpenError)
  assert.equal(call.registry, Registry.global)
})

test('a resource calls what it is given, with the signal of the call', async () => {
  const { stock } = world()
  assert.equal(await stock.call(({ signal }) => signal.aborted), false)
  await assert.rejects(stock.call(() => { throw new Error('no') }), /^Error: no$/)
  assert.equal(await stock.call(async () => { throw new Error('no') }, { fallback: () => 5 }), 5)
  const controller = new AbortController()
  const aborted = stock.call(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))), { signal: controller.signal })
  controller.abort('enough')
  await assert.rejects(aborted, (error) => error === 'enough')
  assert.deepEqual(totals(stock), { passed: 4, good: 1, bad: 2, cancelled: 1 })
})

for (const options of ['{}', '{ fallback: (error) => { throw error } }']) {
  test(`calls so deep that there is no stack to end them with are ended when there is some: ${options}`, () => {
    const { status, stdout } = run(`
      import { createRequire } from 'node:module'
      import { breaker, Registry } from 'tripcoil'
      const { doors } = createRequire(import.meta.url)('./dist/addon.js')
      process.on('unhandledRejection', () => {})
      const registry = new Registry()
      let goesOn = true
      // A call whose time is judged has a number of its own while it is out.
      const rule = { strategy: 'slowRatio', maxAllowedRt: 1000, threshold: 1, minRequestAmount: 1e6, retryTimeout: 1000 }
      const call = breaker(() => (goesOn ? call() : 5), { resource: 'deep', registry, ...rule, ...${options} })
      const rounds = 20
      for (let i = 0; i < rounds; i++) {
        try { await call() } catch {}
        await new Promise(setImmediate)
      }
      goesOn = false
      await call()
      const numbers = new Set(Array.from({ length: 30_000 }, () => doors.enter(call.resource.number) >> 3))
      console.log(Math.max(...numbers) + 1 - numbers.size < rounds / 2)
    `)
    assert.deepEqual([status, stdout.trim()], [0, 'true'])
  })
}
