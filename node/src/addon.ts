/** Finds the native part: beside the package, or in the package of the platform that npm installs with it. */
import { join } from 'node:path'
import type * as Native from './native'

export type { Native }

/** What the file and the package are named for: `linux-x64-gnu`, `darwin-arm64`, `win32-x64-msvc`. */
function platform(): string {
  const { platform, arch } = process
  if (platform === 'linux') return `linux-${arch}-${isGlibc() ? 'gnu' : 'musl'}`
  return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`
}

function isGlibc(): boolean {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  // A report looks up the names of all connections, unless it is told not to.
  const { excludeNetwork = false } = report
  report.excludeNetwork = true
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
  report.excludeNetwork = excludeNetwork
  return header?.glibcVersionRuntime !== undefined
}

/** @internal Exported for its test. */
export function load(folder: string, name: string, open: (path: string) => unknown = require): typeof Native {
  const file = join(folder, `tripcoil.${name}.node`)
  const candidates = [file, `tripcoil-${name}`]
  const failures: unknown[] = []
  for (const candidate of candidates) {
    try {
      return open(candidate) as typeof Native
    } catch (error) {
      failures.push(error)
    }
  }
  const tried = candidates.map((candidate, i) => `  ${candidate}: ${firstLine(failures[i])}`)
  const message =
    `tripcoil has no native part for ${name} here. Looked for:\n${tried.join('\n')}\n` +
    `npm installs the package tripcoil-${name} along with tripcoil, unless optional dependencies are switched off ` +
    '(--omit=optional, --no-optional) or the lock file was made on another platform: run `npm install tripcoil` here. ' +
    'For a platform without a package, build it: `npm ci && npm run build` in the folder node of the sources (needs Rust).'
  throw Object.assign(new Error(message, { cause: new AggregateError(failures) }), { code: 'ETRIPCOILBINARY' })
}

function firstLine(error: unknown): string {
  return String((error as Error)?.message ?? error).split('\n', 1)[0]!
}

export const native: typeof Native = load(join(__dirname, '..'), platform())

// Other threads write it, also where there is no memory that says so.
const beats = new (globalThis.SharedArrayBuffer ?? ArrayBuffer)(Int32Array.BYTES_PER_ELEMENT)
const own = Buffer.from(new ArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
const { mail: memory, enter, admit, exit } = native.doors(Buffer.from(beats), own)
/** What a door is told, and what it answers. */
const mail = new Int32Array(memory.buffer, memory.byteOffset, 2)

/** Its only element is another one after each change, anywhere in the process, of what `admit` may say. Not negative. */
export const pulse = new Int32Array(beats)

/** The functions through which all calls of this thread go. */
export const doors = {
  enter(resource: number): number {
    mail[0] = resource
    enter()
    return mail[1]!
  },
  admit(resource: number): number {
    mail[0] = resource
    admit()
    return mail[1]!
  },
  exit(token: number): boolean {
    mail[0] = token
    exit()
    return mail[1] !== 0
  },
}
