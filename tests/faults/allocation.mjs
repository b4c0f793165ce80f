// Each STRIDE-th allocation of a scenario that the addon makes fails, in a process of its own: that ends by SIGABRT,
// as every Rust program without memory does. Run with failing_malloc.c preloaded.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

const path = createRequire(new URL('../../node/package.json', import.meta.url)).resolve('tripcoil')

async function play() {
  const { breaker, Registry, VirtualClock } = createRequire(import.meta.url)(path)
  const clock = new VirtualClock()
  const registry = new Registry({ clock, maxResources: 8 })
  process.getegid() // from here on
  const rule = { strategy: 'errorCount', threshold: 2, minRequestAmount: 1, retryTimeout: 1000 }
  registry.onTransition(() => {})
  registry.load([{ resource: 'stock', ...rule }, { resource: 'stock', ...rule, threshold: 3 }, { resource: 'a.*', regex: true, ...rule }])
  assert.throws(() => registry.load('[{"grade":9}]'))
  registry.loadDefaults({ resource: '*', ...rule })
  const call = breaker(async (error) => { if (error) throw error }, { resource: 'stock', registry })
  for (const error of [undefined, new Error('no'), new Error('no'), undefined]) await call(error).catch(() => {})
  clock.advance(1000)
  await call()
  for (const name of ['a1', 'b', 'stock']) registry.resource(name).tryEnter()?.exit({ responseTime: 1 })
  registry.resource('stock').setMode('forcedOpen')
  await call().catch((error) => error.message + error.rule.resource)
  assert.ok(registry.rules.length && registry.names.length && call.resource.breakers()[0].lastTrip)
  registry.load([])
  registry.loadLegacy('1.6', '[{"resource":"stock","grade":2,"count":4,"timeWindow":1}]')
  call.resource.tryEnter()?.fail()
}

if (process.env.FAIL_AT) {
  await play()
} else {
  const stride = Number(process.env.STRIDE ?? 1)
  const run = (n) => spawnSync('sh', ['-c', 'ulimit -c 0; exec "$0" "$1"', process.execPath, import.meta.filename ?? new URL(import.meta.url).pathname], {
    env: { ...process.env, FAIL_AT: n, FAIL_IN: '.node' }, encoding: 'utf8', timeout: 60_000,
  })
  const whole = run(0)
  assert.deepEqual([whole.status, whole.signal, whole.stderr], [0, null, ''])
  let failed = 0
  for (let n = 1; ; n += stride) {
    const { status, signal, stderr } = run(n)
    if (status === 0) break
    assert.deepEqual([status, signal], [null, 'SIGABRT'], `allocation ${n}: ${stderr}`)
    assert.match(stderr, /^memory allocation of \d+ bytes failed/)
    failed += 1
  }
  assert.ok(failed * stride > 100, `only ${failed}`)
  console.log(`node: ${failed} allocations of the addon have failed, and ended their processes by SIGABRT`)
}
