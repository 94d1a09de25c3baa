import { appendFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/support/folders.js'
import { openServerLog } from './server-log.js'

const numbered = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word} ${index + 1}`)

it('the log has its last lines, and before them the reason of a panic whose stack is longer', async () => {
  const log = await openServerLog(await temporaryFolder())
  onTestFinished(() => log.close())
  await appendFile(log.path, `${numbered('line', 20).join('\n')}\n`)
  expect((await log.tail()).split('\n')).toEqual(numbered('line', 20).slice(-12))
  const panic = 'panic: failed to start: listen tcp 127.0.0.1:4000: bind: address already in use'
  await appendFile(log.path, `${[panic, ...numbered('stack', 30)].join('\n')}\n`)
  expect((await log.tail()).split('\n')).toEqual([panic, ...numbered('stack', 30).slice(-12)])
})
