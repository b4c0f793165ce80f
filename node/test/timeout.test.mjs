import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { breaker, Registry, TimeoutError } from 'tripcoil'
import { deferred, guardedWorld, run, R0, totals, trip, turn, world } from './support.mjs'

test('timed out at 10 ms, rejected at 20 ms: one outcome, one fallback', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const errors = []
  const late = () => new Promise((_, reject) => setTimeout(reject, 20, new Error('late')))
  const fallback = (error) => errors.push(error)
  const { call, stock } = guardedWorld(late, { timeout: 10, fallback })
  const promise = call()
  t.mock.timers.tick(9)
  await turn()
  assert.equal(errors.length, 0)
  t.mock.timers.tick(1)
  assert.equal(await promise, 1)
  t.mock.timers.tick(10)
  await turn()
  assert.deepEqual(errors.map((error) => error instanceof TimeoutError && [error.code, error.timeout, error.resource]), [['ETIMEDOUT', 10, 'stock']])
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})

test('a call in time is not timed out, and leaves no timer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { call, stock } = guardedWorld(async () => 5, { timeout: 10 })
  assert.equal(await call(), 5)
  t.mock.timers.tick(100)
  await turn()
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

test('the function is given a signal that the time-out aborts, beside what it was given', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { call } = guardedWorld((url, options) => new Promise((_, reject) => {
    options.signal.addEventListener('abort', () => reject([url, options.method, options.signal.reason]))
  }), { timeout: 10, signal: 1 })
  const promise = call('/', { method: 'PUT' })
  const alone = call('/')
  t.mock.timers.tick(10)
  await assert.rejects(promise, TimeoutError)
  await assert.rejects(alone, TimeoutError)
})

