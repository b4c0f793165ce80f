import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'tripcoil'
import { guardedWorld, R0, run, totals, trip, turn, world } from './support.mjs'

test('a change is told before the call that made it goes on, with all that is to be known', async () => {
  const { call, registry, clock } = guardedWorld(async () => { throw new Error('no') })
  const told = []
  registry.onTransition((transition) => told.push(transition))
  for (let i = 0; i < 4; i++) await assert.rejects(call())
  assert.equal(told.length, 1)
  const [{ rule, trip: why, ...transition }] = told
  assert.deepEqual(transition, { resource: 'stock', position: 0, from: 'closed', to: 'open', fromMode: 'normal', toMode: 'normal', snapshot: 1, at: 0, sequence: 1, generation: transition.generation })
  assert.deepEqual([rule.resource, rule.retryTimeout], ['stock', 2000])
  assert.match(why.explanation, /^"stock" opened at 0ns: 4 of 4 calls in 1s failed \(1 is above the threshold 0.5\); open until 2s/)
  assert.deepEqual([why.cause, why.value, why.threshold, why.good, why.bad, why.window, why.at, why.openUntil], ['condition', 1, 0.5, 0, 4, 1000, 0, 2000])
  clock.advance(2000)
  await assert.rejects(call())
  assert.deepEqual(told.slice(1).map(({ from, to, sequence, snapshot, trip }) => [from, to, sequence, snapshot, trip?.cause]), [
    ['open', 'halfOpen', 2, undefined, undefined],
    ['halfOpen', 'open', 3, 1, 'probeFailed'],
  ])
})

test('manual control is told, with both modes', () => {
  const { registry, stock } = world()
  const told = []
  registry.onTransition(({ from, to, fromMode, toMode }) => told.push([from, to, fromMode, toMode]))
  assert.equal(stock.setMode('forcedOpen'), 1)
  assert.throws(() => stock.enter(), { state: 'closed', mode: 'forcedOpen', retryAfter: Infinity, message: 'call blocked: the breaker of "stock" is forced open' })
  stock.setMode('disabled')
  trip(stock)
  assert.equal(stock.state, 'closed')
  stock.setMode('observeOnly')
  trip(stock)
  assert.ok(stock.enter().exit())
  stock.setMode('normal')
  const [own] = stock.breakers()
  assert.ok(own.reset() && own.setMode('disabled') && own.setMode('normal'))
  assert.equal(stock.reset(), 1)
  assert.deepEqual(told, [
    ['closed', 'closed', 'normal', 'forcedOpen'],
    ['closed', 'closed', 'forcedOpen', 'disabled'],
    ['closed', 'closed', 'disabled', 'observeOnly'],
    ['closed', 'open', 'observeOnly', 'observeOnly'],
    ['open', 'closed', 'observeOnly', 'normal'],
    ['closed', 'closed', 'normal', 'normal'],
    ['closed', 'closed', 'normal', 'disabled'],
    ['closed', 'closed', 'disabled', 'normal'],
    ['closed', 'closed', 'normal', 'normal'],
  ])
  registry.load([])
  assert.ok(own.isRemoved && !own.reset() && !own.setMode('normal'))
})

test('what a listener throws never reaches the call, and is reported aside', async (t) => {
  const warnings = []
  t.mock.method(process, 'emitWarning', (warning, options) => warnings.push([warning.split('\n')[0], options.code]))
  const { call, registry } = guardedWorld(async () => { throw new Error('no') })
  const told = []
  registry.onTransition(() => { throw new Error('listener') })
  registry.onTransition(async () => { throw new Error('async listener') })
  registry.onTransition(() => { throw Object.create(null) })
  registry.onTransition(({ to }) => told.push(to))
  for (let i = 0; i < 4; i++) await assert.rejects(call(), /^Error: no$/)
  await turn()
  assert.deepEqual(told, ['open'])
  const failed = ['Error: listener', 'it threw what cannot be shown', 'Error: async listener']
  assert.deepEqual(warnings, failed.map((what) => [`a listener failed: ${what}`, 'TRIPCOIL_LISTENER']))
})

