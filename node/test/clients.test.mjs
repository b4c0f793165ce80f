// The adapters of HTTP clients, on a real server.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import { createGzip } from 'node:zlib'
import axios from 'axios'
import { CircuitOpenError, Registry } from 'tripcoil'
import { guardAdapter } from 'tripcoil/axios'
import { guardFetch } from 'tripcoil/fetch'
import { breakerInterceptor } from 'tripcoil/undici'
import { Agent, fetch as undiciFetch, interceptors, Pool, request, Request as UndiciRequest, Response as UndiciResponse } from 'undici'
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
    if (path.startsWith('gzip')) {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      const gzip = createGzip()
      gzip.pipe(response)
      gzip.write('first')
      return gzip.flush(() => path === 'gzip-cut' && setImmediate(() => request.socket.destroy()))
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

  test(`${name}: an abort has no outcome, whatever the signal's reason, before the headers and within the body`, async () => {
    const reasons = [undefined, 'enough', new Error('enough'), new DOMException('late', 'TimeoutError'), { code: 'EPIPE' }]
    const { begin, get, host } = world()
    for (const reason of reasons) {
      for (const ask of [(signal) => get('/hang', { signal }), (signal) => get('/slow', { signal })]) {
        const controller = new AbortController()
        const aborted = ask(controller.signal)
        const before = served
        await until(() => served > before)
        controller.abort(reason)
        await assert.rejects(aborted)
      }
      const controller = new AbortController()
      await begin('/slow', { signal: controller.signal })
      controller.abort(reason)
      // One that is aborted before it is sent may not even be a call.
      await assert.rejects(get('/', { signal: AbortSignal.abort(reason) }))
    }
    await until(() => (totals(host).passed ?? 0) >= 3 * reasons.length)
    const { good = 0, bad = 0 } = totals(host)
    assert.deepEqual([good, bad], [0, 0])
  })

  test(`${name}: what a classifier throws takes the place of the error, and the request counts as bad`, async () => {
    const broken = () => { throw new Error('broken') }
    const isBroken = (error) => error.message === 'broken' || error.cause?.message === 'broken'
    for (const option of ['isFailure', 'ignore']) {
      const { get, host } = world({ [option]: broken })
      await assert.rejects(get('/reset'), isBroken)
      await until(() => totals(host).passed === 1)
      assert.deepEqual(totals(host), { passed: 1, bad: 1 })
    }
    const { get, host } = world({ isFailureStatus: broken })
    await assert.rejects(get('/'), isBroken)
    await until(() => totals(host).passed === 1)
    assert.deepEqual(totals(host), { passed: 1, bad: 1 })
    const promising = world({ isFailure: () => Promise.reject(new Error('late')) })
    await assert.rejects(promising.get('/reset'), (error) => /isFailure: a promise/.test(error.message + error.cause?.message))
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
  assert.equal((await fetch(new Request(`${url}/200`, { signal: controller.signal }), { signal: null })).status, 200)
  await assert.rejects(fetch('no url'), TypeError)
})

test('fetch: what it cannot make a request of says nothing of the host; what the network says does', async () => {
  for (const send of [globalThis.fetch, undiciFetch]) {
    const registry = new Registry()
    registry.loadDefaults({ resource: '*', ...rule })
    const fetch = guardFetch({ registry }, send)
    const mistakes = [{ body: 'not with GET' }, { method: 'NO GOOD' }, { headers: { 'no good': 'a' } }, { method: 'CONNECT' }, { redirect: 'nowhere' }, { duplex: 'full' }]
    for (const init of mistakes) await assert.rejects(fetch(url, init), TypeError, JSON.stringify(init))
    await assert.rejects(fetch('http://user:secret@' + new URL(url).host), TypeError)
    await assert.rejects(fetch('no URL'), { code: 'ERR_INVALID_URL' })
    assert.deepEqual(totals(registry.resource(new URL(url).host)), { passed: 7, ignored: 7 })
    await assert.rejects(fetch(`${url}/reset`), TypeError)
    assert.deepEqual(totals(registry.resource(new URL(url).host)), { passed: 8, bad: 1, ignored: 7 })
  }
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

test('undici: a classifier that throws does not end the process, and names itself in raw dispatches of either kind', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const dispatcher = new Agent().compose(breakerInterceptor({ registry, isFailure: () => { throw new Error('broken') } }))
  const kinds = {
    old: (resolve) => ({ onConnect() {}, onHeaders: () => true, onData: () => true, onComplete() {}, onError: resolve }),
    new: (resolve) => ({ onRequestStart() {}, onResponseStart() {}, onResponseData() {}, onResponseEnd() {}, onResponseError: (_, error) => resolve(error) }),
  }
  for (const [kind, handler] of Object.entries(kinds)) {
    const { message } = await new Promise((resolve) => dispatcher.dispatch({ origin: url, path: '/reset', method: 'GET' }, handler(resolve)))
    assert.equal(message, 'broken', kind)
  }
  assert.deepEqual(totals(registry.resource(new URL(url).host)), { passed: 2, bad: 2 })
})

test('undici: a pool\'s requests have no host unless they say it, and need a name', async (t) => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const pool = new Pool(url)
  t.after(() => pool.close())
  const get = async (options, of) => (await pool.compose(breakerInterceptor({ registry, ...options })).request({ path: '/', method: 'GET', ...of })).body.text()
  await assert.rejects(get({}), { name: 'TypeError', message: /^origin: missing; it must be given with a request to a Client or Pool, unless/ })
  assert.equal(await get({}, { origin: url }), 'body')
  assert.equal(await get({ resource: () => 'stock' }), 'body')
  assert.deepEqual([totals(registry.resource(new URL(url).host)), totals(registry.resource('stock'))], [{ passed: 1, good: 1 }, { passed: 1, good: 1 }])
})

test('undici: a handler that aborts or throws has given the request up', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const dispatcher = new Agent().compose(breakerInterceptor({ registry }))
  const host = registry.resource(new URL(url).host)
  const ways = [
    (resolve) => ({ onRequestStart() {}, onResponseStart: (controller) => controller.abort(new Error('enough')), onResponseData() {}, onResponseEnd() {}, onResponseError: resolve }),
    (resolve) => ({ onRequestStart() {}, onResponseStart() { throw new Error('mine') }, onResponseData() {}, onResponseEnd() {}, onResponseError: resolve }),
    (resolve) => ({ onConnect: (abort) => abort(new Error('enough')), onHeaders: () => true, onData: () => true, onComplete() {}, onError: resolve }),
    (resolve) => ({ onConnect() {}, onHeaders() { throw new Error('mine') }, onData: () => true, onComplete() {}, onError: resolve }),
  ]
  for (const way of ways) {
    await new Promise((resolve) => dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, way(resolve)))
  }
  assert.deepEqual(totals(host), { passed: 4, cancelled: 4 })
})

