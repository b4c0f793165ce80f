// The adapters of HTTP clients, on a real server.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import axios from 'axios'
import { CircuitOpenError, Registry } from 'tripcoil'
import { guardAdapter } from 'tripcoil/axios'
import { guardFetch } from 'tripcoil/fetch'
import { breakerInterceptor } from 'tripcoil/undici'
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici'
import { R0, totals, turn, until } from './support.mjs'

let server
let url
let served = 0
const rule = { ...R0, statInterval: 60_000, retryTimeout: 60_000 }

before(async () => {
  server = createServer((request, response) => {
    served += 1
    const path = request.url.slice(1)
    if (path === 'reset') return request.socket.destroy()
    if (path === 'hang') return
    if (path === 'cut') {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      return setImmediate(() => request.socket.destroy())
    }
    if (path === 'slow') {
      response.writeHead(200)
      return response.write('first')
    }
    response.writeHead(Number(path) || 200, { 'content-type': 'text/plain' })
    response.end('body')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${server.address().port}`
})

after(() => {
  server.closeAllConnections()
  server.close()
})

/** A client of each kind, for the same expectations. `get` rejects or gives status and body. */
const clients = {
  fetch(options) {
    const fetch = guardFetch(options)
    return {
      async get(path, init) {
        const response = await fetch(url + path, init)
        return { status: response.status, body: await response.text() }
      },
      async begin(path, init) {
        const response = await fetch(url + path, init)
        return { cancel: () => response.body.cancel() }
      },
    }
  },
  'undici request'(options) {
    const dispatcher = new Agent().compose(breakerInterceptor(options))
    return {
      async get(path, init) {
        const { statusCode, body } = await request(url + path, { dispatcher, ...init })
        return { status: statusCode, body: await body.text() }
      },
      async begin(path, init) {
        const { body } = await request(url + path, { dispatcher, ...init })
        body.on('error', () => {})
        return { cancel: () => body.destroy() }
      },
    }
  },
  'undici fetch'(options) {
    const dispatcher = new Agent().compose(interceptors.redirect({ maxRedirections: 1 }), breakerInterceptor(options))
    return {
      async get(path, init) {
        const response = await undiciFetch(url + path, { dispatcher, ...init })
        return { status: response.status, body: await response.text() }
      },
      async begin(path, init) {
        const response = await undiciFetch(url + path, { dispatcher, ...init })
        return { cancel: () => response.body.cancel() }
      },
    }
  },
  axios(options) {
    const client = axios.create({ adapter: guardAdapter(axios.getAdapter('http'), options), baseURL: url })
    return {
      async get(path, init) {
        try {
          const { status, data } = await client.get(path, init)
          return { status, body: data }
        } catch (error) {
          if (error.response?.status >= 400) return { status: error.response.status, body: error.response.data }
          throw error
        }
      },
      async begin(path, init) {
        const { data } = await client.get(path, { responseType: 'stream', ...init })
        data.on('error', () => {})
        return { cancel: () => data.destroy() }
      },
    }
  },
}

for (const [name, make] of Object.entries(clients)) {
  const world = (options = {}) => {
    const registry = new Registry()
    registry.loadDefaults({ resource: '*', ...rule })
    const client = make({ registry, ...options })
    return { registry, host: registry.resource(new URL(url).host), ...client }
  }

  test(`${name}: statuses below 500 are good, those from 500 bad; four open the host's breaker`, async () => {
    const { get, host } = world()
    assert.deepEqual(await get('/'), { status: 200, body: 'body' })
    assert.equal((await get('/404')).status, 404)
    assert.deepEqual(totals(host), { passed: 2, good: 2 })
    for (let i = 0; i < 2; i++) assert.deepEqual(await get('/503'), { status: 503, body: 'body' })
    const before = served
    await assert.rejects(get('/'), (error) => {
      const blocked = error instanceof CircuitOpenError ? error : error.cause
      assert.ok(blocked instanceof CircuitOpenError, String(error.stack))
      return blocked.resource === new URL(url).host && blocked.retryAfter > 0
    })
    assert.deepEqual([served, totals(host)], [before, { passed: 4, blocked: 1, good: 2, bad: 2 }])
  })

  test(`${name}: network errors are bad, before and within the body`, async () => {
    const { get, host } = world()
    await assert.rejects(get('/reset'))
    await until(() => totals(host).bad === 1)
    await assert.rejects(get('/cut'))
    await until(() => totals(host).bad === 2)
    assert.deepEqual(totals(host), { passed: 2, bad: 2 })
  })

  test(`${name}: a body that is cancelled, and a request that is aborted, have no outcome`, async () => {
    const { begin, get, host } = world()
    const { cancel } = await begin('/slow')
    await turn()
    assert.deepEqual(totals(host), {})
    await cancel()
    await until(() => totals(host).passed === 1)
    const controller = new AbortController()
    const aborted = get('/hang', { signal: controller.signal })
    const before = served
    await until(() => served > before)
    controller.abort()
    await assert.rejects(aborted)
    await until(() => totals(host).passed === 2)
    const { good = 0, bad = 0 } = totals(host)
    assert.deepEqual([good, bad], [0, 0])
  })

  test(`${name}: status and error may be judged otherwise`, async () => {
    const { get, host } = world({ isFailureStatus: (status) => status === 404, isFailure: () => false })
    await get('/404')
    await get('/503')
    await assert.rejects(get('/reset'))
    await until(() => totals(host).passed === 3)
    assert.deepEqual(totals(host), { passed: 3, good: 2, bad: 1 })
  })

  test(`${name}: a rule among the options guards each host`, async () => {
    const client = make(rule)
    for (let i = 0; i < 4; i++) await client.get('/500')
    await assert.rejects(client.get('/'))
    assert.throws(() => make({ ...rule, registry: new Registry() }), { message: /^registry: / })
    assert.throws(() => make({ ...rule, threshold: 2 }), { code: 'EINVALIDRULE' })
    assert.throws(() => make({ hosts: 1 }), { message: /^"hosts" is not an option/ })
  })
}

test('fetch: the time-out is that of the headers, and aborts the request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  let given
  const fetch = guardFetch({ registry, timeout: 10 }, (_, { signal }) => {
    given = signal
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const promise = fetch(url)
  t.mock.timers.tick(10)
  await assert.rejects(promise, { code: 'ETIMEDOUT' })
  assert.ok(given.aborted)
})

test('fetch: a Request brings its own signal, and a URL object will do', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const fetch = guardFetch({ registry, resource: ({ pathname }) => pathname })
  assert.equal((await fetch(new URL('/404', url))).status, 404)
  const controller = new AbortController()
  const aborted = fetch(new Request(`${url}/hang`, { signal: controller.signal }))
  controller.abort('enough')
  await assert.rejects(aborted, (error) => error === 'enough')
  assert.deepEqual(registry.names, ['/404', '/hang'])
  assert.deepEqual(totals(registry.resource('/hang')), { passed: 1, cancelled: 1 })
  await assert.rejects(fetch('no url'), TypeError)
})

test('fetch: a fallback answers what is blocked or fails', async () => {
  const fetch = guardFetch({ ...rule, minRequestAmount: 1, fallback: (error, input) => new Response(`${error.name} ${input}`) }, async () => { throw new TypeError('no network') })
  assert.equal(await (await fetch(`${url}/a`)).text(), `TypeError ${url}/a`)
  assert.equal(await (await fetch(`${url}/a`)).text(), `CircuitOpenError ${url}/a`)
})

test('fetch: the global one is looked up at the call', async (t) => {
  const fetch = guardFetch(rule)
  t.mock.method(globalThis, 'fetch', async () => new Response('mocked'))
  assert.equal(await (await fetch(url)).text(), 'mocked')
})
