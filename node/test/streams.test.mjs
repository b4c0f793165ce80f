import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { breaker, CircuitOpenError } from 'tripcoil'
import { guardedWorld, R0, totals, trip, turn, world } from './support.mjs'

async function* numbers(upTo, error) {
  for (let i = 0; i < upTo; i++) yield i
  if (error) throw error
  return 'end'
}

async function collect(iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}

test('an async generator is admitted at its first item, and ends when it ends', async () => {
  const { call, stock } = guardedWorld(numbers)
  const generator = call(2)
  assert.deepEqual(totals(stock), {})
  assert.deepEqual(await generator.next(), { done: false, value: 0 })
  assert.deepEqual(totals(stock), {})
  assert.deepEqual(await collect(generator), [1])
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
  await assert.rejects(collect(call(2, new Error('no'))), /^Error: no$/)
  assert.deepEqual(totals(stock), { passed: 2, good: 1, bad: 1 })
  stock.setMode('forcedOpen')
  await assert.rejects(call(2).next(), CircuitOpenError)
})

test('an async generator that is left early has no outcome, and its probe\'s place is free', async () => {
  const { call, stock, clock } = guardedWorld(numbers)
  trip(stock)
  clock.advance(2000)
  for (let i = 0; i < 1000; i++) for await (const _ of call(5)) break
  assert.deepEqual(await collect(call(2)), [0, 1])
  assert.equal(stock.state, 'closed')
})

test('an async generator gets what is sent and thrown into it, and gives its value back', async () => {
  const { call, stock } = guardedWorld(async function* () {
    try {
      assert.equal(yield 1, 'sent')
      yield 2
    } catch (error) {
      return error
    }
  })
  const generator = call()
  await generator.next()
  assert.equal((await generator.next('sent')).value, 2)
  assert.deepEqual(await generator.throw('thrown'), { done: true, value: 'thrown' })
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

test('options that an async generator cannot have are refused, and so is a sync generator', () => {
  const { registry } = world()
  for (const option of [{ timeout: 5 }, { signal: 0 }, { onBlocked() {} }, { fallback() {} }, { trace: true }, { stream: true }]) {
    assert.throws(() => breaker(numbers, { resource: 'stock', registry, ...option }), { message: new RegExp(`^${Object.keys(option)[0]}: `) })
  }
  assert.throws(() => breaker(function* () {}, R0), { message: /^fn: a function is not allowed; it must be another than a sync generator/ })
})

function webStream(items, error) {
  return new ReadableStream({
    pull(controller) {
      if (items.length > 0) controller.enqueue(items.shift())
      else if (error) controller.error(error)
      else controller.close()
    },
  })
}

const kinds = {
  'an async generator': (error) => numbers(2, error),
  'a stream of Node': (error) => Readable.from(numbers(2, error)),
  'a stream of the web': (error) => webStream([0, 1], error),
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind} that a call comes to ends it: read to the end, failed, left`, async () => {
    const { call, stock } = guardedWorld(async (error) => make(error), { stream: true })
    const result = await call()
    await turn()
    assert.deepEqual(totals(stock), {})
    assert.deepEqual(await collect(result), [0, 1])
    assert.deepEqual(totals(stock), { passed: 1, good: 1 })
    await assert.rejects(collect(await call(new Error('no'))), /^Error: no$/)
    await turn()
    assert.deepEqual(totals(stock), { passed: 2, good: 1, bad: 1 })
    for await (const _ of await call()) break
    await turn()
    assert.deepEqual(totals(stock), { passed: 3, good: 1, bad: 1, cancelled: 1 })
  })

  test(`${kind} is judged at once without the option`, async () => {
    const { call, stock } = guardedWorld(async () => make())
    await call()
    assert.deepEqual(totals(stock), { passed: 1, good: 1 })
  })
}

test('an error of a Node stream without listeners is still nobody\'s but the process\'s', async () => {
  const { call, stock } = guardedWorld(async () => new Readable({ read() {} }), { stream: true })
  const stream = await call()
  assert.equal(stream.listenerCount('error'), 0)
  stream.once('error', () => {})
  stream.destroy(new Error('no'))
  await turn()
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})

test('a response keeps all that it has, and ends the call with its body', async () => {
  const response = Object.defineProperty(new Response(webStream([Buffer.from('a'), Buffer.from('b')]), { status: 201, headers: { x: 'y' } }), 'url', { value: 'http://a/' })
  const { call, stock } = guardedWorld(async () => response, { stream: true })
  const got = await call()
  const copy = got.clone()
  assert.deepEqual([got.status, got.headers.get('x'), got.url, got.redirected, got.type, copy.url, got instanceof Response], [201, 'y', 'http://a/', false, 'default', 'http://a/', true])
  assert.deepEqual(totals(stock), {})
  assert.deepEqual([await got.text(), await text(copy.body)], ['ab', 'ab'])
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

test('what is no stream, or has ended already, ends the call at once', async () => {
  const ended = Readable.from([])
  ended.resume()
  await turn()
  for (const value of [5, null, {}, new Response(null), ended]) {
    const { call, stock } = guardedWorld(async () => value, { stream: true })
    assert.equal(await call(), value)
    assert.deepEqual(totals(stock), { passed: 1, good: 1 })
  }
})

test('a stream\'s time-out is that of its beginning; its caller may abort it until its end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let given
  const { call, stock } = guardedWorld(async ({ signal }) => { given = signal; return numbers(2) }, { stream: true, timeout: 10, signal: 0 })
  const controller = new AbortController()
  const stream = await call({ signal: controller.signal })
  t.mock.timers.tick(100)
  assert.equal(given.aborted, false)
  controller.abort('enough')
  assert.deepEqual([given.reason, totals(stock)], ['enough', { passed: 1, cancelled: 1 }])
  // Another call, which has the ended one's place now, is none of the stream's business.
  const other = stock.enter()
  assert.deepEqual(await collect(stream), [0, 1])
  assert.deepEqual(totals(stock), { passed: 1, cancelled: 1 })
  other.fail()
  assert.deepEqual(totals(stock), { passed: 2, bad: 1, cancelled: 1 })
})

test('a classifier that throws about a stream\'s error makes the call count as bad', async () => {
  const { call, stock } = guardedWorld(async () => numbers(1, new Error('no')), { stream: true, isFailure: () => { throw new Error('broken') } })
  await assert.rejects(collect(await call()), /^Error: no$/)
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})
