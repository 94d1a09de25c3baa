import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { buildExampleFile } from '../../support/build-example.js'
import { TestProject } from '../../support/cli/ptc.js'

test('the example of a client prints the stream of a run, decides on calls, and talks in a conversation', async () => {
  await using project = await TestProject.create({})
  await project.run('init')
  const config = await readFile(join(project.folder, 'ptc.config.ts'), 'utf8')
  await project.write('ptc.config.ts', config.replace(`effect: 'read',`, `$&\n  approval: 'always',`))
  const dev = project.start('dev', '--sandbox', 'wasm')
  const [, address] = await dev.waitForOutput(/^Temporal +(\S+), [^]*Ready\./m, 'stdout')
  const program = await buildExampleFile('client', 'client.ts')

  /** Runs the script with lines that are typed. */
  const typed = async (...lines: readonly string[]) => {
    const env = { ...project.environment, TEMPORAL_ADDRESS: address }
    const child = spawn(process.execPath, [program], { cwd: project.folder, env })
    child.stdin.end(`${lines.join('\n')}\n`)
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { stdout, stderr, code: code as unknown }
  }

  const approved = await typed('y', 'y', 'y', 'And who else?', 'y', 'y', 'y', '')
  expect(approved).toMatchObject({ code: 0, stderr: '' })
  // Of the stream: what the model writes, calls and output.
  expect(approved.stdout).toMatch(/^\[model: code\]\nnames = \["ada", "lin", "sam"\]\nlists = await asyncio\.gather/m)
  expect(approved.stdout).toMatch(/\[call\] get_expenses lin$[^]*^ada 6340 EUR$[^]*^\[model: text\]$/m)
  expect(approved.stdout).toMatch(/^answered: ada 6340 EUR$[^]*^> (Approve .*not: ){3}ada 6340 EUR$[^]*^> $/m)

  const denied = await typed('the books are closed', 'y', 'y', '')
  expect(denied).toMatchObject({ code: 0, stderr: '' })
  expect(denied.stdout).toMatch(/^answered: [^]*get_expenses was not approved: the books are closed$/m)
})
