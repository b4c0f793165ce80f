// What a healthy breaker's calls begin with without asking: that it is good for no call that would not be admitted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaker, CircuitOpenError, Registry } from 'tripcoil'
import { deferred, guardedWorld, R0, run, totals, trip } from './support.mjs'

const blocked = (call) => assert.rejects(call, CircuitOpenError)

/** What changes whether or how a call is admitted, and whether one is admitted then. */
const changes = {
  'a trip': { change: ({ stock }) => [1, 2, 3].forEach(() => stock.enter().fail()), admits: false },
  'a mode': { change: ({ stock }) => stock.setMode('forcedOpen'), admits: false },
  "a mode of one breaker's": { change: ({ stock }) => stock.breakers()[0].setMode('forcedOpen'), admits: false },
  'rules, of which one more is open': {
    change({ registry, stock }) {
      registry.load([{ resource: 'stock', ...R0 }, { resource: 'stock', ...R0, threshold: 0.9 }])
      stock.breakers()[1].setMode('forcedOpen')
    },
    admits: false,
  },
  'rules that are gone': {
    change({ registry, stock }) {
      stock.setMode('forcedOpen')
      registry.load([])
    },
    admits: true,
  },
  'a document of a legacy check': {
    async change({ registry, call, clock }) {
      registry.load([])
      registry.loadLegacy('1.7', JSON.stringify([{ resource: 'stock', grade: 2, count: 1, timeWindow: 10 }]))
      // That check counts failed calls of the last second, which this one's rule has not seen.
      for (let i = 0; i < 3; i++) await call(true).catch(() => {})
      clock.advance(1)
    },
    admits: false,
  },
}

for (const [what, { change, admits }] of Object.entries(changes)) {
  test(`after ${what}, the next call asks`, async () => {
    const fn = async (fails) => {
      if (fails) throw new Error('no')
      return 5
    }
    const world = guardedWorld(fn)
    for (let i = 0; i < 3; i++) assert.equal(await world.call(), 5)
    await change(world)
    if (admits) assert.equal(await world.call(), 5)
    else await blocked(world.call())
  })
}

/** Ways to replace the rule R0 by one that has a breaker of its own. */
const other = { ...R0, threshold: 0.9 }
const text = (resource) => JSON.stringify([{ resource, grade: 1, count: 0.9, timeWindow: 2, minRequestAmount: 4, statIntervalMs: 1000 }])
const loads = {
  'objects of all rules': (registry) => registry.load({ resource: 'stock', ...other }),
  'text of all rules': (registry) => registry.load(text('stock')),
  'text of all rules, leniently': (registry) => registry.load(text('stock'), { lenient: true }),
  "objects of one resource's": (registry) => registry.loadResource('stock', { resource: 'stock', ...other }),
  "text of one resource's": (registry) => registry.loadResource('stock', text('stock')),
  'objects of own rules': (registry) => registry.setOwnRules('stock', { resource: 'stock', ...other }),
  'text of own rules': (registry) => registry.setOwnRules('stock', text('stock')),
  'objects of default rules': (registry) => registry.loadDefaults({ resource: '*', ...other }),
  'text of default rules': (registry) => registry.loadDefaults(text('*')),
}

for (const [what, load] of Object.entries(loads)) {
  test(`after ${what}, the next call counts for them`, async () => {
    const registry = new Registry()
    const call = breaker(async () => 5, { resource: 'stock', registry })
    if (what.includes('own')) registry.setOwnRules('stock', { resource: 'stock', ...R0 })
    else if (what.includes('default')) registry.loadDefaults({ resource: '*', ...R0 })
    else registry.load({ resource: 'stock', ...R0 })
    await call()
    load(registry)
    await call()
    assert.deepEqual(totals(call.resource), { passed: 1, good: 1 })
  })
}

test('an excluded name is no longer counted, and one that is included again is', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...R0 })
  const call = breaker(async () => 5, { resource: 'stock', registry })
  await call()
  registry.exclude('stock')
  await call()
  assert.deepEqual(call.resource.breakers(), [])
  registry.include('stock')
  await call()
  assert.deepEqual(totals(call.resource), { passed: 1, good: 1 })
})

