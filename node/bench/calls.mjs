// One guarded call, beside cockatiel, opossum and mollitia in one run: ns per call, and what that is to a bare `await`
// and to cockatiel's. Wants `npm run build` (a release build): `npm run bench`, or `npm run bench -- 200` for 200 rounds.
// With `--json`, every round is told, on one line.
import { createRequire } from 'node:module'
import { circuitBreaker, handleAll, SamplingBreaker } from 'cockatiel'
import CircuitBreaker from 'opossum'
import { breaker, Registry } from '../dist/index.mjs'

const mollitia = createRequire(import.meta.url)('mollitia')
const asJson = process.argv.includes('--json')
const rounds = Number(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? 60)
/** Short, so that some rounds are left alone by whatever else the machine does. */
const CALLS = 10_000
const HOUR = 3_600_000
const rule = { strategy: 'errorRatio', threshold: 0.5, minRequestAmount: 100, statInterval: 10_000, statSlidingWindowBucketCount: 10, retryTimeout: HOUR }

async function noop() {}
const same = (value) => value
const thrown = (error) => {
  throw error
}
const failure = new Error('no')
async function fail() {
  throw failure
}

function ours(fn, options = {}) {
  return breaker(fn, { resource: 'bench', registry: new Registry(), ...rule, ...options })
}

function cockatiel(fn) {
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: HOUR,
    breaker: new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 10 }),
  })
  return { call: () => policy.execute(fn), open: () => policy.isolate() }
}

function opossum(fn, options = {}) {
  const breaker = new CircuitBreaker(fn, {
    errorThresholdPercentage: 50,
    rollingCountTimeout: 10_000,
    rollingCountBuckets: 10,
    volumeThreshold: 100,
    resetTimeout: HOUR,
    ...options,
  })
  return { call: () => breaker.fire(), open: () => breaker.open(), end: () => breaker.shutdown() }
}

function sliding(fn) {
  // Its time window holds every call of the 10 s: that of 100 calls is the one that can be run at full speed.
  const circuit = new mollitia.Circuit({
    options: {
      modules: [
        new mollitia.SlidingCountBreaker({ slidingWindowSize: 100, minimumNumberOfCalls: 100, failureRateThreshold: 50, openStateDelay: HOUR }),
      ],
    },
  })
  return { call: () => circuit.fn(fn).execute() }
}

const guarded = ours(noop)
const timed = ours(noop, { resource: 'timed', timeout: 10_000 })
const judged = ours(noop, { resource: 'judged', strategy: 'slowRatio', maxAllowedRt: 1000 })
const entered = guarded.registry.resource('entered')
entered.registry.loadResource('entered', { resource: 'entered', ...rule })

const healthy = {
  'bare await': { call: noop },
  'async wrapper': { call: async () => noop() },
  'async wrapper that awaits': { call: async () => await noop() },
  'then wrapper': { call: () => noop().then(same, thrown) },
  tripcoil: { call: guarded },
  'tripcoil, slow ratio': { call: judged },
  'tripcoil, enter and exit': { call: () => enterAndExit() },
  'tripcoil, timeout': { call: timed },
  'cockatiel sampling': cockatiel(noop),
  'opossum, no timeout': opossum(noop, { timeout: false }),
  'opossum': opossum(noop),
  'mollitia count 100': { ...sliding(noop), calls: 200 },
}

async function enterAndExit() {
  const entry = entered.enter()
  await noop()
  entry.exit()
}

function opened(made) {
  made.open()
  return made
}

const blocked = ours(noop)
blocked.resource.setMode('forcedOpen')
const tried = blocked.resource
const open = {
  'bare await of a rejection': { call: fail },
  tripcoil: { call: blocked },
  'tripcoil, tryEnter': { call: async () => tried.tryEnter() },
  'cockatiel sampling': opened(cockatiel(noop)),
  'opossum, no timeout': opened(opossum(noop, { timeout: false })),
}

async function measure({ call, calls = CALLS }) {
  const began = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) {
    try {
      await call()
    } catch {}
  }
  return Number(process.hrtime.bigint() - began) / calls
}

/** Every candidate once a round: all its rounds but the first, which warm it up. */
async function rounded(candidates) {
  const names = Object.keys(candidates)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -20; round < rounds; round++) {
    for (const name of names) {
      const time = await measure(candidates[name])
      if (round >= 0) times[name].push(time)
      // opossum's and cockatiel's timers and windows are for turns of the event loop.
      await new Promise(setImmediate)
    }
  }
  return times
}

/** The best round of each, since what else the machine does only adds to it. */
function show(title, times, base) {
  const best = new Map(Object.entries(times).map(([name, rounds]) => [name, Math.min(...rounds)]))
  const [first] = best.values()
  console.log(`\n| ${title} | ns | beyond the bare one | of ${base} |\n| --- | ---: | ---: | ---: |`)
  for (const [name, time] of best) {
    console.log(`| ${name} | ${time.toFixed(0)} | ${(time - first).toFixed(0)} | ${(time / best.get(base)).toFixed(2)} |`)
  }
}

const tables = { healthy: await rounded(healthy), blocked: await rounded(open) }
for (const { end } of [...Object.values(healthy), ...Object.values(open)]) end?.()
if (asJson) {
  const samples = Object.entries(tables).flatMap(([title, times]) =>
    Object.entries(times).map(([name, rounds]) => [`node ${title}/${name}`, rounds]),
  )
  console.log(JSON.stringify({ interpreter: `Node ${process.versions.node}`, samples: Object.fromEntries(samples) }))
} else {
  for (const [title, times] of Object.entries(tables)) show(title, times, 'cockatiel sampling')
}
