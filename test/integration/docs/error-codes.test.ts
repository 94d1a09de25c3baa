import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { errorTable } from '../../../src/common/errors.js'

it('the reference of error codes has each code, and says whether an activity is retried', async () => {
  const page = await readFile(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` +\| .+ \| *(yes|) *\|$/gm)]
  const documented = Object.fromEntries(rows.map(([, code, retried]) => [code, { retryable: retried === 'yes' }]))
  expect(documented).toEqual(errorTable)
})
