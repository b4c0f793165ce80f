// The vectors that every language must agree with.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('every vector gives what it must', () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const cargo = ['run', '--quiet', '--locked', '--profile', 'test', '--package', 'tripcoil-conformance', '--', 'tests/vectors', 'node=node node/test/driver.mjs']
  const { stdout, stderr, status } = spawnSync('cargo', cargo, { cwd, encoding: 'utf8' })
  assert.match(stdout, /^node: \d+ files, [1-9]\d* cases, \d+ steps, 0 differ$/m, stdout + stderr)
  assert.equal(status, 0)
})

test('the driver has no answer to what it does not know', () => {
  const driver = fileURLToPath(new URL('driver.mjs', import.meta.url))
  assert.throws(() => execFileSync(process.execPath, [driver], { input: 'new\nleave 0 0 0\n', stdio: 'pipe' }), /Command failed/)
})
