// What `npm pack` makes, installed into an empty folder.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const bin = (name, path) => join(root, 'node_modules', name, path)
let folder
let tarball
let contents

const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const node = (...args) => execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
const compile = (...args) => spawnSync(process.execPath, [bin('typescript', 'bin/tsc'), ...args], { cwd: folder, encoding: 'utf8' })

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tripcoil-'))
  // With the package's own answers in JSON, whatever the version of npm says around them.
  const [packed] = [JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root))].map((said) => said[0] ?? Object.values(said)[0])
  tarball = join(folder, packed.filename)
  contents = packed.files.map(({ path }) => path).sort()
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npm(['install', '--no-audit', '--no-fund', '--offline', tarball], folder)
  // What the compiler needs beside the package.
  for (const name of ['@types', 'axios', 'express', 'fastify', 'koa', 'undici', 'undici-types']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
})

after(() => rmSync(folder, { recursive: true, force: true }))

test('the tarball holds the package, and nothing else', () => {
  const modules = readFileSync(join(root, 'package.json'), 'utf8').match(/"\.\/dist\/\w+\.mjs"/g)
  assert.ok(modules.length >= 7)
  const strange = contents.filter((path) => !/^(package\.json|README\.md|LICENSE-(MIT|APACHE)|tripcoil\.[\w-]+\.node|dist\/\w+\.(js|mjs|d\.ts|d\.mts))$/.test(path))
  assert.deepEqual(strange, [])
  for (const path of ['package.json', 'README.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'dist/native.d.ts', 'dist/index.mjs']) assert.ok(contents.includes(path), path)
  assert.equal(contents.filter((path) => path.endsWith('.node')).length, 1)
})

test('publint and arethetypeswrong find nothing', async () => {
  const { messages, pkg } = await publint({ pkgDir: root, strict: true })
  assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), [])
  const said = spawnSync(process.execPath, [bin('@arethetypeswrong/cli', 'dist/index.js'), tarball, '--ignore-rules', 'no-resolution'], { encoding: 'utf8' })
  assert.equal(said.status, 0, said.stdout + said.stderr)
})

/** The README's first snippet, and what it must print. */
const snippet = readFileSync(join(root, 'README.md'), 'utf8').match(/```js\n([^]*?)```/)[1]
const commonjs = (code) => code.replace(/import (\{.*\}) from ('.*')/, 'const $1 = require($2)')

function checkOutput(output) {
  const lines = output.trim().split('\n')
  assert.equal(lines.length, 6)
  for (const line of lines.slice(0, 4)) assert.equal(line, 'failed: Error: no answer about sku-1')
  for (const line of lines.slice(4)) assert.match(line, /^not called: call blocked: the breaker of "stock" is open, next probe in \d+ ms$/)
}

test('the README\'s snippet is the example, and runs as .mjs and as .cjs', () => {
  assert.equal(snippet, readFileSync(join(root, 'examples/quickstart.mjs'), 'utf8'))
  assert.notEqual(commonjs(snippet), snippet)
  for (const [name, code] of [['snippet.mjs', snippet], ['snippet.cjs', commonjs(snippet)]]) {
    writeFileSync(join(folder, name), code)
    checkOutput(node(name))
  }
})

test('the README\'s snippet compiles as .ts, .mts and .cts with --strict, and runs', () => {
  for (const kind of ['ts', 'mts', 'cts']) writeFileSync(join(folder, `typed.${kind}`), snippet)
  const { status, stdout } = compile('--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', 'typed.ts', 'typed.mts', 'typed.cts')
  assert.equal(status, 0, stdout)
  for (const kind of ['js', 'mjs', 'cjs']) checkOutput(node(`typed.${kind}`))
})

test('the types need no other libraries than those of Node, and are checked themselves', () => {
  const parts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports).filter((part) => !part.endsWith('.json'))
  writeFileSync(join(folder, 'parts.mts'), parts.map((part, i) => `export * as part${i} from 'tripcoil${part.slice(1)}'\n`).join(''))
  // None, as newer compilers have it unless they are told: the package asks for Node's itself.
  const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2022', lib: ['es2022'], types: [] }
  writeFileSync(join(folder, 'parts.json'), JSON.stringify({ compilerOptions, files: ['parts.mts'] }))
  const { status, stdout } = compile('--project', 'parts.json')
  assert.equal(status, 0, stdout)
})

