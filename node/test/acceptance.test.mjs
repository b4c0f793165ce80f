// What users of other breakers ran into, where the way through JavaScript could spoil it. Times are in ms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaker, CircuitOpenError, Entry, Registry, VirtualClock } from 'tripcoil'
import { guardedWorld, R0, run, totals, trip, turn, world } from './support.mjs'

function play(stock, bad, total) {
  for (let i = 0; i < total; i++) stock.enter()[i < total - bad ? 'exit' : 'fail']()
  return stock.state
}

test('ratios that binary floats cannot hold', () => {
  for (const [threshold, errors] of [[0.3, 3], [0.1, 1], [0.7, 7]]) {
    assert.equal(play(world({ threshold, minRequestAmount: 10 }).stock, errors, 10), 'open')
    assert.equal(play(world({ threshold, minRequestAmount: 10 }).stock, errors - 1, 10), 'closed')
  }
})

test('every completion is judged, a good one too', async () => {
  const { call, stock } = guardedWorld(async (error) => { if (error) throw error }, {}, { minRequestAmount: 3 })
  await assert.rejects(call(new Error('no')))
  await assert.rejects(call(new Error('no')))
  assert.equal(stock.state, 'closed')
  await call()
  assert.equal(stock.state, 'open')
})

test('an idle age, and a response time beyond all bounds, overflow nothing', () => {
  const { clock, stock } = world({ strategy: 'slowRatio', maxAllowedRt: 50, threshold: 1, minRequestAmount: 1 })
  clock.advance(1e12)
  assert.ok(stock.enter().exit({ responseTime: Number.MAX_VALUE }))
  assert.equal(stock.state, 'open')
})

test('a response time is compared at the resolution of the clock', () => {
  const slow = { strategy: 'slowRatio', maxAllowedRt: 50, threshold: 1, minRequestAmount: 1 }
  for (const [time, state] of [[50, 'closed'], [50.4, 'open']]) {
    const { clock, stock } = world(slow)
    const entry = stock.enter()
    clock.advance(time)
    entry.exit()
    assert.equal(stock.state, state)
    const measured = world(slow).stock
    measured.enter().exit({ responseTime: time })
    assert.equal(measured.state, state)
  }
})

test('closing wipes the window, and so does a reset', async () => {
  const { clock, stock } = world()
  trip(stock)
  clock.advance(2000)
  stock.enter().exit()
  assert.deepEqual([stock.state, stock.breakers()[0].snapshot().bad], ['closed', 0])
  stock.enter().fail()
  stock.reset()
  assert.equal(stock.breakers()[0].snapshot().bad, 0)
})

test('ten thousand names pass a bounded registry, which forgets nothing that counts', () => {
  const registry = new Registry({ maxResources: 100, clock: new VirtualClock() })
  registry.loadDefaults({ resource: '*', ...R0 })
  const call = (name) => {
    const entry = registry.resource(name).tryEnter()
    return entry
  }
  for (let i = 0; i < 3; i++) call('A').fail()
  for (let i = 0; i < 10_000; i++) call(`name ${i}`).ignore()
  assert.ok(registry.size <= 100)
  call('A').fail()
  assert.equal(registry.resource('A').state, 'open')
})

test('of calls that meet when the breaker is due, as many pass as there are probes', async () => {
  for (const probeNum of [1, 3]) {
    const { call, stock, clock } = guardedWorld(() => turn(), {}, { probeNum })
    trip(stock)
    clock.advance(2000)
    const settled = await Promise.allSettled(Array.from({ length: 64 }, () => call()))
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, probeNum)
    assert.equal(stock.state, 'closed')
  }
})

test('late results neither close nor prolong', async () => {
  const { clock, stock, registry } = world()
  const early = Array.from({ length: 8 }, () => stock.enter())
  trip(stock)
  const told = []
  registry.onTransition(({ to }) => told.push(to))
  early[0].exit()
  early[1].fail()
  clock.advance(1000)
  early[2].fail()
  assert.deepEqual([stock.state, stock.breakers()[0].snapshot().retryAfter], ['open', 1000])
  clock.advance(1000)
  early[3].exit()
  const probe = stock.enter()
  early[4].exit()
  early[5].fail()
  assert.equal(stock.state, 'halfOpen')
  probe.exit()
  early[6].fail()
  assert.deepEqual([stock.state, told], ['closed', ['halfOpen', 'closed']])
})

test('an entry ends once, and says so', () => {
  for (const first of ['exit', 'fail', 'ignore', 'cancel']) {
    for (const second of ['exit', 'fail', 'ignore', 'cancel']) {
      const { stock } = world()
      const entry = stock.enter()
      assert.equal(entry.hasEnded, false)
      assert.equal(entry[first](), true)
      assert.equal(entry[second](), false)
      assert.equal(entry.hasEnded, true)
      entry[Symbol.dispose]()
      assert.equal(totals(stock).passed, 1)
    }
  }
})

test('an entry that is marked bad counts as bad when it exits', () => {
  const { stock } = world()
  const entry = stock.enter()
  entry.markBad()
  entry.exit()
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})

test('an entry that is disposed of, or cancelled, gives a probe its place back', () => {
  const { stock, clock } = world()
  trip(stock)
  clock.advance(2000)
  for (let i = 0; i < 1000; i++) stock.enter()[i % 2 ? Symbol.dispose : 'cancel']()
  const probe = stock.enter()
  assert.ok(probe instanceof Entry)
  probe.exit()
  assert.equal(stock.state, 'closed')
})

