import { expect, it, vi } from 'vitest'
import { runCommand } from './run.js'

it.each([
  [['--mode', 'auto', 'q'], { code: 'commander.invalidArgument' }],
  [
    ['--mode', 'plan', '-i', 'q'],
    { code: 'RUN_INPUT_INVALID', message: 'with -i, the mode is conversation, not plan' },
  ],
  [['--mode', 'conversation', '--json', 'q'], { code: 'RUN_INPUT_INVALID' }],
  [['--mode', 'conversation', '--id', 'x', 'q'], { code: 'RUN_INPUT_INVALID' }],
])('refuses `ptc run` with %j', async (args, error) => {
  const command = runCommand().exitOverride().configureOutput({ writeErr: vi.fn() })
  await expect(command.parseAsync(args, { from: 'user' })).rejects.toMatchObject(error)
})
