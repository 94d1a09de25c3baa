import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runnerDirectory } from '../../runner-directory.js'

it('the parser in the runner of JavaScript is that of its package', () => {
  const vendored = readFileSync(join(runnerDirectory, 'javascript/vendor/acorn.js'), 'utf8')
  expect(vendored).toBe(readFileSync(createRequire(import.meta.url).resolve('acorn'), 'utf8'))
})
