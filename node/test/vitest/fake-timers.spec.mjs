// How the virtual clock goes with vitest's fake timers: the README's way.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { breaker, Registry, VirtualClock } from 'tripcoil'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('timers are vitest\'s, the breaker\'s time is the virtual clock\'s', async () => {
  const clock = new VirtualClock()
  const registry = new Registry({ clock })
  const tick = async (ms) => {
    clock.advance(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
  const call = breaker((ms) => new Promise((resolve) => setTimeout(resolve, ms, 'done')), {
    resource: 'stock', registry, strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 1, retryTimeout: 2000, timeout: 100,
  })
  const slow = expect(call(500)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await tick(100)
  await slow
  expect(call.resource.state).toBe('open')
  await expect(call(1)).rejects.toMatchObject({ code: 'ECIRCUITOPEN', retryAfter: 2000 })
  await tick(2000)
  const probe = call(1)
  expect(call.resource.state).toBe('halfOpen')
  await tick(1)
  expect(await probe).toBe('done')
  expect(call.resource.state).toBe('closed')
})
