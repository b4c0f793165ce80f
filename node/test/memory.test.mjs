import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './support.mjs'

/** Runs a script that may collect garbage: `collect()` until what it waits for holds. */
function collecting(script) {
  return run(`
    import { breaker, Breaker, Registry, VirtualClock } from 'tripcoil'
    const rule = { strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 }
    const collect = async (holds) => {
      for (let i = 0; i < 200 && !holds(); i++) {
        await new Promise(setImmediate)
        gc()
      }
    }
    ${script}
  `, '--expose-gc')
}

test('breakers that are dropped are freed, with their registries, listeners and classes', () => {
  const { status, stdout, stderr } = collecting(`
    const alive = new Set()
    const freed = new FinalizationRegistry((id) => alive.delete(id))
    const watch = (value, id) => { alive.add(id); freed.register(value, id) }
    const make = async (i) => {
      const guarded = breaker(async () => 5, rule)
      watch(guarded, 'guarded ' + i)
      watch(guarded.registry, 'registry ' + i)
      watch(guarded.registry.hub, 'hub ' + i)
      guarded.registry.onTransition(() => {})
      await guarded()
      const circuit = new Breaker(async () => 5, rule)
      circuit.on('open', () => {})
      watch(circuit, 'circuit ' + i)
      await circuit.fire()
    }
    for (let i = 0; i < 300; i++) await make(i)
    await collect(() => alive.size === 0)
    console.log(alive.size, [...alive].slice(0, 5).join())
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, '0', ''])
})

test('classes on the registry of the process are freed, and no longer told', () => {
  const { status, stdout, stderr } = collecting(`
    let alive = 0
    let told = 0
    const freed = new FinalizationRegistry(() => alive--)
    const make = (i) => {
      const circuit = new Breaker(async () => 5, { resource: 'r', ...rule })
      circuit.on('open', () => told++)
      alive += 1
      freed.register(circuit, i)
    }
    for (let i = 0; i < 300; i++) make(i)
    await collect(() => alive === 0)
    Registry.global.resource('r').setMode('forcedOpen')
    console.log(alive, told)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, '0 0', ''])
})

test('an entry that is lost gives its probe\'s place back', () => {
  const { status, stdout, stderr } = collecting(`
    const clock = new VirtualClock()
    const registry = new Registry({ clock })
    registry.load({ resource: 'r', ...rule, minRequestAmount: 1, probeTimeout: 0 })
    const r = registry.resource('r')
    r.enter().fail()
    clock.advance(1000)
    const lose = () => { r.enter() }
    lose()
    const before = r.state
    await collect(() => r.state === 'open')
    console.log(before, r.state, r.tryEnter() !== undefined)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'halfOpen open true', ''])
})

test('a stream that nobody reads gives its probe\'s place back, and is cancelled', () => {
  const { status, stdout, stderr } = collecting(`
    const clock = new VirtualClock()
    const registry = new Registry({ clock })
    registry.load({ resource: 'r', ...rule, minRequestAmount: 1, probeTimeout: 0 })
    let cancelled = 0
    const make = () => new Response(new ReadableStream({ cancel() { cancelled += 1 } }))
    const call = breaker(async () => make(), { resource: 'r', registry, stream: true })
    const r = call.resource
    r.enter().fail()
    clock.advance(1000)
    const lose = async () => { await call() }
    await lose()
    const before = r.state
    await collect(() => r.state === 'open' && cancelled === 1)
    console.log(before, r.state, cancelled)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'halfOpen open 1', ''])
})

/** Ways to begin a call as a probe, and to lose what it comes to. */
const lossy = {
  'a guarded generator': ['async function* () { yield 1; yield 2 }', '{}', 'await call().next()'],
  'a generator that a call came to': ['async () => (async function* () { yield 1; yield 2 })()', '{ stream: true }', 'await (await call()).next()'],
  'one that was never begun': ['async () => (async function* () { yield 1 })()', '{ stream: true }', 'await call()'],
  'a stream of Node': ['async () => new Readable({ read() {} })', '{ stream: true }', 'await call()'],
}

