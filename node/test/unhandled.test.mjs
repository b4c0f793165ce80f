import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaker, Breaker, Registry } from 'tripcoil'
import { R0, turn } from './support.mjs'

/** Ways to misbehave, each in its place: at once, as a rejection, and in a thenable. */
const failures = {
  none: undefined,
  throws: () => { throw new Error('thrown') },
  rejects: async () => { throw new Error('rejected') },
  late: async () => { await turn(); throw new Error('late') },
  thenable: () => ({ then(_, reject) { reject(new Error('thenable')) } }),
  'throwing thenable': () => ({ then() { throw new Error('thenable') } }),
}
const classifiers = { none: undefined, throws: () => { throw new Error('classifier') }, yes: () => true, no: () => false }

test('no mix of failing call, failing fallback, throwing classifier and throwing listener is unhandled', async (t) => {
  const unhandled = []
  const note = (error) => unhandled.push(error)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  const warnings = []
  t.mock.method(process, 'emitWarning', (warning) => warnings.push(warning))
  let mixes = 0
  for (const call of Object.values(failures)) {
    for (const fallback of Object.values(failures)) {
      for (const classifier of Object.values(classifiers)) {
        for (const option of ['isFailure', 'ignore', 'isFailureResult', 'ignoreResult']) {
          for (const listener of [failures.throws, failures.rejects]) {
            for (const timeout of [undefined, 60_000]) {
              await play({ call, fallback, classifier, option, listener, timeout })
              mixes += 1
            }
          }
        }
      }
    }
  }
  await turn()
  await turn()
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
  assert.deepEqual(unhandled, [])
  assert.equal(mixes, 6 * 6 * 4 * 4 * 2 * 2)
  assert.ok(warnings.length >= mixes, 'what listeners throw is reported aside')
})

async function play({ call = async () => 5, fallback, classifier, option, listener, timeout }) {
  const registry = new Registry()
  const options = { resource: 'mix', registry, ...R0, minRequestAmount: 1, fallback, [option]: classifier, timeout }
  registry.onTransition(listener)
  const guarded = breaker(call, options)
  const class_ = new Breaker(call, options)
  for (const event of ['open', 'halfOpen', 'close', 'success', 'failure', 'reject', 'fallback']) class_.on(event, listener)
  const made = []
  // One call that is judged, one that is blocked.
  for (let i = 0; i < 2; i++) made.push(guarded(), class_.fire())
  guarded.resource.setMode('forcedOpen')
  made.push(guarded(), class_.fire())
  for (const promise of made) assert.ok(promise instanceof Promise)
  await Promise.allSettled(made)
}

test('what settles after a time-out or an abort is not unhandled', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const unhandled = []
  const note = (error) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const late = () => new Promise((_, reject) => setTimeout(reject, 20, new Error('late')))
  const timed = breaker(late, { ...R0, timeout: 5 })()
  const controller = new AbortController()
  const aborted = breaker(late, { ...R0, signal: 0 })({ signal: controller.signal })
  controller.abort()
  t.mock.timers.tick(5)
  await assert.rejects(timed, { code: 'ETIMEDOUT' })
  await assert.rejects(aborted, { name: 'AbortError' })
  t.mock.timers.tick(15)
  await turn()
  await turn()
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})
