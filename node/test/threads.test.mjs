import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Registry } from 'tripcoil'
import { run, until } from './support.mjs'

test('main and eight workers load the addon, call, and end at random, 200 rounds', () => {
  const script = `
    import { Worker } from 'node:worker_threads'
    import { breaker, Registry } from 'tripcoil'
    const rule = { strategy: 'consecutiveErrors', threshold: 3, retryTimeout: 1 }
    const code = \`
      const { workerData } = require('node:worker_threads')
      const { breaker, Registry } = require('tripcoil')
      const random = workerData
      Registry.global.onTransition(() => {})
      const call = breaker(async (n) => { if (n % 5 < 3) throw new Error('no') }, { resource: 'shared', fallback: () => {} })
      const pending = breaker(() => new Promise(() => {}), { resource: 'shared', timeout: 60000 })
      const own = breaker(async () => {}, { strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 })
      let n = 0
      const step = async () => {
        for (let i = 0; i < 20; i++) {
          await Promise.allSettled([call(n++), own()])
          if (n % 7 === 0) pending().catch(() => {})
        }
        if (n < 20 + (random % 60)) return setImmediate(step)
        if (random % 3 === 0) process.exit(0)
        if (random % 3 === 1) throw new Error('end')
      }
      step()
    \`
    Registry.global.loadResource('shared', { resource: 'shared', ...rule })
    let told = 0
    Registry.global.onTransition(() => told++)
    const mine = breaker(async (n) => { if (n % 5 < 3) throw new Error('no') }, { resource: 'shared', fallback: () => {} })
    let seed = 42
    const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8
    const running = new Set()
    let begun = 0
    const begin = () => new Promise((resolve) => {
      const worker = new Worker(code, { eval: true, execArgv: [], workerData: random() })
      running.add(worker)
      begun += 1
      worker.on('error', (error) => { if (error.message !== 'end') throw error })
      worker.on('exit', () => { running.delete(worker); resolve() })
      if (random() % 4 === 0) setImmediate(() => worker.terminate())
    })
    const ROUNDS = 200
    // Eight at a time: a round is a worker, from its beginning to its end.
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (begun < ROUNDS) {
        await Promise.all([begin(), mine(random()).catch(() => {})])
      }
    }))
    console.log(begun >= ROUNDS, running.size, told > 0)
    if (random() % 2) process.exit(0)
  `
  const { status, signal, stdout, stderr } = run(script)
  assert.deepEqual([status, signal, stdout.trim(), stderr], [0, null, 'true 0 true', ''])
})

test('a worker that ends with probes out gives their places back', () => {
  const { status, stdout, stderr } = run(`
    import { Worker } from 'node:worker_threads'
    import { Registry } from 'tripcoil'
    Registry.global.loadResource('r', { resource: 'r', strategy: 'consecutiveErrors', threshold: 1, retryTimeout: 1, probeTimeout: 0 })
    const r = Registry.global.resource('r')
    r.enter().fail()
    while (performance.now() < 1000) if (r.breakers()[0].snapshot().retryAfter === 0) break
    const worker = new Worker("require('tripcoil').Registry.global.resource('r').enter(); setInterval(() => {}, 1000); require('node:worker_threads').parentPort.postMessage(1)", { eval: true, execArgv: [] })
    await new Promise((resolve) => worker.once('message', resolve))
    const before = r.state
    await worker.terminate()
    console.log(before, r.state, r.breakers()[0].snapshot().totals.cancelled)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'halfOpen open 1', ''])
})

/** Calls that a worker is in the middle of, each of them a probe, when it is ended. */
const unfinished = {
  'an entry': 'resource.enter()',
  'a function': "breaker(() => new Promise(() => {}), { resource: 'shared probe' })()",
  'a function that never returns': "breaker(() => { parentPort.postMessage('in'); for (;;); }, { resource: 'shared probe', timeout: 60_000 })()",
  'a generator': "breaker(async function* () { yield 1 }, { resource: 'shared probe' })().next()",
  'a name by the call': "breaker(() => new Promise(() => {}), { resource: () => 'shared probe' })()",
}

for (const [kind, begin] of Object.entries(unfinished)) {
  test(`${kind} that a worker leaves unfinished gives its probe's place back`, async () => {
    Registry.global.loadResource('shared probe', [])
    const rule = { strategy: 'errorCount', threshold: 1, minRequestAmount: 1, retryTimeout: 1, probeTimeout: 0 }
    Registry.global.loadResource('shared probe', { resource: 'shared probe', ...rule })
    const resource = Registry.global.resource('shared probe')
    resource.enter().fail()
    await until(() => resource.breakers()[0].snapshot().retryAfter === 0)
    const worker = new Worker(`
      const { breaker, Registry } = require('tripcoil')
      const { parentPort } = require('node:worker_threads')
      const resource = Registry.global.resource('shared probe')
      parentPort.on('message', () => {})
      ${begin}
      parentPort.postMessage('in')
    `, { eval: true })
    await once(worker, 'message')
    assert.equal(resource.state, 'halfOpen')
    await worker.terminate()
    await until(() => resource.state === 'open')
    assert.ok(resource.tryEnter()?.exit())
    assert.equal(resource.state, 'closed')
  })
}

test('a process that is ended by what a call calls ends as it says', () => {
  const ways = [
    'breaker(() => process.exit(7), rule)()',
    'breaker(async function* () { process.exit(7) }, rule)().next()',
    'breaker(() => { throw 1 }, { ...rule, isFailure: () => process.exit(7) })()',
    'breaker(() => { throw 1 }, { ...rule, fallback: () => process.exit(7) })()',
    'const call = breaker(() => { throw 1 }, rule); call.registry.onTransition(() => process.exit(7)); call()',
  ]
  for (const way of ways) {
    const { status, signal, stderr } = run(`
      import { breaker } from 'tripcoil'
      const rule = { strategy: 'errorCount', threshold: 1, minRequestAmount: 1, retryTimeout: 1000 }
      ${way}
    `)
    assert.deepEqual([status, signal, stderr], [7, null, ''], way)
  }
})
