// What must answer at once: a promise is truthy, and its rejection nobody's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaker, Breaker, Registry } from 'tripcoil'
import { guardAdapter } from 'tripcoil/axios'
import { unavailable as express } from 'tripcoil/express'
import { unavailable as fastify } from 'tripcoil/fastify'
import { guardFetch } from 'tripcoil/fetch'
import { unavailable as koa } from 'tripcoil/koa'
import { breakerInterceptor } from 'tripcoil/undici'
import { Agent } from 'undici'
import { guardedWorld, R0, totals, turn, world } from './support.mjs'

/** Functions that are not declared async, but give what must be waited for. */
const late = {
  'a promise': () => Promise.resolve(false),
  'a promise that is rejected': () => Promise.reject(new Error('late')),
  'a thenable': () => ({ then: (_, reject) => reject(new Error('late')) }),
  'a thenable that throws': () => ({ then() { throw new Error('late') } }),
}

/** Fails where anything is left unhandled meanwhile. */
async function handled(act) {
  const unhandled = []
  const note = (error) => unhandled.push(error)
  process.on('unhandledRejection', note)
  try {
    await act()
    await turn()
    await turn()
  } finally {
    process.off('unhandledRejection', note)
  }
  assert.deepEqual(unhandled, [])
}

const named = (option) => ({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE', message: new RegExp(`^${option}: a promise is not allowed; it must be `) })

test('a classifier that gives a promise is refused, by its name, and the call counts as bad', () => handled(async () => {
  for (const [kind, given] of Object.entries(late)) {
    for (const more of [{}, { timeout: 60_000 }]) {
      for (const option of ['isFailure', 'ignore', 'isFailureResult', 'ignoreResult']) {
        const fn = option.endsWith('Result') ? async () => 5 : async () => { throw new Error('no') }
        const { call, stock } = guardedWorld(fn, { [option]: given, ...more })
        await assert.rejects(call(), named(option), `${kind} of ${option}`)
        assert.deepEqual(totals(stock), { passed: 1, bad: 1 })
        await assert.rejects(stock.call(fn, { [option]: given }), named(option))
      }
    }
  }
}))

test('what is no promise is as true as it is to JavaScript', async () => {
  for (const [given, outcome] of [[0, 'good'], ['', 'good'], [undefined, 'good'], [1, 'bad'], [{}, 'bad'], [{ get then() { throw new Error('no') } }, 'bad']]) {
    const { call, stock } = guardedWorld(async () => 5, { isFailureResult: () => given })
    await call()
    assert.deepEqual(totals(stock), { passed: 1, [outcome]: 1 })
  }
})

test('async functions are refused at once where a function must not be', () => {
  const later = async () => true
  const refused = (name) => ({ name: 'TypeError', message: `${name}: a function is not allowed; it must be a function that is not async` })
  for (const option of ['isFailure', 'ignore', 'isFailureResult', 'ignoreResult', 'resource']) {
    assert.throws(() => breaker(() => {}, { resource: 'a', [option]: later }), refused(option))
    if (option !== 'resource') assert.throws(() => world().stock.call(() => {}, { [option]: later }), refused(option))
  }
  for (const make of [guardFetch, breakerInterceptor, (options) => guardAdapter(later, options)]) {
    for (const option of ['isFailure', 'ignore', 'isFailureStatus', 'resource']) {
      assert.throws(() => make({ [option]: later }), refused(option))
    }
  }
  for (const unavailable of [express, fastify, koa]) assert.throws(() => unavailable({ body: later }), refused('body'))
})

test('a name that is a promise is refused', () => handled(async () => {
  for (const given of Object.values(late)) {
    const call = breaker(() => 5, { registry: new Registry(), resource: given })
    await assert.rejects(call(), named('resource'))
  }
}))

test('a generator\'s and a stream\'s classifiers are no exception', (t) => handled(async () => {
  const warnings = []
  t.mock.method(process, 'emitWarning', (warning, { code }) => warnings.push([code, warning]))
  async function* numbers() { throw new Error('no') }
  const generator = guardedWorld(numbers, { isFailure: late['a promise that is rejected'] })
  await assert.rejects(generator.call().next(), named('isFailure'))
  assert.deepEqual(totals(generator.stock), { passed: 1, bad: 1 })
  const streaming = guardedWorld(async () => numbers(), { isFailure: late['a promise that is rejected'], stream: true })
  await assert.rejects((await streaming.call()).next(), /^Error: no$/)
  assert.deepEqual(totals(streaming.stock), { passed: 1, bad: 1 })
  assert.equal(warnings.length, 1)
  assert.equal(warnings[0][0], 'TRIPCOIL_CLASSIFIER')
  assert.match(warnings[0][1], /isFailure: a promise is not allowed/)
}))

/** One request by each client, which answers with `status` or fails; and the host's totals. */
const clients = {
  async fetch(options, answer) {
    return guardFetch(options, async () => new Response('', { status: answer() }))('http://host/')
  },
  async axios(options, answer) {
    return guardAdapter(async () => ({ status: answer() }), options)({ url: 'http://host/' })
  },
}

for (const [name, ask] of Object.entries(clients)) {
  test(`${name}: classifiers that give promises are refused by their names`, () => handled(async () => {
    for (const given of Object.values(late)) {
      for (const option of ['isFailure', 'ignore', 'isFailureStatus', 'resource']) {
        const registry = new Registry()
        registry.loadDefaults({ resource: '*', ...R0 })
        const answer = option === 'isFailureStatus' ? () => 200 : () => { throw new Error('no') }
        await assert.rejects(ask({ registry, [option]: given }, answer), named(option))
        if (option !== 'resource') assert.deepEqual(totals(registry.resource('host')), { passed: 1, bad: 1 })
      }
    }
  }))
}

test('undici: a name that is a promise is refused', () => handled(async () => {
  const dispatcher = new Agent().compose(breakerInterceptor({ resource: late['a promise that is rejected'] }))
  await assert.rejects(dispatcher.request({ origin: 'http://127.0.0.1:9', path: '/', method: 'GET' }), named('resource'))
}))

test('a body that is a promise is refused, as the answer\'s error', () => handled(async () => {
  const { call, stock } = guardedWorld(async () => 5)
  stock.setMode('forcedOpen')
  const blocked = await call().catch((error) => error)
  const options = { body: late['a promise that is rejected'] }
  assert.throws(() => express(options)(blocked, {}, {}, () => {}), named('body'))
  assert.throws(() => fastify(options)(blocked, {}, {}), named('body'))
  await assert.rejects(koa(options)({}, async () => { throw blocked }), named('body'))
}))

test('listeners may be async: what they reject with becomes a warning', (t) => handled(async () => {
  const warnings = []
  t.mock.method(process, 'emitWarning', (warning) => warnings.push(warning))
  const { registry, stock } = world()
  registry.onTransition(async () => { throw new Error('listener') })
  const class_ = new Breaker(() => 5, { registry, resource: 'stock' })
  class_.on('success', () => ({ then(_, reject) { reject(new Error('listener')) } }))
  class_.on('success', () => ({ get then() { throw new Error('listener') } }))
  await class_.fire()
  stock.setMode('disabled')
  await turn()
  assert.equal(warnings.length, 3)
}))