test('axios: an adapter of another make that rejects with the signal\'s own reason, or with nothing', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const adapter = guardAdapter(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))), { registry })
  const controller = new AbortController()
  const aborted = adapter({ url, signal: controller.signal })
  controller.abort(null)
  await assert.rejects(aborted, (error) => error === null)
  await assert.rejects(guardAdapter(() => Promise.reject(), { registry })({ url }), (error) => error === undefined)
  assert.deepEqual(totals(registry.resource(new URL(url).host)), { passed: 2, bad: 1, cancelled: 1 })
})

const readers = {
  async 'leaves it by break'(data) {
    for await (const _ of data) break
  },
  async 'closes what it is piped into'(data) {
    const end = new PassThrough().once('data', () => end.destroy())
    await assert.rejects(pipeline(data, end), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  },
}

for (const [does, read] of Object.entries(readers)) {
  test(`axios: a stream whose reader ${does} has no outcome, one that is cut off is bad`, async () => {
    for (const adapter of ['http', 'fetch']) {
      const registry = new Registry()
      registry.loadDefaults({ resource: '*', ...rule })
      const host = registry.resource(new URL(url).host)
      const client = axios.create({ adapter: guardAdapter(axios.getAdapter(adapter), { registry }), baseURL: url, responseType: 'stream' })
      for (const [passed, path] of ['/slow', '/gzip'].entries()) {
        await read((await client.get(path)).data)
        await until(() => totals(host).passed === passed + 1)
        assert.deepEqual(totals(host), { passed: passed + 1, cancelled: passed + 1 }, adapter + path)
      }
      for (const [bad, path] of ['/cut', '/gzip-cut'].entries()) {
        await assert.rejects(pipeline((await client.get(path)).data, new PassThrough().resume()))
        await until(() => totals(host).bad === bad + 1)
      }
      assert.deepEqual(totals(host), { passed: 4, bad: 2, cancelled: 2 }, adapter)
    }
  })
}

test('axios: the URL is the one that axios asks for', async () => {
  const registry = new Registry()
  const adapter = guardAdapter(async () => ({ status: 200 }), { registry, resource: ({ host, pathname }) => host + pathname })
  await adapter({ url: '/a', baseURL: 'http://base/api/' })
  await adapter({ url: 'b', baseURL: 'http://base/api' })
  await adapter({ baseURL: 'http://base/api' })
  await adapter({ url: 'http://other/c', baseURL: 'http://base/api' })
  await adapter({ url: 'http://other/d', baseURL: 'http://base', allowAbsoluteUrls: false })
  assert.deepEqual(registry.names, ['base/api', 'base/api/a', 'base/api/b', 'base/http://other/d', 'other/c'])
})

test('fetch: requests without a host have their protocol for a name, and what says a URL will do', async () => {
  const registry = new Registry()
  const fetch = guardFetch({ registry })
  assert.equal(await (await fetch('data:text/plain,hello')).text(), 'hello')
  assert.equal(await (await fetch({ toString: () => url })).text(), 'body')
  const named = guardFetch({ registry, resource: () => '' })
  await assert.rejects(named(url), { message: /^resource: "" is not allowed; it must be a string of 1 to 1024 bytes/ })
  assert.deepEqual(registry.names, [new URL(url).host, 'data:'])
})

test('fetch: another package\'s fetch will do, with its own classes', async () => {
  const registry = new Registry()
  registry.loadDefaults({ resource: '*', ...rule })
  const fetch = guardFetch({ registry }, undiciFetch)
  const host = registry.resource(new URL(url).host)
  const response = await fetch(new UndiciRequest(url))
  assert.deepEqual([response instanceof UndiciResponse, totals(host)], [true, {}])
  assert.equal(await response.text(), 'body')
  assert.deepEqual(totals(host), { passed: 1, good: 1 })
  const controller = new AbortController()
  const aborted = fetch(new UndiciRequest(`${url}/hang`, { signal: controller.signal }))
  controller.abort('enough')
  await assert.rejects(aborted, (error) => error === 'enough')
  assert.deepEqual(totals(host), { passed: 2, good: 1, cancelled: 1 })
})
