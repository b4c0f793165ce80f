// Fetches URLs, each host guarded by breakers of its own.
//
//     node fetch.mjs RULES TIMEOUT_MS CALLS
//
// RULES is a file of Sentinel JSON; a rule's resource is a host with its port, or a regex for it. Each line of the
// input, "call ID URL", is answered by a line "done ID ok", "done ID failed" or "done ID blocked"; changes of a
// breaker's state are told in between. So by hand:
//
//     echo 'call 1 https://example.org/' | node fetch.mjs rules.json 1000 4
import { createInterface } from 'node:readline'
import { breaker, isBlocked, Registry } from 'tripcoil'

const [rules, timeout] = process.argv.slice(2)
const registry = new Registry()
await registry.loadFile(rules)

const states = { closed: 'closed', open: 'open', halfOpen: 'half-open' }
registry.onTransition(({ position, from, to, trip }) => {
  console.log(`change ${position} ${states[from]} ${states[to]} ${trip?.explanation ?? ''}`.trimEnd())
})

/** Whether the server is well, whatever it thinks of the request. */
async function get(url, { signal }) {
  const response = await fetch(url, { signal })
  await response.arrayBuffer()
  return response.status < 500
}

const guardedGet = breaker(get, {
  registry,
  resource: (url) => hostOf(new URL(url)),
  timeout: Number(timeout),
  signal: 1,
  isFailureResult: (isWell) => !isWell,
})

/** With the port, also where it is the protocol's own. */
function hostOf({ hostname, port, protocol }) {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

async function answer(id, url) {
  try {
    console.log(`done ${id} ${(await guardedGet(url, {})) ? 'ok' : 'failed'}`)
  } catch (error) {
    console.log(`done ${id} ${isBlocked(error) ? 'blocked' : 'failed'}`)
  }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [, id, url] = line.split(' ')
  void answer(id, url)
}