for (const [kind, [fn, options, lose]] of Object.entries(lossy)) {
  test(`${kind} that is lost gives its probe's place back`, () => {
    const { status, stdout, stderr } = collecting(`
      import { Readable } from 'node:stream'
      const clock = new VirtualClock()
      const registry = new Registry({ clock })
      registry.load({ resource: 'r', ...rule, minRequestAmount: 1, probeTimeout: 0 })
      const call = breaker(${fn}, { resource: 'r', registry, ...${options} })
      const r = call.resource
      r.enter().fail()
      clock.advance(1000)
      const lose = async () => { ${lose} }
      await lose()
      const before = r.state
      await collect(() => r.state === 'open')
      console.log(before, r.state, r.tryEnter() !== undefined)
    `)
    assert.deepEqual([status, stdout.trim(), stderr], [0, 'halfOpen open true', ''])
  })
}

test('what a lost generator, stream or entry belonged to is freed with it, classifiers and listeners included', () => {
  const { status, stdout, stderr } = collecting(`
    import { Readable } from 'node:stream'
    let alive = 0
    const freed = new FinalizationRegistry(() => alive--)
    class Service {
      registry = new Registry()
      items = breaker(async function* () { yield this; yield this }, { ...rule, isFailure: () => this !== undefined })
      begin = breaker(async () => this.make(), { ...rule, stream: true, isFailure: () => this !== undefined })
      constructor(make) {
        this.make = make
        this.registry.onTransition(() => this)
      }
    }
    const kinds = {
      generator: async (service) => { service.kept = service.items(); await service.kept.next() },
      resulting: async (service) => { service.kept = await service.begin(); await service.kept.next() },
      stream: async (service) => { service.kept = await service.begin() },
      entry: async (service) => { service.kept = service.registry.resource('r').enter() },
    }
    const makers = { stream: () => new Readable({ read() {} }), default: async function* () { yield 1; yield 2 } }
    const left = []
    for (const [kind, use] of Object.entries(kinds)) {
      const make = async () => {
        const service = new Service(makers[kind] ?? makers.default)
        alive += 1
        freed.register(service, kind)
        await use(service)
      }
      for (let i = 0; i < 50; i++) await make()
      await collect(() => alive === 0)
      if (alive > 0) left.push(kind + ' ' + alive)
      alive = 0
    }
    console.log(left.join() || 'none left')
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'none left', ''])
})

test('memory stays as it is over a million calls, blocked ones and entries among them', () => {
  const { status, stdout, stderr } = collecting(`
    const call = breaker(async () => {}, rule)
    const blocked = breaker(async () => {}, rule)
    blocked.resource.setMode('forcedOpen')
    const round = async () => {
      for (let i = 0; i < 100_000; i++) {
        await call()
        if (i % 10 === 0) await blocked().catch(() => {})
        if (i % 10 === 5) call.resource.enter().exit()
      }
      gc()
      await new Promise(setImmediate)
      gc()
      return process.memoryUsage().rss
    }
    for (let i = 0; i < 4; i++) await round()
    const before = await round()
    for (let i = 0; i < 9; i++) await round()
    const grown = (await round()) - before
    // One place in memory that each call leaves behind would be 64 MB.
    console.log(grown < 24 * 1024 * 1024 ? 'flat' : 'grown by ' + grown)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'flat', ''])
})

test('the pass of a state that is over is forgotten when no call is out on it', () => {
  const { status, stdout, stderr } = collecting(`
    const call = breaker(async () => 5, rule)
    const { resource } = call
    const used = new Set()
    // Its number is given again when it is free.
    const isUsed = () => {
      resource.reset()
      call()
      const { token } = resource.passes.last
      return used.has(token) || !used.add(token)
    }
    let settle
    const pending = breaker(() => new Promise((resolve) => (settle = resolve)), { resource: resource.name, registry: call.registry })()
    for (let i = 0; i < 100; i++) isUsed()
    const before = used.size
    let isAgain = false
    await collect(() => (isAgain ||= isUsed()))
    settle()
    await pending
    const { late, good } = resource.breakers()[0].snapshot().totals
    console.log(before, isAgain, late > 0, good > 0)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, '100 true true true', ''])
})