test('a listener may use all of the library; what it changes is told afterwards', () => {
  const { registry, stock, clock } = world()
  const told = []
  let begun = 0
  const unlisten = registry.onTransition(({ to, toMode }) => {
    begun += 1
    assert.equal(begun, 1, 'told within another')
    if (to === 'open') {
      assert.equal(stock.state, 'open')
      assert.equal(stock.tryEnter(), undefined)
      clock.advance(2000)
      const probe = stock.enter()
      registry.load([{ resource: 'stock', ...R0, threshold: 0.9 }, { resource: 'other', ...R0 }])
      trip(registry.resource('other'))
      probe.cancel()
      unlisten()
      registry.onTransition(() => {})
    }
    told.push([to, toMode])
    begun -= 1
  })
  trip(stock)
  assert.deepEqual(told, [['open', 'normal']])
})

test('a listener that has been removed is told nothing; the others are', () => {
  const { registry, stock } = world()
  const told = []
  const one = registry.onTransition(() => told.push('one'))
  registry.onTransition(() => told.push('two'))
  one()
  one()
  trip(stock)
  assert.deepEqual(told, ['two'])
})

test('the same listener may be registered twice', () => {
  const { registry, stock } = world()
  const told = []
  const listener = () => told.push(1)
  const one = registry.onTransition(listener)
  registry.onTransition(listener)
  one()
  trip(stock)
  assert.equal(told.length, 1)
})

test('changes from before the first listener are not told', () => {
  const { registry, stock, clock } = world()
  trip(stock)
  const told = []
  registry.onTransition(({ to }) => told.push(to))
  clock.advance(2000)
  stock.enter().exit()
  assert.deepEqual(told, ['halfOpen', 'closed'])
})

test('an async iterator gives every change, waiting ones first, and ends with its signal', async () => {
  const { registry, stock, clock } = world()
  const controller = new AbortController()
  const told = []
  const done = (async () => {
    for await (const { to } of registry.transitions({ signal: controller.signal })) told.push(to)
  })()
  trip(stock)
  clock.advance(2000)
  stock.enter().exit()
  await turn()
  assert.deepEqual(told, ['open', 'halfOpen', 'closed'])
  controller.abort()
  await done
  for await (const _ of registry.transitions({ signal: AbortSignal.abort() })) assert.fail('ended before it began')
})

test('an iterator that nobody reads keeps the newest, and ends when it is left', async () => {
  const { registry, stock } = world()
  const transitions = registry.transitions({ buffer: 2 })
  for (const mode of ['forcedOpen', 'disabled', 'normal']) stock.setMode(mode)
  assert.deepEqual([(await transitions.next()).value.toMode, (await transitions.next()).value.toMode], ['disabled', 'normal'])
  const waiting = transitions.next()
  await transitions.return()
  assert.deepEqual([(await waiting).done, (await transitions.next()).done], [true, true])
  stock.setMode('disabled')
  assert.equal((await transitions.next()).done, true)
})

test('registering and removing a hundred thousand times leaves nothing behind', () => {
  const { registry, stock } = world()
  for (let i = 0; i < 100_000; i++) registry.onTransition(() => assert.fail('removed'))()
  trip(stock)
  assert.equal(registry.lostTransitions, 0)
  assert.deepEqual(totals(stock), { passed: 4, bad: 4 })
})

test('two handles of the registry of the process are told of each other\'s changes', async () => {
  // As two copies of this package in one program would have it.
  const { createRequire } = await import('node:module')
  const require = createRequire(import.meta.url)
  const { native } = require('../dist/addon.js')
  const other = new Registry(native.NativeRegistry.global())
  const told = new Promise((resolve) => other.onTransition((transition) => transition.resource === 'two copies' && resolve(transition)))
  const keepAlive = setInterval(() => {}, 1000)
  Registry.global.loadResource('two copies', { resource: 'two copies', ...R0 })
  Registry.global.resource('two copies').setMode('forcedOpen')
  assert.equal((await told).toMode, 'forcedOpen')
  clearInterval(keepAlive)
})

test('a listener that causes change after change takes turns with the rest of the program', async () => {
  const { registry, stock } = world()
  let told = 0
  const unlisten = registry.onTransition(() => {
    told += 1
    if (told < 3000) stock.reset()
  })
  stock.reset()
  const atOnce = told
  assert.ok(atOnce >= 1000 && atOnce < 3000, String(atOnce))
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(told, 3000)
  unlisten()
})

test('one that never ends keeps no program alive', () => {
  const script = `
    import { Registry } from 'tripcoil'
    const registry = new Registry()
    registry.load({ resource: 'r', strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 })
    const r = registry.resource('r')
    registry.onTransition(() => r.reset())
    r.reset()
    console.log('done')
  `
  const { status, stdout, stderr } = run(script)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'done', ''])
})