test('of two rules, the first that rejects is named, and a blocked call leaves no trace', () => {
  const { registry, clock } = world()
  const rules = [{ resource: 'stock', ...R0 }, { resource: 'stock', ...R0, retryTimeout: 9000 }]
  for (const list of [rules, [...rules].reverse(), [...rules, ...rules]]) {
    registry.load([])
    registry.load(list)
    const stock = registry.resource('stock')
    trip(stock)
    clock.advance(2000)
    const told = []
    const unlisten = registry.onTransition((transition) => told.push(transition))
    const long = stock.breakers().findIndex(({ rule }) => rule.retryTimeout === 9000)
    assert.throws(() => stock.enter(), (error) => error.rule.retryTimeout === 9000 && error.retryAfter === 7000)
    assert.deepEqual([told, stock.states(), long >= 0], [[], ['open', 'open'], true])
    unlisten()
  }
})

test('a clock that steps back never makes the wait longer', () => {
  const { stock, clock } = world()
  clock.set(10_000)
  trip(stock)
  clock.set(3000)
  assert.throws(() => stock.enter(), { retryAfter: 2000 })
  clock.advance(3_600_000)
  stock.enter().exit()
  assert.equal(stock.state, 'closed')
  clock.setNanoseconds(2n ** 64n - 1n)
  trip(stock)
  assert.throws(() => stock.enter(), CircuitOpenError)
})

test('the wall clock has no effect', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 })
  const registry = new Registry()
  registry.load({ resource: 'stock', ...R0, retryTimeout: 3_600_000 })
  const stock = registry.resource('stock')
  trip(stock)
  t.mock.timers.setTime(2 * 3_600_000)
  assert.throws(() => stock.enter(), (error) => error.retryAfter > 3_500_000)
})

test('reading a hundred thousand times changes nothing', () => {
  const { stock, clock, registry } = world()
  trip(stock)
  clock.advance(2000)
  const told = []
  registry.onTransition((transition) => told.push(transition))
  const [own] = stock.breakers()
  const before = own.snapshot()
  for (let i = 0; i < 100_000; i++) own.snapshot()
  assert.deepEqual([own.snapshot(), told], [before, []])
  assert.equal(before.retryAfter, 0)
})

test('ten thousand breakers keep no process alive: a script ends after its last line, with calls in flight', () => {
  const { status, stdout, stderr } = run(`
    import { breaker, Breaker, Registry } from 'tripcoil'
    const rule = { strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 }
    const registry = new Registry()
    for (let i = 0; i < 10_000; i++) {
      breaker(() => new Promise(() => {}), { ...rule, resource: 'r' + i, registry, timeout: 60_000 })()
    }
    registry.onTransition(() => {})
    registry.transitions().next()
    new Breaker(() => new Promise(() => {}), rule).fire()
    // What loads modules, prints this, or frees what was collected is done soon.
    console.log('last line', ...process.getActiveResourcesInfo().filter((name) => !/CloseReq|Pipe|TTY|Immediate/.test(name)))
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'last line', ''])
})

test('reloading beside calls loses none', async () => {
  const { registry, call } = guardedWorld(() => turn(), {}, { id: 'one' })
  const calls = 1000
  const all = Array.from({ length: calls }, async (_, i) => {
    await call()
    registry.load({ resource: 'stock', ...R0, id: 'one', threshold: (i % 10) / 10 + 0.05 })
  })
  await Promise.all(all)
  assert.deepEqual(totals(registry.resource('stock')), { passed: calls, good: calls })
})

test('a function without arguments of its own options is refused by name', () => {
  for (const [options, message] of [
    [undefined, /^options: missing; it must be an object$/],
    [{}, /^resource: missing; it must be given, unless the options hold a rule$/],
    [{ resource: 'a', resorce: 1 }, /^"resorce" is not an option; there are /],
    [{ resource: 'a', timeout: 0 }, /^timeout: 0 is not allowed; it must be a number of milliseconds from 1 to 2147483647$/],
    [{ resource: 'a', timeout: '5' }, /^timeout: "5" is not allowed/],
    [{ resource: 'a', timeout: 2 ** 31 }, /^timeout: 2147483648 is not allowed/],
    [{ resource: 'a', timeout: NaN }, /^timeout: NaN is not allowed/],
    [{ resource: 'a', signal: -1 }, /^signal: -1 is not allowed; it must be the position of an argument, from 0 to 255$/],
    [{ resource: 'a', signal: 1.5 }, /^signal: 1.5 is not allowed/],
    [{ resource: 'a', isFailure: true }, /^isFailure: true is not allowed; it must be a function$/],
    [{ resource: 'a', trace: 1 }, /^trace: 1 is not allowed; it must be true or false$/],
    [{ resource: 'a', registry: {} }, /^registry: an object is not allowed; it must be a Registry$/],
    [{ resource: 5 }, /^resource: 5 is not allowed; it must be a string of 1 to 1024 bytes/],
    [{ resource: () => 'a', ...R0 }, /^strategy: "errorRatio" is not allowed; it must be left out/],
  ]) {
    assert.throws(() => breaker(async () => {}, options), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE', message })
  }
  assert.throws(() => breaker(5, { resource: 'a' }), { code: 'ERR_INVALID_ARG_VALUE', message: /^fn: 5 is not allowed; it must be a function$/ })
})
