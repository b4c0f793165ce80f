// Compiles the TypeScript into an empty `dist`, with the types of the native part, which the compiler does not copy.
import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
rmSync(`${root}/dist`, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '--project', root], { stdio: 'inherit' })
copyFileSync(`${root}/src/native.d.ts`, `${root}/dist/native.d.ts`)
