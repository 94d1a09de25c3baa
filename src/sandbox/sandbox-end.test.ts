import { expect, it } from 'vitest'
import type { SandboxEnd } from './backend.js'
import { lostCause, lostReason } from './sandbox-end.js'

const exited = (exitCode: number | null, diagnostics = ''): SandboxEnd => ({ reason: 'exited', exitCode, diagnostics })

it.each([
  [exited(0), 'the code ended its process with exit code 0, as os._exit() does; exit() ends only the cell'],
  [exited(3), 'the code ended its process with exit code 3, as os._exit() does; exit() ends only the cell'],
  [exited(1, 'Traceback …\nOSError: x\n'), 'the sandbox ended with exit code 1: OSError: x'],
  [
    exited(137, 'the interpreter ended: Exit: Program terminated with exit(137)\n'),
    'the code crashed its process (signal 9)',
  ],
  [
    exited(70, 'x\nthe interpreter ended: RangeError: Maximum call stack size exceeded\n'),
    'the code used up the stack of its interpreter: it calls itself too deeply',
  ],
  [exited(139), 'the code crashed its process (signal 11)'],
])('the program is the cause of %j', (end, reason) => {
  expect(lostCause(end)).toBe('exited')
  expect(lostReason(end)).toBe(reason)
})

it.each([exited(null), exited(124), exited(137), exited(143), exited(255), { ...exited(0), reason: 'disconnected' }])(
  'the program is not the cause of %j',
  (end) => {
    expect(lostCause(end as SandboxEnd)).toBe('gone')
    expect(lostReason(end as SandboxEnd)).not.toContain('the code')
  },
)
