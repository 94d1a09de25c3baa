import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { it } from 'vitest'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

it('the API reports and the API reference describe the current types', async () => {
  // Fails with the names of the files that `npm run api` would change.
  await run(process.execPath, ['scripts/api.mjs', '--check'], { cwd: checkout })
})