test('what carries the signal keeps what it has, also that of its class', async () => {
  class Options {
    #url = '/'
    method = 'PUT'
    get url() { return this.#url }
  }
  class Client extends Options {
    #base = '/'
    async load(path) { return this.#base + path }
  }
  Client.prototype.load.limit = 5
  const seen = async ({ signal, url, method, ...rest }) => [signal instanceof AbortSignal, url, method, Object.keys(rest)]
  const { call } = guardedWorld(seen, { signal: 0 })
  assert.deepEqual(await call(new Options()), [true, '/', 'PUT', []])
  assert.deepEqual(await call(Object.freeze(new Options())), [true, '/', 'PUT', []])
  assert.deepEqual(await call(Object.create({ url: '/', method: 'PUT' })), [true, '/', 'PUT', []])
  assert.deepEqual(await call(Object.freeze({ url: '/', method: 'PUT', other: 1 })), [true, '/', 'PUT', ['other']])
  assert.deepEqual(await call(Object.assign(Object.create(null), { url: '/' })), [true, '/', undefined, []])
  const method = async (options) => [await options.load('a'), options.load === options.load, options.load.limit]
  const { call: called } = guardedWorld(method, { signal: 0 })
  assert.deepEqual(await called(new Client()), ['/a', true, 5])
  const { call: same } = guardedWorld(async (options) => options instanceof Options, { signal: 0 })
  assert.equal(await same(new Options()), true)
  // What cannot carry one is not made into something else.
  for (const other of ['/', 5, true, () => {}]) {
    await assert.rejects(call(other), { name: 'TypeError', message: /^argument 0: .* is not allowed; it must be an object, which may carry a signal$/ })
  }
})

test('the signal goes where the arguments have no place yet', async () => {
  const { call } = guardedWorld(async (...args) => args, { signal: 2 })
  const args = await call('a')
  assert.deepEqual([args.length, args[0], args[1]], [3, 'a', undefined])
  assert.ok(args[2].signal instanceof AbortSignal)
})

test('a call that its caller aborts has no outcome, and rejects with the reason', async () => {
  const fallback = () => assert.fail('the caller has given up')
  const { call, stock } = guardedWorld(({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted inside')))
  }), { signal: 0, fallback })
  const controller = new AbortController()
  const promise = call({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(promise, /enough/)
  await turn()
  assert.deepEqual(totals(stock), { passed: 1, cancelled: 1 })
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
})

test('a call whose signal is aborted while it is let in is not made, and has no outcome', async () => {
  let calls = 0
  const fn = () => calls++
  // By the function that names the resource.
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...R0 })
  const first = new AbortController()
  const named = breaker(fn, { registry, resource: () => { first.abort('first'); return 'named' }, signal: 0, timeout: 1000 })
  await assert.rejects(named({ signal: first.signal }), (error) => error === 'first')
  assert.deepEqual(totals(registry.resource('named')), { passed: 1, cancelled: 1 })
  // By a listener that is told of the call's own transition; the probe's place is free again.
  const { call, stock, clock, registry: told } = guardedWorld(fn, { signal: 0 }, { probeTimeout: 0 })
  trip(stock)
  clock.advance(2000)
  const second = new AbortController()
  const unlisten = told.onTransition(() => second.abort('second'))
  await assert.rejects(call({ signal: second.signal }), (error) => error === 'second')
  unlisten()
  assert.deepEqual([calls, getEventListeners(second.signal, 'abort').length], [0, 0])
  await call({})
  assert.deepEqual([calls, stock.state], [1, 'closed'])
  // And of one call by hand, as of guarded ones.
  trip(stock)
  clock.advance(2000)
  const third = new AbortController()
  told.onTransition(() => third.abort('third'))
  await assert.rejects(stock.call(fn, { signal: third.signal }), (error) => error === 'third')
  assert.equal(calls, 1)
})

test('a signal that cannot be listened to is refused, and one that fails leaves no place taken', async () => {
  const { call, stock } = guardedWorld(() => assert.fail('not to be called'), { signal: 0 })
  const { addEventListener } = EventTarget.prototype
  for (const signal of [5, {}, { aborted: false }, { aborted: false, addEventListener }]) {
    await assert.rejects(call({ signal }), { message: /^signal: .* is not allowed; it must be an AbortSignal$/ })
  }
  assert.deepEqual(totals(stock), {})
  await assert.rejects(call({ signal: { aborted: false, addEventListener() { throw new Error('deaf') }, removeEventListener() {} } }), /deaf/)
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})

test('a call whose signal is aborted already is not made', async () => {
  const { call, stock } = guardedWorld(() => assert.fail('not to be called'), { signal: 0 })
  await assert.rejects(call({ signal: AbortSignal.abort('before') }), (error) => error === 'before')
  assert.deepEqual(totals(stock), {})
})

test('an aborted probe leaves its place at once; a thousand in a row, and it still works', async () => {
  const { call, stock, clock } = guardedWorld(() => new Promise(() => {}), { signal: 0 })
  trip(stock)
  clock.advance(2000)
  for (let i = 0; i < 1000; i++) {
    const controller = new AbortController()
    const promise = call({ signal: controller.signal })
    assert.equal(stock.state, 'halfOpen')
    controller.abort(i)
    await assert.rejects(promise, (error) => error === i)
  }
  assert.ok(stock.enter().exit())
  assert.equal(stock.state, 'closed')
})

test('a call that has ended leaves nothing on the caller\'s signal', async () => {
  const { signal } = new AbortController()
  const outcomes = { fulfilled: async () => 5, rejected: async () => { throw new Error('no') }, thrown: () => { throw new Error('no') } }
  for (const fn of Object.values(outcomes)) {
    const { call } = guardedWorld(fn, { signal: 0 })
    await Promise.allSettled([call({ signal })])
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  }
})

test('a signal may be that of many calls at once, unless its owner allows it fewer', () => {
  const { status, stderr } = run(`
    import { setMaxListeners } from 'node:events'
    import { breaker } from 'tripcoil'
    const call = breaker(() => new Promise(() => {}), { resource: 'stock', signal: 0 })
    const { signal } = new AbortController()
    for (let i = 0; i < 20; i++) call({ signal })
    const strict = new AbortController().signal
    setMaxListeners(2, strict)
    setImmediate(() => { for (let i = 0; i < 3; i++) call({ signal: strict }) })
  `)
  assert.equal(status, 0, stderr)
  assert.deepEqual(stderr.match(/\d+ abort listeners added/g), ['3 abort listeners added'])
})

test('a time-out that comes first wins over an abort, and the other way round', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { call, stock } = guardedWorld(() => new Promise(() => {}), { timeout: 10, signal: 0 })
  const controller = new AbortController()
  const timed = call({ signal: controller.signal })
  t.mock.timers.tick(10)
  controller.abort()
  await assert.rejects(timed, TimeoutError)
  const other = new AbortController()
  const aborted = call({ signal: other.signal })
  other.abort()
  t.mock.timers.tick(10)
  await assert.rejects(aborted, { name: 'AbortError' })
  assert.deepEqual(totals(stock), { passed: 2, bad: 1, cancelled: 1 })
})

test('what is not a signal is refused by name', async () => {
  const { call } = guardedWorld(async () => 5, { signal: 0 })
  await assert.rejects(call({ signal: 5 }), { code: 'ERR_INVALID_ARG_VALUE', message: 'signal: 5 is not allowed; it must be an AbortSignal' })
  assert.equal(await call({ signal: null }), 5)
})

test('a late result of a replaced probe is ignored', async () => {
  const slow = deferred()
  const { call, stock, clock } = guardedWorld((which) => which)
  trip(stock)
  clock.advance(2000)
  const hanging = call(slow.promise)
  await assert.rejects(call(1), { code: 'ECIRCUITOPEN', state: 'halfOpen', retryAfter: 2000 })
  clock.advance(2000)
  const next = deferred()
  const probe = call(next.promise)
  slow.resolve('late')
  assert.equal(await hanging, 'late')
  assert.equal(stock.state, 'halfOpen')
  next.resolve('good')
  assert.equal(await probe, 'good')
  assert.equal(stock.state, 'closed')
})

test('what is no signal is refused, whatever it is', () => {
  const { registry, stock } = world()
  for (const signal of [0, '', false, NaN, 5, 'now', {}]) {
    const refused = { name: 'TypeError', message: /^signal: .* is not allowed; it must be an AbortSignal$/ }
    assert.throws(() => stock.call(() => assert.fail('not called'), { signal }), refused)
    assert.throws(() => registry.transitions({ signal }), refused)
  }
  assert.deepEqual(totals(stock), {})
})
