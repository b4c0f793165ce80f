// The README's tables for those who come from other breakers: nothing that these have is missing.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as cockatiel from 'cockatiel'
import Opossum from 'opossum'

const require = createRequire(import.meta.url)
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

/** The part of the README below a heading. */
function section(heading) {
  const [, rest] = readme.split(`## ${heading}\n`)
  return rest.split('\n## ')[0]
}

function names(source, pattern) {
  const found = [...new Set([...source.matchAll(pattern)].map(([, name]) => name))]
  assert.ok(found.length > 5, String(pattern))
  return found
}

/** Whether a text has a name: as it is, or as the beginning of one that ends in `…`. */
function has(text, name) {
  const words = [...text.matchAll(/[A-Za-z]+…?/g)].map(([word]) => word)
  return words.some((word) => word === name || (word.endsWith('…') && name.startsWith(word.slice(0, -1))))
}

test('every option, event and member of opossum', async () => {
  const source = await readFile(require.resolve('opossum/lib/circuit.js'), 'utf8')
  const own = ['length', 'prototype', 'constructor', '_renewAbortControllerIfNeeded', 'coalesceCache', 'stats']
  const all = [
    ...names(source, /options\.([a-zA-Z]+)/g),
    ...names(source, /emit\(\s*'([a-zA-Z]+)'/g),
    ...Object.getOwnPropertyNames(Opossum.prototype),
    ...Object.getOwnPropertyNames(Opossum).filter((name) => name !== 'name'),
  ]
  const text = section('Coming from opossum')
  assert.deepEqual(all.filter((name) => !own.includes(name) && !has(text, name)), [])
})

test('every member of cockatiel\'s breaker, its options, its breakers and its errors', async () => {
  const declared = await readFile(require.resolve('cockatiel').replace('index.js', 'CircuitBreakerPolicy.d.ts'), 'utf8')
  const options = declared.slice(declared.indexOf('interface ICircuitBreakerOptions')).split('}')[0]
  const hidden = ['constructor', ...names(declared, /private (?:readonly )?([a-zA-Z]+)/g)]
  const all = [
    ...[...options.matchAll(/^ {4}([a-zA-Z]+)\??:/gm)].map(([, name]) => name),
    ...Object.getOwnPropertyNames(cockatiel.CircuitBreakerPolicy.prototype).filter((name) => !hidden.includes(name)),
    ...['onBreak', 'onReset', 'onHalfOpen', 'onStateChange', 'onSuccess', 'onFailure'],
    ...Object.keys(cockatiel).filter((name) => /Breaker$|CircuitError$/.test(name)),
  ]
  const text = section('Coming from cockatiel')
  assert.deepEqual(all.filter((name) => !/^is[A-Z]/.test(name) && !has(text, name)), [])
})
