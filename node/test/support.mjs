// What the tests share.
import { spawnSync } from 'node:child_process'
import { breaker, Registry, VirtualClock } from 'tripcoil'

/** The rule of most tests: four calls of which half failed open the breaker for 2 s; one probe. */
export const R0 = {
  strategy: 'errorRatio',
  threshold: 0.5,
  minRequestAmount: 4,
  statInterval: 1000,
  statSlidingWindowBucketCount: 10,
  retryTimeout: 2000,
}

/** A registry on a virtual clock, and a resource in it that R0 (or what is given beside it) guards. */
export function world(rule = {}) {
  const clock = new VirtualClock()
  const registry = new Registry({ clock })
  registry.load({ resource: 'stock', ...R0, ...rule })
  return { clock, registry, stock: registry.resource('stock') }
}

/** A world, and a function that is guarded in it. */
export function guardedWorld(fn, options = {}, rule = {}) {
  const made = world(rule)
  return { ...made, call: breaker(fn, { resource: 'stock', registry: made.registry, ...options }) }
}

/** Four failures at once: due again in 2 s. */
export function trip(resource) {
  for (let i = 0; i < 4; i++) resource.enter().fail()
}

/** What a resource's only breaker has counted since its rule was loaded, without what is zero. */
export function totals(resource) {
  const { totals } = resource.breakers()[0].snapshot()
  return Object.fromEntries(Object.entries(totals).filter(([, count]) => count > 0))
}

/** A promise, and the functions that settle it. */
export function deferred() {
  let resolve
  let reject
  const promise = new Promise((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}

/** A turn of the event loop, in which all microtasks are done. */
export const turn = () => new Promise(setImmediate)

/** Waits until something holds, a turn of the event loop after the other. */
export async function until(holds, what = 'what was waited for') {
  for (let turns = 0; turns < 100_000; turns++) {
    if (await holds()) return
    await turn()
  }
  throw new Error(`${what} has not come`)
}

/** Runs a script in a process of its own, in the package's folder. */
export function run(script, ...options) {
  const args = [...options, '--input-type=module', '--eval', script]
  return spawnSync(process.execPath, args, { cwd: new URL('..', import.meta.url), encoding: 'utf8', timeout: 60_000 })
}
