import assert from 'node:assert/strict'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { breaker, CircuitOpenError } from 'tripcoil'
import { Response as ForeignResponse } from 'undici'
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

test('a response of a class, or with properties of its own, keeps them', async () => {
  class Answer extends Response {
    get isAnswer() { return true }
  }
  const { call, stock } = guardedWorld(async () => Object.assign(new Answer('a'), { attempt: 3 }), { stream: true })
  const answer = await call()
  const copy = answer.clone()
  assert.deepEqual([answer instanceof Answer, answer.isAnswer, answer.attempt, copy.isAnswer, copy.attempt], [true, true, 3, true, 3])
  assert.deepEqual(totals(stock), {})
  assert.deepEqual([await answer.text(), await copy.text()], ['a', 'a'])
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

test('a classifier that throws about a stream\'s error makes the call count as bad, and becomes a warning', async (t) => {
  const warnings = t.mock.method(process, 'emitWarning', () => {}).mock
  const { call, stock } = guardedWorld(async () => numbers(1, new Error('no')), { stream: true, isFailure: () => { throw new Error('broken') } })
  await assert.rejects(collect(await call()), /^Error: no$/)
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
  assert.equal(warnings.callCount(), 1)
})

test('a stream whose end cannot be seen ends the call at once, and is handed out as it is', async () => {
  const locked = () => {
    const stream = webStream([1])
    stream.getReader()
    return stream
  }
  const lockedResponse = () => {
    const response = new Response('a')
    response.body.getReader()
    return response
  }
  const readInPart = async () => {
    const response = new Response('a')
    const reader = response.body.getReader()
    await reader.read()
    reader.releaseLock()
    return response
  }
  const made = () => Object.defineProperty(new Response('a'), 'status', { value: 0 })
  const hostile = () => ({ get pipe() { throw new Error('pipe') } })
  const deaf = () => ({ pipe() {}, readable: true, on() { throw new Error('on') } })
  for (const make of [locked, lockedResponse, readInPart, made, hostile, deaf]) {
    const value = await make()
    const wasLocked = value.body?.locked
    const { call, stock } = guardedWorld(async () => value, { stream: true })
    assert.equal(await call(), value)
    assert.deepEqual([totals(stock), value.body?.locked], [{ passed: 1, good: 1 }, wasLocked], make.name)
  }
})

test('a stream that could not be followed takes no probe\'s place with it', async () => {
  const { call, stock, clock } = guardedWorld(async () => {
    const response = new Response('a')
    response.body.getReader()
    return response
  }, { stream: true }, { probeTimeout: 0 })
  trip(stock)
  clock.advance(2000)
  await call()
  assert.equal(stock.state, 'closed')
})

test('a generator that is closed before its first item has no outcome, and its probe\'s place is free', async () => {
  const { call, stock, clock } = guardedWorld(async () => numbers(5), { stream: true }, { probeTimeout: 0 })
  const left = await call()
  assert.deepEqual(await left.return('left'), { done: true, value: 'left' })
  assert.deepEqual(totals(stock), { passed: 1, cancelled: 1 })
  const thrown = await call()
  await assert.rejects(thrown.throw(new Error('in')), /^Error: in$/)
  assert.deepEqual(totals(stock), { passed: 2, bad: 1, cancelled: 1 })
  stock.reset()
  trip(stock)
  clock.advance(2000)
  for (let i = 0; i < 1000; i++) await (await call()).return()
  assert.deepEqual(await collect(await call()), [0, 1, 2, 3, 4])
  assert.equal(stock.state, 'closed')
})

test('a generator in the place of another is one: steps asked for at once, its kind, what it does when it is left', async () => {
  const cleaned = []
  async function* stubborn() {
    try {
      yield 1
      yield 2
    } finally {
      yield 'not yet'
      cleaned.push('clean')
    }
  }
  for (const made of [guardedWorld(stubborn), guardedWorld(async () => stubborn(), { stream: true })]) {
    const generator = await made.call()
    assert.equal(Object.prototype.toString.call(generator), '[object AsyncGenerator]')
    assert.equal(generator[Symbol.asyncIterator](), generator)
    const steps = await Promise.all([generator.next(), generator.next(), generator.return('left'), generator.next(), generator.next()])
    assert.deepEqual(steps.map(({ value }) => value), [1, 2, 'not yet', 'left', undefined])
    assert.deepEqual(totals(made.stock), { passed: 1, good: 1 })
  }
  assert.deepEqual(cleaned, ['clean', 'clean'])
})

test('a guarded generator that is closed before its first item was never a call', async () => {
  let calls = 0
  const { call, stock } = guardedWorld(async function* () { calls += 1; yield 1 })
  assert.deepEqual(await call().return(5), { done: true, value: 5 })
  await assert.rejects(call().throw(new Error('in')), /^Error: in$/)
  assert.deepEqual([calls, totals(stock)], [0, {}])
})

test('a stream of Node that has ended before it is handed out is judged by how', async () => {
  const failed = new Readable({ read() {} })
  failed.on('error', () => {})
  failed.destroy(new Error('no'))
  const bad = guardedWorld(async () => failed, { stream: true })
  assert.equal(await bad.call(), failed)
  assert.deepEqual(totals(bad.stock), { passed: 1, bad: 1 })
  const ignored = guardedWorld(async () => failed, { stream: true, ignore: () => true })
  await ignored.call()
  assert.deepEqual(totals(ignored.stock), { passed: 1, ignored: 1 })
})

test('a stream that can only be written to ends the call at once', async () => {
  const { call, stock } = guardedWorld(async () => new Writable({ write() {} }), { stream: true })
  await call()
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

test('a body of bytes is still one: readers bring their own buffers', async () => {
  const { call, stock } = guardedWorld(async () => new ReadableStream({
    type: 'bytes',
    start(controller) {
      controller.enqueue(new Uint8Array([1, 2, 3]))
      controller.close()
    },
  }), { stream: true })
  const reader = (await call()).getReader({ mode: 'byob' })
  const first = await reader.read(new Uint8Array(2))
  assert.deepEqual([...first.value], [1, 2])
  assert.deepEqual([...(await reader.read(new Uint8Array(2))).value], [3])
  assert.deepEqual(totals(stock), {})
  assert.equal((await reader.read(new Uint8Array(2))).done, true)
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

test('a Response of another fetch\'s class ends the call with its body, and keeps its class', async () => {
  const { call, stock } = guardedWorld(async () => new ForeignResponse('body', { status: 201 }), { stream: true })
  const response = await call()
  assert.deepEqual([response.status, response instanceof ForeignResponse, totals(stock)], [201, true, {}])
  assert.deepEqual([await response.clone().text(), await response.text()], ['body', 'body'])
  assert.deepEqual(totals(stock), { passed: 1, good: 1 })
})

/** Ways in which what a stream is piped into comes to an end, and what that says of the stream's call. */
const pipes = {
  'is closed': { into: (end) => end.destroy(), counted: { cancelled: 1 } },
  fails: { into: (end) => end.destroy(new Error('full')), counted: { cancelled: 1 } },
  'gets an error of the stream': { into: (_, stream) => stream.destroy(new Error('cut off')), counted: { bad: 1 } },
}

for (const [what, { into, counted }] of Object.entries(pipes)) {
  test(`a stream of Node is judged by who ends it: what it is piped into ${what}`, async () => {
    const { call, stock } = guardedWorld(async () => new Readable({ read() { this.push('a') } }), { stream: true })
    const stream = await call()
    const end = new Writable({ write: (_chunk, _encoding, done) => setImmediate(done) })
    stream.once('data', () => into(end, stream))
    await assert.rejects(pipeline(stream, end))
    assert.deepEqual(totals(stock), { passed: 1, ...counted })
  })
}

test('a stream that fails for one of its readers after another has left is bad', async () => {
  const { call, stock } = guardedWorld(async () => new PassThrough(), { stream: true })
  const stream = await call()
  const [one, other] = [new PassThrough(), new PassThrough()]
  stream.pipe(one)
  stream.pipe(other)
  one.destroy()
  stream.once('error', () => {}).destroy(new Error('cut off'))
  await turn()
  assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
})
