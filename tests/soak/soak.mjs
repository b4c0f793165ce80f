// The soak test's program in Node: a round of mixed load for every line that it reads. README.md beside it.
// Needs --expose-gc: what is lost is found by the garbage collector, and then counted.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { createRequire } from 'node:module'

const path = createRequire(new URL('../../node/package.json', import.meta.url)).resolve('tripcoil')
const { breaker, CircuitOpenError, InvalidRuleError, Registry, VirtualClock } = createRequire(import.meta.url)(path)

const CALLS = 400
const did = { rounds: 0, calls: 0, blocked: 0, trips: 0, told: 0, reloads: 0, observers: 0, registries: 0, workers: 0 }

let seed = 42
function below(end) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
  return (seed >> 8) % end
}
const pick = (...choices) => choices[below(choices.length)]
const turn = () => new Promise(setImmediate)

class Boom extends Error {}
class Aside extends Error {}

/** The rules that are always there, edited by `seconds`. */
function lasting(seconds) {
  const every = { timeWindow: seconds, statIntervalMs: 1000 }
  const ratio = { grade: 1, count: 0.5, statSlidingWindowBucketCount: 10, probeNum: 3 }
  return [
    { resource: 'kept', id: 'kept', ...ratio, ...every },
    { resource: 'three', id: 1, grade: 0, count: 40, slowRatioThreshold: 0.6, ...every },
    { resource: 'three', id: 2, ...ratio, ...every },
    { resource: 'three', id: 3, grade: 3, count: 8, ...every },
  ]
}
const BRIEF = { resource: 'brief', grade: 2, count: 5, timeWindow: 1 }
const LIKE = { resource: 'like-[0-9]+', regex: true, grade: 1, count: 0.5, timeWindow: 1 }
const DEFAULT = { resource: '*', grade: 2, count: 3, timeWindow: 1 }

/** Calls of one resource, in every way that there is. Each way says what its call came to. */
class Calls {
  constructor(registry, name) {
    this.resource = registry.resource(name)
    this.counts = { blocked: 0, good: 0, bad: 0, ignored: 0, cancelled: 0 }
    const options = { resource: name, registry, ignore: (error) => error instanceof Aside, isFailureResult: (value) => value === 'judged' }
    this.guarded = breaker(async (outcome) => this.work(outcome), options)
    this.answered = breaker((outcome) => this.work(outcome), { ...options, fallback: (error) => error })
    this.late = breaker(() => new Promise(() => {}), { ...options, timeout: 1 })
    this.items = breaker(async function* () { yield 1; yield 2 }, options)
    this.stream = breaker(async () => Readable.from(['a', 'b']), { ...options, stream: true })
  }

  work(outcome) {
    if (outcome === 'bad') throw new Boom()
    if (outcome === 'ignored') throw new Aside()
    return outcome
  }

  /** Counts what `way` says, or that it was blocked. */
  async one(outcome, way = pick('guarded', 'byHand', 'byHand', 'answers', 'aborted', 'left', 'lost', 'read')) {
    let came
    try {
      came = await this[`_${way}`](outcome)
    } catch (error) {
      if (!(error instanceof CircuitOpenError)) throw error
      assert.match(error.message, /blocked/)
      came = 'blocked'
    }
    this.counts[came === 'judged' ? 'bad' : came] += 1
  }

  async _guarded(outcome) {
    await this.guarded(outcome).catch((error) => { if (error instanceof CircuitOpenError) throw error })
    return outcome
  }

  _byHand(outcome) {
    const entry = this.resource.enter()
    const ends = { bad: 'fail', ignored: 'ignore', cancelled: 'cancel' }
    if (outcome === 'judged') entry.markBad()
    assert.ok(ends[outcome] ? entry[ends[outcome]]() : entry.exit({ responseTime: below(60) }))
    assert.ok(!entry.exit())
    return outcome
  }

