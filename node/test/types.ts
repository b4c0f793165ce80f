// Good uses, and wrong ones that the compiler must find. Compiled by test/package.test.mjs, never run.
import { breaker, Breaker, CircuitOpenError, Entry, InvalidRuleError, isBlocked, Registry, type Rule, TimeoutError, trace, type Transition, VirtualClock } from 'tripcoil'
import { guardAdapter } from 'tripcoil/axios'
import { unavailable as express } from 'tripcoil/express'
import { unavailable as fastify } from 'tripcoil/fastify'
import { guardFetch } from 'tripcoil/fetch'
import { unavailable as koa } from 'tripcoil/koa'
import { breakerInterceptor } from 'tripcoil/undici'
import { Agent, type Dispatcher } from 'undici'
import axios from 'axios'
import expressApp from 'express'
import fastifyApp from 'fastify'
import Koa from 'koa'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(..._: Equal<A, B> extends true ? [] : [never]): void {}

const rule = { strategy: 'errorRatio', threshold: 0.5, retryTimeout: 1000 } as const

async function load(this: void, sku: string, amount?: number): Promise<{ sku: string }> {
  return { sku: sku + amount }
}

const guarded = breaker(load, { resource: 'stock', ...rule })
same<ReturnType<typeof guarded>, Promise<{ sku: string }>>()
same<Parameters<typeof guarded>, [sku: string, amount?: number]>()
// @ts-expect-error the argument is a string
void guarded(5)
// @ts-expect-error and required
void guarded()

const sync = breaker((n: number) => n > 0, rule)
same<ReturnType<typeof sync>, Promise<boolean>>()

async function identity<T>(value: T): Promise<T> {
  return value
}
const generic = breaker(identity, { resource: 'generic' })
const kept: Promise<5> = generic(5 as const)
void kept

async function* numbers(upTo: number): AsyncGenerator<number, string, boolean> {
  for (let i = 0; i < upTo; i++) if (yield i) break
  return 'end'
}
const generator = breaker(numbers, rule)
same<ReturnType<typeof generator>, AsyncGenerator<number, string, boolean>>()

class Shop {
  name = 'shop'
  open = breaker(function (this: Shop, hour: number) {
    return `${this.name} ${hour}`
  }, { resource: 'shop' })
}
void new Shop().open(5)
// @ts-expect-error this is a Shop
void new Shop().open.call({}, 5)

const withFallback = breaker(load, { resource: 'stock', fallback: (error, sku) => (isBlocked(error) ? sku.length : undefined), onBlocked: (error: CircuitOpenError) => error.retryAfter > 0 })
same<Awaited<ReturnType<typeof withFallback>>, { sku: string } | boolean | number | undefined>()

breaker(load, { resource: (sku) => sku.toUpperCase(), registry: new Registry(), timeout: 5, signal: 1, trace: true })
breaker(load, { resource: 'stock', isFailureResult: ({ sku }) => sku === '', ignore: () => false, stream: true })
// @ts-expect-error a rule needs all of its required fields
breaker(load, { resource: 'stock', strategy: 'errorRatio' })
// @ts-expect-error no such strategy
breaker(load, { ...rule, strategy: 'errorRate' })
// @ts-expect-error no such option
breaker(load, { ...rule, resorce: 'stock' })
// @ts-expect-error a number of ms
breaker(load, { ...rule, timeout: '5' })
// @ts-expect-error the result has no status
breaker(load, { ...rule, isFailureResult: ({ status }) => status >= 500 })
// @ts-expect-error no function
breaker(5, rule)

const clock = new VirtualClock()
const registry = new Registry({ clock, maxResources: 5 })
registry.load([{ resource: 'a', ...rule }, { resource: 'b', ...rule, strategy: 'slowRatio', maxAllowedRt: 50 }])
registry.load('[]', { lenient: true })
// @ts-expect-error a rule to load names its resource
registry.load([rule])
// @ts-expect-error read only
registry.rules[0]!.threshold = 5
const rules: Rule[] = registry.rules
registry.load(rules)
const unlisten: () => void = registry.onTransition((transition: Transition) => console.log(transition.trip?.explanation))
unlisten()
async function follow(): Promise<void> {
  for await (const { from, to } of registry.transitions({ signal: AbortSignal.timeout(5) })) console.log(from === 'closed', to === 'halfOpen')
  // @ts-expect-error no such state
  for await (const { to } of registry.transitions()) console.log(to === 'half-open')
}
void follow

const stock = registry.resource('stock')
function byHand(): void {
  using entry = stock.enter()
  same<typeof entry, Entry>()
  const first: boolean = entry.exit({ responseTime: 5 })
  console.log(first, stock.tryEnter()?.fail(), stock.states()[0] === 'open')
}
void byHand
stock.setMode('forcedOpen')
// @ts-expect-error no such mode
stock.setMode('open')
const one: Promise<number | string> = stock.call(({ signal }) => (signal.aborted ? 1 : 2), { fallback: () => 'none', signal: AbortSignal.timeout(5) })
void one
trace(new Error('x'))

const circuit = new Breaker(load, { resource: 'stock', ...rule })
circuit.on('success', (value, latency) => console.log(value.sku, latency.toFixed()))
circuit.on('open', ({ trip }) => console.log(trip))
// @ts-expect-error no such event
circuit.on('opened', () => {})
same<ReturnType<typeof circuit.fire>, Promise<{ sku: string }>>()
// @ts-expect-error the argument is a string
void circuit.fire(5)
circuit.fallback((sku: string, error: Error) => sku + error.message).open()

const guardedFetch: typeof fetch = guardFetch({ ...rule, timeout: 5, isFailureStatus: (status) => status === 429 })
void guardedFetch
// @ts-expect-error no such option
guardFetch({ hosts: 5 })
const dispatcher: Dispatcher = new Agent().compose(breakerInterceptor(rule))
void dispatcher
axios.create({ adapter: guardAdapter(axios.getAdapter('http'), rule) })
expressApp().use(express({ body: ({ resource }) => ({ resource }) }))
fastifyApp().setErrorHandler(fastify())
new Koa().use(koa())

circuit.fallback(new Breaker(async () => 5, rule))
// @ts-expect-error neither a function nor a Breaker
circuit.fallback({})

// @ts-expect-error the library makes them
void new CircuitOpenError('x', {} as any)
// @ts-expect-error the library makes them
void new CircuitOpenError()
// @ts-expect-error the library makes them
void new TimeoutError('x', 5)
// @ts-expect-error the library makes them
void new InvalidRuleError([])
const types: (new (...args: any[]) => unknown)[] = [CircuitOpenError, TimeoutError, InvalidRuleError]
void types

function caught(error: unknown): void {
  if (error instanceof CircuitOpenError) {
    const after: number = error.retryAfter
    const code: 'ECIRCUITOPEN' = error.code
    console.log(after, code, error.rule?.strategy, error.explanation)
  }
}
void caught