test('calls that were out when the breaker changed are late, each by the leave that it had', async () => {
  const { call, stock, clock } = guardedWorld((promise) => promise)
  const [first, second, third] = [deferred(), deferred(), deferred()]
  const one = call(first.promise)
  trip(stock)
  clock.advance(2000)
  await call(Promise.resolve())
  assert.equal(stock.state, 'closed')
  const two = call(second.promise)
  stock.setMode('observeOnly')
  const three = call(third.promise)
  for (const { resolve } of [first, second, third]) resolve(5)
  assert.deepEqual(await Promise.all([one, two, three]), [5, 5, 5])
  // The probe, and the call that began in the present mode, are the only ones that count.
  assert.deepEqual(totals(stock), { passed: 8, good: 2, bad: 4, late: 2 })
})

test('whatever a call comes to is counted once, many at a time', async () => {
  const { call, stock } = guardedWorld((outcome) => outcome(), { ignore: (error) => error === 'ignored' }, { minRequestAmount: 1e6 })
  const outcomes = [async () => 5, async () => Promise.reject(new Error('no')), async () => Promise.reject('ignored'), () => 5]
  await Promise.allSettled(Array.from({ length: 400 }, (_, i) => call(outcomes[i % 4])))
  assert.deepEqual(totals(stock), { passed: 400, good: 200, bad: 100, ignored: 100 })
})

test('a change that another thread makes holds for the next call, without a turn of the event loop', () => {
  const { status, stdout, stderr } = run(`
    import { Worker } from 'node:worker_threads'
    import { breaker } from 'tripcoil'
    const turn = new Int32Array(new SharedArrayBuffer(4))
    const code = \`
      const { Registry } = require('tripcoil')
      const { workerData: { turn } } = require('node:worker_threads')
      const rule = { resource: 'shared', strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 4, retryTimeout: 60_000 }
      const resource = Registry.global.resource('shared')
      const changes = [
        () => Registry.global.loadResource('shared', rule),
        () => resource.setMode('forcedOpen'),
        () => resource.setMode('normal'),
        () => { for (let i = 0; i < 3; i++) resource.enter().fail() },
        () => Registry.global.loadResource('shared', []),
        () => { Registry.global.loadResource('shared', rule); resource.setMode('forcedOpen') },
        () => { resource.setMode('normal') },
      ]
      for (const [i, change] of changes.entries()) {
        change()
        Atomics.store(turn, 0, 2 * i + 1)
        Atomics.notify(turn, 0)
        Atomics.wait(turn, 0, 2 * i + 1)
      }
    \`
    new Worker(code, { eval: true, execArgv: [], workerData: { turn } })
    const call = breaker(() => 5, { resource: 'shared' })
    const seen = []
    for (let at = 0; at < 14; at += 2) {
      Atomics.wait(turn, 0, at)
      seen.push(await call().catch((error) => error.code))
      Atomics.store(turn, 0, at + 2)
      Atomics.notify(turn, 0)
    }
    console.log(seen.join())
  `)
  const rejected = 'ECIRCUITOPEN'
  assert.deepEqual([status, stderr], [0, ''])
  assert.equal(stdout.trim(), [5, rejected, 5, rejected, 5, rejected, 5].join())
})

