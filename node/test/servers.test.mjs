// The error handling of servers, on real ones.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { unavailable as expressUnavailable } from 'tripcoil/express'
import { unavailable as fastifyUnavailable } from 'tripcoil/fastify'
import { unavailable as koaUnavailable } from 'tripcoil/koa'
import { guardedWorld, trip } from './support.mjs'

/** Servers whose one route does what it is told. Each gives the port, and how to end it. */
const servers = {
  async express(handle, options) {
    const app = express()
    app.set('env', 'test')
    app.get('/', async (_, response) => response.send(await handle()))
    app.use(expressUnavailable(options))
    app.use((error, _request, response, _next) => response.status(500).send(error.message))
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: server.address().port, end: () => server.close() }
  },
  async fastify(handle, options) {
    const app = fastify()
    app.setErrorHandler(fastifyUnavailable(options))
    app.get('/', () => handle())
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: app.server.address().port, end: () => app.close() }
  },
  async koa(handle, options) {
    const app = new Koa()
    app.silent = true
    app.use(koaUnavailable(options))
    app.use(async (context) => { context.body = await handle() })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: server.address().port, end: () => server.close() }
  },
}

for (const [name, start] of Object.entries(servers)) {
  const ask = async (t, handle, options) => {
    const { port, end } = await start(handle, options)
    t.after(end)
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() }
  }

  test(`${name} answers a rejection with 503 and Retry-After, in whole seconds`, async (t) => {
    const { call, stock, clock } = guardedWorld(async () => 'fine')
    trip(stock)
    clock.advance(500)
    assert.deepEqual(await ask(t, call), { status: 503, retryAfter: '2', body: 'Service Unavailable' })
    clock.advance(1400)
    const wrapped = async () => { try { return await call() } catch (cause) { throw new Error('outer', { cause }) } }
    assert.deepEqual(await ask(t, wrapped), { status: 503, retryAfter: '1', body: 'Service Unavailable' })
  })

  test(`${name} answers one without a limit without Retry-After, and with the body that it is given`, async (t) => {
    const { call, stock } = guardedWorld(async () => 'fine')
    stock.setMode('forcedOpen')
    const { status, retryAfter, body } = await ask(t, call, { body: ({ resource }) => ({ resource }) })
    assert.deepEqual([status, retryAfter, JSON.parse(body)], [503, null, { resource: 'stock' }])
  })

  test(`${name} answers with the default body where the given function gives none`, async (t) => {
    const { call, stock } = guardedWorld(async () => 'fine')
    stock.setMode('forcedOpen')
    for (const nothing of [undefined, null]) {
      assert.deepEqual(await ask(t, call, { body: () => nothing }), { status: 503, retryAfter: null, body: 'Service Unavailable' })
    }
    assert.deepEqual(await ask(t, call, { body: () => '' }), { status: 503, retryAfter: null, body: '' })
  })

  test(`${name} hands on what the body's function throws`, async (t) => {
    const { call, stock } = guardedWorld(async () => 'fine')
    stock.setMode('forcedOpen')
    assert.equal((await ask(t, call, { body: () => { throw new Error('body') } })).status, 500)
  })

  test(`${name} hands on other errors, and lets answers pass`, async (t) => {
    const { status, retryAfter } = await ask(t, async () => { throw new Error('other') })
    assert.deepEqual([status, retryAfter], [500, null])
    assert.deepEqual(await ask(t, async () => 'fine'), { status: 200, retryAfter: null, body: 'fine' })
  })

  test(`${name}: options are checked`, async () => {
    await assert.rejects(async () => start(() => {}, { bodies: 1 }), { message: /^"bodies" is not an option/ })
    await assert.rejects(async () => start(() => {}, { body: 'text' }), { message: /^body: "text" is not allowed; it must be a function$/ })
  })
}
