// How the virtual clock goes with node:test's mock timers: the README's way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaker, Registry, VirtualClock } from 'tripcoil'

test('timers are the mock\'s, the breaker\'s time is the virtual clock\'s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = new VirtualClock()
  const registry = new Registry({ clock })
  const tick = (ms) => {
    clock.advance(ms)
    t.mock.timers.tick(ms)
  }
  const call = breaker((ms) => new Promise((resolve) => setTimeout(resolve, ms, 'done')), {
    resource: 'stock', registry, strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 1, retryTimeout: 2000, timeout: 100,
  })
  const slow = call(500)
  tick(100)
  await assert.rejects(slow, { code: 'ETIMEDOUT' })
  assert.equal(call.resource.state, 'open')
  await assert.rejects(call(1), { code: 'ECIRCUITOPEN', retryAfter: 2000 })
  tick(2000)
  const probe = call(1)
  assert.equal(call.resource.state, 'halfOpen')
  tick(1)
  assert.equal(await probe, 'done')
  assert.equal(call.resource.state, 'closed')
})

test('a virtual clock reads what it is told, to the ns', () => {
  const clock = new VirtualClock()
  assert.equal(clock.time, 0)
  clock.set(1.000001)
  clock.advance(2)
  assert.equal(clock.time, 3.000001)
  clock.setNanoseconds(5n)
  assert.equal(clock.time, 0.000005)
  clock.set(Number.MAX_SAFE_INTEGER)
  clock.advance(Number.MAX_SAFE_INTEGER)
  assert.ok(Math.abs(clock.time - (2 ** 64 - 1) / 1e6) < 1e4)
  const registry = new Registry({ clock })
  assert.equal(registry.now, clock.time)
})
