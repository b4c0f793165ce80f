// Whatever of a user's code throws, wherever the library calls it: nothing is lost, stuck or torn.
//
// A scenario passes every place where foreign code is called, and is played once for each of these calls, with that
// one throwing. In half of it the calls are probes whose lease never ends: a place that got lost would leave its
// breaker half-open for ever.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { breaker, Breaker, CircuitOpenError, Registry, trace, VirtualClock } from 'tripcoil'
import { turn } from './support.mjs'

const RULE = { strategy: 'errorCount', threshold: 3, minRequestAmount: 1, retryTimeout: 1000, probeTimeout: 0 }

class Blown extends Error {}
class Boom extends Error {}

class World {
  burned = 0
  begun = 0
  clock = new VirtualClock()

  constructor(blowsAt) {
    this.blowsAt = blowsAt
    this.registry = new Registry({ clock: this.clock })
    this.registry.load({ resource: 'stock', ...RULE })
    this.stock = this.registry.resource('stock')
  }

  /** Is foreign code. */
  burn(value) {
    this.burned += 1
    if (this.burned === this.blowsAt) throw new Blown()
    return value
  }

  begin() {
    this.begun += 1
    return this.burn(5)
  }

  fail() {
    this.begin()
    throw new Boom()
  }

  guarded(fn, options = {}) {
    return breaker(fn, { resource: 'stock', registry: this.registry, ...options })
  }

  trip() {
    for (let i = 0; i < 3; i++) {
      const entry = this.stock.enter()
      this.begun += 1
      entry.fail()
    }
    this.clock.advance(1000)
  }

  /** Runs what burns nothing. */
  safely(body) {
    const { burned, blowsAt } = this
    this.blowsAt = 0
    body()
    Object.assign(this, { burned, blowsAt })
  }
}

async function* items(w) {
  w.begin()
  try {
    yield 1
    w.burn()
    yield 2
  } finally {
    w.burn()
  }
}

/** A thenable whose every part is foreign. */
const thenable = (w) => ({
  get then() {
    w.burn()
    return (resolve) => {
      w.burn()
      resolve(5)
    }
  },
})

const steps = {
  'a function': (w) => w.guarded(() => w.begin())(),
  'an async function': (w) => w.guarded(async () => { w.begin(); await null; w.burn() })(),
  'a thenable': (w) => w.guarded(() => { w.begin(); return thenable(w) })(),
  'with a time-out': (w) => w.guarded(() => w.begin(), { timeout: 60_000 })(),
  'one call': (w) => w.stock.call(() => w.begin()),
  'with a signal': (w) => w.stock.call(({ signal }) => { signal.addEventListener('abort', () => {}); return w.begin() }, { signal: new AbortController().signal }),
  'an entry': (w) => {
    const entry = w.stock.enter()
    try {
      w.begin()
    } finally {
      entry.exit()
    }
  },
  isFailureResult: (w) => w.guarded(() => w.begin(), { isFailureResult: () => w.burn(true) })(),
  ignoreResult: (w) => w.guarded(() => w.begin(), { ignoreResult: () => w.burn(true) })(),
  isFailure: (w) => w.guarded(() => w.fail(), { isFailure: () => w.burn(false) })(),
  ignore: (w) => w.guarded(() => w.fail(), { ignore: () => w.burn(true) })(),
  fallback: (w) => w.guarded(() => w.fail(), { fallback: () => w.burn(1) })(),
  'an async fallback': (w) => w.guarded(() => w.fail(), { fallback: async () => { await null; w.burn() } })(),
  blocked: async (w) => {
    w.stock.setMode('forcedOpen')
    await w.guarded(() => w.begin(), { onBlocked: () => w.burn() })()
    await w.guarded(() => w.begin(), { fallback: () => w.burn() })()
  },
  'a name by the call': (w) => w.guarded(() => w.begin(), { resource: () => w.burn('stock') })(),
  'an error with a cause that throws': (w) => w.guarded(() => { w.begin(); throw Object.defineProperty(new Boom(), 'cause', { get: () => w.burn() }) })(),
  trace: (w) => w.guarded(() => { w.begin(); trace(new Boom()); w.burn() }, { trace: true, ignore: () => w.burn(false) })(),
  'a generator': async (w) => {
    const call = w.guarded(() => items(w), { isFailure: () => w.burn(true) })
    for await (const item of w.guarded(async function* () { yield* items(w) })()) w.burn(item)
    for await (const _ of await w.guarded(() => items(w), { stream: true })()) break
    return call
  },
  'a stream': async (w) => {
    const read = () => Readable.from((async function* () { yield w.burn('a'); yield w.burn('b') })())
    for await (const _ of await w.guarded(() => { w.begin(); return read() }, { stream: true })()) w.burn()
  },
  'a body': async (w) => {
    const body = () => new ReadableStream({ pull(controller) { w.burn(); controller.enqueue(new Uint8Array(1)); controller.close() } })
    const response = await w.guarded(() => { w.begin(); return new Response(body()) }, { stream: true, isFailureResult: () => w.burn(false) })()
    await response.text()
  },
  listeners: async (w) => {
    const ends = [w.registry.onTransition(() => w.burn()), w.registry.onTransition(() => w.burn())]
    w.stock.reset()
    await w.guarded(() => w.begin())().finally(() => ends.forEach((end) => end()))
  },
  'a class': async (w) => {
    const circuit = new Breaker(() => w.begin(), { resource: 'stock', registry: w.registry })
    circuit.on('success', () => w.burn())
    circuit.fallback(() => w.burn())
    await circuit.fire()
  },
  rules: (w) => {
    const rule = { resource: 'other', get strategy() { return w.burn('errorCount') }, get threshold() { return w.burn(1) }, retryTimeout: 1 }
    try {
      w.registry.load([rule, { resource: 'stock', ...RULE }])
    } finally {
      w.safely(() => assert.equal(w.registry.rules.filter(({ resource }) => resource === 'stock').length, 1))
    }
  },
}

function settled(w) {
  const { good, bad, ignored, cancelled, late, passed } = w.stock.breakers()[0].snapshot().totals
  return passed === w.begun && passed === good + bad + ignored + cancelled + late && w.stock.state !== 'halfOpen'
}

async function play(w) {
  for (const [name, step] of Object.entries(steps)) {
    for (const probing of [false, true]) {
      w.safely(() => {
        w.stock.setMode('normal')
        if (probing) w.trip()
      })
      try {
        await step(w)
      } catch (error) {
        const isForeign = error instanceof Blown || error instanceof Boom || error instanceof CircuitOpenError
        assert.ok(isForeign, `${name}: ${error.stack}`)
      }
      // Streams say some turns later how they have ended.
      for (let turns = 0; turns < 20 && !settled(w); turns++) await turn()
      const said = () => `${name}, probing: ${probing}, call ${w.blowsAt}: ${w.begun} begun, ${JSON.stringify(w.stock.breakers()[0].snapshot())}`
      assert.ok(settled(w), said())
    }
  }
  w.blowsAt = 0
  w.stock.setMode('normal')
  w.trip()
  await w.guarded(() => 5)()
  assert.equal(w.stock.state, 'closed')
}

test('an error in any call of foreign code loses nothing', async () => {
  // What listeners throw becomes one.
  const ignore = () => {}
  process.on('warning', ignore)
  const whole = new World(0)
  await play(whole)
  assert.ok(whole.burned > 90, `only ${whole.burned}`)
  for (let blowsAt = 1; blowsAt <= whole.burned; blowsAt++) await play(new World(blowsAt))
  process.off('warning', ignore)
})