  async _answers(outcome) {
    const answer = await this.answered(outcome).catch((error) => assert.ok(error instanceof Aside))
    return answer instanceof CircuitOpenError ? 'blocked' : outcome
  }

  async _aborted() {
    const caller = new AbortController()
    const call = this.resource.call(() => new Promise(() => {}), { signal: caller.signal })
    caller.abort(new Aside())
    await call.catch((error) => { if (!(error instanceof Aside)) throw error })
    return 'cancelled'
  }

  async _left() {
    const items = this.items()
    await items.next()
    await items.return()
    return 'cancelled'
  }

  async _lost() {
    if (below(3) === 0) this.resource.enter()
    else if (below(2) === 0) await this.items().next()
    else await this.stream()
    return 'cancelled'
  }

  async _read() {
    for await (const item of below(2) ? this.items() : await this.stream()) assert.ok(item)
    return 'good'
  }

  async _late() {
    await this.late().catch((error) => { if (error.code !== 'ETIMEDOUT') throw error })
    return 'bad'
  }

  totals() {
    return this.resource.breakers().map((one) => one.snapshot().totals)
  }

  /** Compares with what the breakers have counted, once what was lost has been found. */
  async check(open) {
    const { blocked, good, bad, ignored, cancelled } = this.counts
    for (let turns = 0; turns < 1000 && this.totals().at(-1).cancelled < cancelled; turns++) {
      gc()
      await turn()
    }
    const totals = this.totals()
    const last = totals.at(-1)
    const said = JSON.stringify([this.resource.name, totals, this.counts, open])
    for (const one of totals) {
      assert.equal(one.passed, one.good + one.bad + one.ignored + one.cancelled + one.late, said)
    }
    assert.equal(totals.reduce((sum, one) => sum + one.blocked, 0), blocked, said)
    assert.deepEqual([last.ignored, last.cancelled, last.good + last.bad + last.late], [ignored, cancelled, good + bad], said)
  }
}

const clock = new VirtualClock()
const registry = new Registry({ clock })
registry.load(JSON.stringify(lasting(1)))
const [kept, three] = ['kept', 'three'].map((name) => new Calls(registry, name))
const others = Array.from({ length: 32 }, (_, i) => new Calls(registry, pick('brief', `like-${i}`, `other-${i}`)))
registry.onTransition((transition) => { if (transition.trip) did.trips += 1 })
const held = []

function load() {
  registry.load(JSON.stringify([...lasting(1 + below(2)), ...pick([], [BRIEF], [LIKE], [BRIEF, LIKE])]))
  assert.throws(() => registry.load([{ resource: 'kept', grade: 9 }]), InvalidRuleError)
  registry.loadDefaults(JSON.stringify(pick([], [DEFAULT])))
  registry.exclude('other-1')
  registry.include('other-1')
  did.reloads += 1
}

const listening = []
function listen() {
  if (listening.length > 3) listening.shift()()
  listening.push(pick(registry, Registry.global).onTransition(({ sequence }) => {
    did.told += 1
    if (sequence % 64 === 0) throw new Boom()
  }))
  did.observers += 1
}

function modes() {
  for (const { resource } of [kept, three]) {
    resource.setMode(pick('forcedOpen', 'disabled', 'normal'))
    resource.setMode('normal')
  }
}

/** A registry that lives for a few calls, and is lost with an open entry and an iterator of changes. */
async function anotherRegistry() {
  const brief = new Registry({ maxResources: 8 })
  brief.load([{ resource: 'kept', strategy: 'errorCount', threshold: 3, retryTimeout: 1 }])
  brief.onTransition(() => {})
  brief.transitions({ buffer: 2 })
  const calls = new Calls(brief, 'kept')
  for (let i = 0; i < 16; i++) {
    await calls.one(pick('good', 'bad'))
    brief.resource(`name-${below(16)}`).tryEnter()?.fail()
  }
  brief.resource('three').tryEnter()
  did.registries += 1
}

