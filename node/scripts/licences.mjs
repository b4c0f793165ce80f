// Lays the repository's licences into the package that is about to be packed.
import { copyFileSync } from 'node:fs'

for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(new URL(`../../${name}`, import.meta.url), new URL(`../${name}`, import.meta.url))
}