test('a thread that has changed a breaker makes no call by what was before, whoever tells of it', () => {
  const { status, stdout, stderr } = run(`
    import { once } from 'node:events'
    import { Worker } from 'node:worker_threads'
    import { breaker } from 'tripcoil'
    const rule = { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 4, retryTimeout: 60_000 }
    const call = breaker(() => 5, { resource: 'shared', ...rule })
    // It has changes to tell all the time, and then also tells those of others.
    const code = \`
      const resource = require('tripcoil').Registry.global.resource('shared')
      require('node:worker_threads').parentPort.postMessage('ready')
      for (;;) resource.reset()
    \`
    await once(new Worker(code, { eval: true, execArgv: [] }), 'message')
    let admitted = 0
    for (let round = 0; round < 2000; round++) {
      call.resource.setMode('normal')
      await call()
      call.resource.setMode('forcedOpen')
      await call().then(() => admitted++, () => {})
    }
    console.log(admitted)
    process.exit()
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, '0', ''])
})

test('after a call that was blocked, none is made by what was before, though the change is not told yet', () => {
  const { status, stdout, stderr } = run(`
    import { once } from 'node:events'
    import { Worker } from 'node:worker_threads'
    import { breaker } from 'tripcoil'
    const rule = { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 4, retryTimeout: 60_000 }
    const call = breaker(() => 5, { resource: 'shared', ...rule })
    const { resource } = call
    const turn = new Int32Array(new SharedArrayBuffer(4))
    const code = \`
      const { parentPort, workerData: turn } = require('node:worker_threads')
      const resource = require('tripcoil').Registry.global.resource('shared')
      parentPort.postMessage('ready')
      for (let round = 1; ; round++) {
        while (Atomics.load(turn, 0) !== round);
        resource.setMode('forcedOpen')
      }
    \`
    await once(new Worker(code, { eval: true, execArgv: [], workerData: turn }), 'message')
    let admitted = 0
    for (let round = 1; round <= 500; round++) {
      resource.setMode('normal')
      await call()
      Atomics.store(turn, 0, round)
      for (let entry; (entry = resource.tryEnter()); ) entry.cancel()
      await call().then(() => admitted++, () => {})
    }
    console.log(admitted)
    process.exit()
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, '0', ''])
})

test('a call whose beginning told a listener that calls in turn keeps the leave that it had', () => {
  const { status, stdout, stderr } = run(`
    import { once } from 'node:events'
    import { Worker } from 'node:worker_threads'
    import { breaker, Registry } from 'tripcoil'
    const rule = { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 1000, retryTimeout: 60_000 }
    const [stock, price, other] = ['stock', 'price', 'other'].map((resource) => breaker((it) => it, { resource, ...rule }))
    const totals = ({ resource }) => Object.entries(resource.breakers()[0].snapshot().totals).filter(([, count]) => count > 0)
    let isTold = false
    Registry.global.onTransition(({ resource }) => {
      if (resource !== 'other') return
      isTold = true
      stock.resource.reset()
      stock(5)
    })
    // A change by another thread, of which this one is told only by its own next call.
    const turn = new Int32Array(new SharedArrayBuffer(4))
    const code = \`
      const { workerData: turn } = require('node:worker_threads')
      require('tripcoil').Registry.global.resource('other').reset()
      Atomics.store(turn, 0, 1)
      Atomics.notify(turn, 0)
    \`
    new Worker(code, { eval: true, execArgv: [], workerData: turn })
    Atomics.wait(turn, 0, 0)
    let settle
    const called = stock(new Promise((resolve) => (settle = resolve)))
    console.log(isTold)
    for (let i = 0; i < 10; i++) {
      gc()
      await new Promise(setImmediate)
    }
    price(new Promise(() => {}))
    settle(5)
    await called
    console.log(JSON.stringify([totals(stock), totals(price)]))
  `, '--expose-gc')
  assert.deepEqual([status, stderr], [0, ''])
  assert.deepEqual(stdout.trim().split('\n'), ['true', '[[["passed",2],["good",1],["late",1]],[]]'])
})

test('two copies of the package in one thread do not get into each other\'s way', () => {
  const { status, stdout, stderr } = run(`
    import { createRequire } from 'node:module'
    const require = createRequire(import.meta.url)
    const load = () => {
      for (const path of Object.keys(require.cache)) delete require.cache[path]
      return require('tripcoil')
    }
    const [one, other] = [load(), load()]
    const rule = { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 4, retryTimeout: 60_000 }
    const guard = ({ breaker, Registry }, name) => breaker(async (fails) => {
      if (fails) throw new Error('no')
      return name
    }, { resource: name, registry: new Registry(), ...rule })
    const [a, b] = [guard(one, 'one'), guard(other, 'other')]
    console.log(one.Registry === other.Registry, (await Promise.all([a(), b(), a(), b()])).join())
    await Promise.allSettled([a(true), a(true), b()])
    console.log(a.resource.state, b.resource.state, await b(), await a().catch((error) => error.code))
    const shared = [one, other].map(({ breaker }) => breaker(async () => 5, { resource: 'shared', ...rule }))
    await Promise.all(shared.map((call) => call()))
    one.Registry.global.resource('shared').setMode('forcedOpen')
    console.log((await Promise.allSettled(shared.map((call) => call()))).map(({ reason }) => reason.code).join())
  `)
  assert.deepEqual([status, stderr], [0, ''])
  assert.deepEqual(stdout.trim().split('\n'), ['false one,other,one,other', 'open closed other ECIRCUITOPEN', 'ECIRCUITOPEN,ECIRCUITOPEN'])
})