const changes = [load, load, listen, modes, anotherRegistry, () => clock.set(below(1 << 20)), () => registry.names.map((name) => registry.resource(name).states())]

/** Entries that stay open over several rounds: ends the oldest, or begins one more. */
function hold() {
  if (held.length === 8) {
    held.shift().fail()
    kept.counts.bad += 1
    return
  }
  const entry = kept.resource.tryEnter()
  if (entry) held.push(entry)
  else kept.counts.blocked += 1
}

const WORKER = `
  const { workerData: { path, counts, calls } , parentPort } = require('node:worker_threads')
  const { breaker, Registry } = require(path)
  const shared = Registry.global.resource('shared')
  const guarded = breaker(async (n) => { if (n % 3) throw new Error('no') }, { resource: 'shared' })
  Registry.global.onTransition(() => {})
  async function work() {
    for (let n = 0; n < calls || calls === 0; n++) {
      Atomics.add(counts, 0, 1)
      if (n % 2) shared.tryEnter()?.exit()
      else await guarded(n).catch(() => {})
      Atomics.add(counts, 1, 1)
      if (n === 100) parentPort.postMessage('going')
      if (n % 50 === 0) await new Promise(setImmediate)
    }
  }
  work()
`
// Calls that workers have begun, and those of them that have come to their end.
const counts = new Int32Array(new SharedArrayBuffer(8))
let terminated = 0

async function work(calls) {
  const worker = new Worker(WORKER, { eval: true, execArgv: [], workerData: { path, counts, calls } })
  const ended = once(worker, 'exit')
  if (calls === 0) {
    await once(worker, 'message')
    await worker.terminate()
    terminated += 1
  }
  await ended
  did.workers += 1
}

function loadShared() {
  Registry.global.loadResource('shared', JSON.stringify({ resource: 'shared', id: 1, grade: 3, count: 2 + below(3), timeWindow: 1 }))
}

function checkShared() {
  const { totals } = Registry.global.resource('shared').breakers()[0].snapshot()
  const [begun, done] = counts
  const said = JSON.stringify([totals, begun, done, terminated])
  assert.equal(totals.passed, totals.good + totals.bad + totals.ignored + totals.cancelled + totals.late, said)
  // Of each worker that was terminated, one call may have been begun here and not there, or ended there and not here.
  assert.ok(done <= totals.passed + totals.blocked && totals.passed + totals.blocked <= begun && begun - done <= terminated, said)
}

async function round() {
  hold()
  const workers = did.rounds % 4 === 0 ? [work(0), work(500)] : []
  for (let step = 0; step < CALLS; step++) {
    const ill = Math.floor(step / 40) % 3 === 0
    const outcome = below(5) === 0 ? pick('ignored', 'judged') : below(4) < (ill ? 3 : 1) ? 'bad' : 'good'
    const calls = [kept, three, others[below(others.length)]].map((one) => one.one(outcome))
    await Promise.all(calls)
    clock.advance(below(24))
    if (step % 8 === 0) await pick(...changes)()
    if (step % 32 === 0) loadShared()
  }
  await Promise.all([kept.one('bad', 'late'), three.one('bad', 'late'), ...workers])
  did.rounds += 1
  await kept.check(held.length)
  await three.check(0)
  if (workers.length) checkShared()
}

// Of listeners that throw.
process.on('warning', () => {})
loadShared()
// Time-outs keep no process alive.
const alive = setInterval(() => {}, 1000)
for await (const _ of createInterface({ input: process.stdin })) {
  await round()
  const all = [kept, three, ...others].map((calls) => calls.counts)
  did.calls = all.reduce((sum, { blocked, good, bad, ignored, cancelled }) => sum + blocked + good + bad + ignored + cancelled, counts[0])
  did.blocked = all.reduce((sum, { blocked }) => sum + blocked, 0)
  process.stdout.write(`${JSON.stringify(did)}\n`)
}
clearInterval(alive)
