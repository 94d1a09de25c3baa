import { expect, it } from 'vitest'
import { dispatchedRunner, dispatcherOf } from './dispatcher.js'
import { languageOf } from './index.js'
import { runnerCommand } from './shared/runner-command.js'

it('the dispatcher gets the command of each runner, and the settings of languages that it executes itself', () => {
  const shell = { name: 'shell', runner: dispatchedRunner('shell', { option: 1 }) }
  const runner = dispatcherOf([languageOf('python'), shell], [])
  const command = runnerCommand({ name: 'python,shell', runner })
  expect(command.slice(0, -1)).toEqual([
    '/usr/bin/python3',
    '-s',
    '-P',
    '-B',
    '-X',
    'utf8',
    '/opt/durable-ptc/dispatcher/dispatcher.py',
  ])
  expect(JSON.parse(command.at(-1) ?? '')).toEqual({
    python: {
      command: [...command.slice(0, 6), '/opt/durable-ptc/python/runner.py'],
      environment: { PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
    },
    shell: { option: 1 },
  })
  expect(shell.runner.arguments).toEqual(['{"shell":{"option":1}}'])
})
