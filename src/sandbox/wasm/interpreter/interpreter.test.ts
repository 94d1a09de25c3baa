import { expect, test } from 'vitest'
import { Interpreter } from './interpreter.js'

test.skipIf(process.platform === 'win32')(
  'an interpreter reads an announced exit that arrives after the process has exited',
  async () => {
    // The script behaves like the child: descriptor 4 gets the status 2 with the exit code 70. A process in the
    // background sends it late.
    const script = 'echo "the interpreter ended: MemoryError" >&2; (sleep 0.3; printf "\\002\\106" >&4) & exit 70'
    const interpreter = new Interpreter({ file: 'sh', args: ['-c', script] })
    expect(await interpreter.ended).toMatchObject({ reason: 'out_of_memory', exitCode: 70 })
  },
)

test('an interpreter ends when its command can not be started', async () => {
  const interpreter = new Interpreter({ file: '/nothing/here', args: [] })
  expect(await interpreter.ended).toMatchObject({ reason: 'exited', exitCode: null })
  await expect(interpreter.ready).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})
