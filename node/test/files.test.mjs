// Rule files that cannot be read, or are not what they should be: a clear error, and the rules stay as they were.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { InvalidRuleError, Registry } from 'tripcoil'
import { run } from './support.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tripcoil-'))
const text = (count) => JSON.stringify([{ resource: 'stock', grade: 2, count, timeWindow: 1 }])

function file(name, content = text(3)) {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** That a load fails so, and changes nothing. */
async function refused(path, error) {
  const registry = new Registry()
  registry.load(text(3))
  const before = registry.rules
  await assert.rejects(registry.loadFile(path), error)
  assert.deepEqual(registry.rules, before)
}

test('a file that is not there, or is a directory, is told by its path', async () => {
  await refused(join(folder, 'none.json'), { code: 'ENOENT', message: /none\.json/ })
  await refused(pathToFileURL(join(folder, 'none.json')), { code: 'ENOENT' })
  await refused(folder, { code: 'EISDIR' })
})

test('a file that is cut short is refused, wherever it is', async () => {
  const path = file('short.json')
  for (let length = text(3).length - 1; length >= 0; length -= 7) {
    truncateSync(path, length)
    await refused(path, InvalidRuleError)
  }
})

test('a file that is too large is not read to its end', async () => {
  const path = file('large.json')
  truncateSync(path, 2 ** 40) // of holes
  await refused(path, { code: 'EINVALIDRULE', message: /more than 16777216 bytes/ })
})

test('nor is an endless one', { skip: !existsSync('/dev/zero') }, async () => {
  await refused('/dev/zero', { code: 'EINVALIDRULE', message: /more than 16777216 bytes/ })
})

test('a file that is replaced is read as one or the other', async () => {
  const path = file('replaced.json')
  const registry = new Registry()
  let done = false
  const replace = async () => {
    for (let n = 0; !done; n++) {
      await writeFile(join(folder, 'fresh.json'), text(3 + n % 2))
      await rename(join(folder, 'fresh.json'), path)
    }
  }
  const replaced = replace()
  for (let n = 0; n < 100; n++) {
    await registry.loadFile(path)
    assert.ok([3, 4].includes(registry.rules[0].threshold))
  }
  done = true
  await replaced
})

test('without file descriptors a load is refused, and calls go on', () => {
  const { status, stdout, stderr } = run(`
    import { openSync, closeSync } from 'node:fs'
    import { breaker, Registry } from 'tripcoil'
    const registry = new Registry()
    registry.load(${JSON.stringify(text(3))})
    const call = breaker(async () => 5, { resource: 'stock', registry })
    const kept = []
    try {
      for (;;) kept.push(openSync('/dev/null'))
    } catch (error) {
      if (error.code !== 'EMFILE') throw error
    }
    const { code } = await registry.loadFile(${JSON.stringify(file('many.json'))}).catch((error) => error)
    const answer = await call()
    kept.forEach((descriptor) => closeSync(descriptor))
    console.log(code, answer, registry.rules.length, (await registry.loadFile(${JSON.stringify(file('many.json'))})).rules)
  `)
  assert.deepEqual([status, stdout.trim(), stderr], [0, 'EMFILE 5 1 1', ''])
})