test('good uses compile with --strict, wrong ones do not', () => {
  cpSync(join(root, 'test/types.ts'), join(folder, 'types.ts'))
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--lib', 'es2024,esnext.disposable', '--types', 'node', '--esModuleInterop', '--skipLibCheck']
  for (const modules of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
    const { status, stdout } = compile(...strict, '--module', modules[0], '--moduleResolution', modules[1], 'types.ts')
    assert.equal(status, 0, stdout)
  }
})

test('both kinds of modules are one: the same classes and the same registry', () => {
  writeFileSync(join(folder, 'both.mjs'), `
    import { createRequire } from 'node:module'
    import * as esm from 'tripcoil'
    import * as fetch from 'tripcoil/fetch'
    const cjs = createRequire(import.meta.url)('tripcoil')
    const names = Object.keys(esm).filter((name) => !['default', 'module.exports', '__esModule'].includes(name)).sort()
    const all = JSON.stringify(names) === JSON.stringify(Object.keys(cjs).sort()) && names.every((name) => esm[name] === cjs[name])
    console.log(all, esm.Registry.global === cjs.Registry.global, typeof fetch.guardFetch, esm.version)
  `)
  assert.equal(node('both.mjs').trim(), `true true function ${require('../package.json').version}`)
})

test('every part of the package loads without the library that it is for', () => {
  for (const part of ['fetch', 'undici', 'axios', 'express', 'fastify', 'koa']) {
    assert.equal(node('-e', `console.log(Object.values(require('tripcoil/${part}')).every((value) => typeof value === 'function'))`), 'true\n')
    assert.equal(node('--input-type=module', '-e', `import * as part from 'tripcoil/${part}'; console.log(Object.keys(part).length > 0)`), 'true\n')
  }
})

test('an esbuild bundle with the package external runs', async () => {
  for (const [format, name] of [['esm', 'bundle.mjs'], ['cjs', 'bundle.cjs']]) {
    await build({ entryPoints: [join(folder, 'snippet.mjs')], bundle: true, platform: 'node', format, external: ['tripcoil'], outfile: join(folder, 'out', name) })
    checkOutput(node(join('out', name)))
  }
})

test('a missing binary says which file was looked for, and how to get it', () => {
  const broken = join(folder, 'broken/node_modules/tripcoil')
  mkdirSync(broken, { recursive: true })
  cpSync(join(folder, 'node_modules/tripcoil'), broken, { recursive: true, filter: (path) => !path.endsWith('.node') })
  const { status, stderr } = spawnSync(process.execPath, ['-e', `require('tripcoil')`], { cwd: join(folder, 'broken'), encoding: 'utf8' })
  const file = contents.find((path) => path.endsWith('.node'))
  const [, platform] = file.match(/^tripcoil\.(.*)\.node$/)
  assert.equal(status, 1)
  for (const part of [join(broken, file), `tripcoil-${platform}: `, 'npm install tripcoil', 'npm run build', "code: 'ETRIPCOILBINARY'"]) assert.ok(stderr.includes(part), `${part}\n${stderr}`)
})

test('a binary that cannot be loaded says why', () => {
  const broken = join(folder, 'unloadable/node_modules/tripcoil')
  mkdirSync(broken, { recursive: true })
  cpSync(join(folder, 'node_modules/tripcoil'), broken, { recursive: true })
  writeFileSync(join(broken, contents.find((path) => path.endsWith('.node'))), 'no library')
  const { stderr } = spawnSync(process.execPath, ['-e', `require('tripcoil')`], { cwd: join(folder, 'unloadable'), encoding: 'utf8' })
  assert.match(stderr, /\.node: .*(invalid ELF header|file too short|not a mach-o|not a valid Win32)/i)
})

test('the package of a platform is used where the binary is not beside the package', () => {
  const place = join(folder, 'platform/node_modules')
  mkdirSync(place, { recursive: true })
  cpSync(join(folder, 'node_modules/tripcoil'), join(place, 'tripcoil'), { recursive: true, filter: (path) => !path.endsWith('.node') })
  const file = contents.find((path) => path.endsWith('.node'))
  const name = `tripcoil-${file.match(/^tripcoil\.(.*)\.node$/)[1]}`
  mkdirSync(join(place, name))
  symlinkSync(join(folder, 'node_modules/tripcoil', file), join(place, name, file))
  writeFileSync(join(place, name, 'package.json'), JSON.stringify({ name, main: file }))
  const said = execFileSync(process.execPath, ['-p', `require('tripcoil').version`], { cwd: join(folder, 'platform'), encoding: 'utf8' })
  assert.equal(said.trim(), require('../package.json').version)
})
