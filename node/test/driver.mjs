// Plays conformance cases through the package's public API: the line protocol that tests/c/driver.c describes.
import { readSync, writeSync } from 'node:fs'
import { InvalidRuleError, readRules, Registry, VirtualClock } from 'tripcoil'

const OK = 0
const BLOCKED = 1
const ALREADY_ENDED = 2
const NOT_FOUND = 3
const INVALID_RULES = 17
const STATES = { closed: 0, open: 1, halfOpen: 2 }
const MODES = ['normal', 'forcedOpen', 'disabled', 'observeOnly']
const ENDS = { 1: 'exit', 2: 'fail', 3: 'ignore', 4: 'cancel' }

/** Standard input, read when it is asked for. */
class Input {
  #bytes = Buffer.alloc(0)

  #more() {
    const chunk = Buffer.alloc(1 << 16)
    const length = readSync(0, chunk)
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(0, length)])
    return length > 0
  }

  #take(length) {
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  line() {
    let end
    while ((end = this.#bytes.indexOf('\n')) < 0) if (!this.#more()) return undefined
    return this.#take(end + 1).toString('latin1', 0, end)
  }

  text() {
    const length = Number(this.line())
    while (this.#bytes.length < length + 1) if (!this.#more()) throw new Error('the input ends within a text')
    return Buffer.from(this.#take(length + 1).subarray(0, length))
  }
}

const input = new Input()
let output = []
let clock
let registry
let entries
let events

const say = (line) => output.push(`${line}\n`)
const sayText = (text) => output.push(`${Buffer.byteLength(text)}\n${text}\n`)

function begin() {
  clock = new VirtualClock()
  registry = new Registry({ clock })
  entries = new Map()
  events = []
  registry.onTransition((transition) => events.push(transition))
}

function load(scope) {
  const name = scope === 2 ? input.text().toString() : undefined
  const rules = input.text()
  try {
    if (scope === 0) registry.load(rules)
    else if (scope === 1) registry.loadDefaults(rules)
    else if (scope === 2) registry.loadResource(name, rules)
    else registry.loadLegacy(scope === 16 ? '1.6' : '1.7', rules)
    return OK
  } catch (error) {
    if (error instanceof InvalidRuleError) return INVALID_RULES
    throw error
  }
}

function enter(number) {
  const entry = registry.resource(input.text().toString()).tryEnter()
  entries.set(number, entry)
  return entry === undefined ? BLOCKED : OK
}

function control(rule, mode) {
  const breaker = registry.resource(input.text().toString()).breakers()[rule]
  const done = mode === undefined ? breaker?.reset() : breaker?.setMode(MODES[mode])
  return done ? OK : NOT_FOUND
}

function exclude(whether) {
  const name = input.text().toString()
  if (whether) registry.exclude(name)
  else registry.include(name)
  return OK
}

function step(verb, [at, ...words]) {
  clock.setNanoseconds(BigInt(at))
  const numbers = words.map(Number)
  const watched = numbers.pop()
  if (verb === 'load') say(`status ${load(numbers[0])}`)
  else if (verb === 'enter') say(`status ${enter(numbers[0])}`)
  else if (verb === 'mode') say(`status ${control(numbers[0], numbers[1])}`)
  else if (verb === 'reset') say(`status ${control(numbers[0])}`)
  else if (verb === 'exclude') say(`status ${exclude(numbers[0])}`)
  else say(`status ${entries.get(numbers[0])[ENDS[numbers[1]]]() ? OK : ALREADY_ENDED}`)
  for (let i = 0; i < watched; i++) {
    const states = registry.resource(input.text().toString()).states()
    say(['states', ...states.map((state) => STATES[state])].join(' '))
  }
  for (const { position, from, to, snapshot, fromMode, toMode, resource } of events.splice(0)) {
    const modes = `${MODES.indexOf(fromMode)} ${MODES.indexOf(toMode)}`
    say(`event ${position} ${STATES[from]} ${STATES[to]} ${snapshot ?? '-'} ${modes}`)
    sayText(resource)
  }
}

function read() {
  const { json, faults } = readRules(input.text())
  say('rules')
  sayText(json)
  for (const { index = -1, field } of faults) {
    say(`fault ${index} ${field === undefined ? 0 : 1}`)
    sayText(field ?? '')
  }
}

function flush() {
  let left = Buffer.from(output.join(''))
  output = []
  while (left.length > 0) left = left.subarray(writeSync(1, left))
}

for (let line = input.line(); line !== undefined; line = input.line()) {
  const [verb, ...words] = line.split(' ')
  if (verb === 'new') begin()
  else if (verb === 'read') read()
  else step(verb, words)
  say('done')
  flush()
}
