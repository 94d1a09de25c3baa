import { CommanderError } from 'commander'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { exitCodeOf } from './exit-code.js'
import { Interrupted } from './interrupts.js'
import { reportError } from './report-error.js'

describe('exitCodeOf', () => {
  it.each([
    ['TEMPORAL_UNREACHABLE', 3],
    ['WORKER_MISSING', 3],
    ['CONFIG_NOT_FOUND', 2],
    ['CONFIG_INVALID', 2],
    ['TOOL_DUPLICATE', 2],
    ['TOOL_NAME_INVALID', 2],
    ['TOOL_UNKNOWN', 2],
    ['AGENT_DUPLICATE', 2],
    ['RUN_INPUT_INVALID', 2],
    ['TEMPORAL_NOT_FOUND', 1],
    ['SANDBOX_UNAVAILABLE', 1],
    ['MODEL_AUTH', 1],
  ] as const)('%s ends a command with %i', (code, expected) => {
    expect(exitCodeOf(new PtcError(code, 'no'))).toBe(expected)
  })

  it('an interrupted command ends with 130', () => {
    expect(exitCodeOf(new Interrupted('interrupted'))).toBe(130)
    expect(exitCodeOf(new DOMException('This operation was aborted', 'AbortError'))).toBe(130)
  })

  it('an unexpected error ends with 1', () => {
    expect(exitCodeOf(new TypeError('oops'))).toBe(1)
    expect(exitCodeOf('oops')).toBe(1)
  })
})

describe('reportError', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })

  function report(thrown: unknown): { readonly code: number; readonly output: string } {
    const chunks: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean(chunks.push(String(text))))
    return { code: reportError(thrown), output: chunks.join('') }
  }

  it('reports an error with its message and hint, without a stack', () => {
    const { code, output } = report(new PtcError('TEMPORAL_UNREACHABLE', 'nobody answers', { hint: 'Start it.' }))
    expect(output).toBe('ptc: nobody answers\nStart it.\n')
    expect(code).toBe(3)
  })

  it('reports an error with its stack and causes when PTC_DEBUG=1', () => {
    vi.stubEnv('PTC_DEBUG', '1')
    const { output } = report(new PtcError('INTERNAL', 'outer', { cause: new Error('inner') }))
    expect(output).toMatch(/PtcError: outer\n\s+at /)
    expect(output).toMatch(/Error: inner\n\s+at /)
  })

  it('the exit code is 2 for a usage error and 0 for help', () => {
    expect(report(new CommanderError(1, 'commander.unknownOption', 'x')).code).toBe(2)
    expect(report(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toEqual({ code: 0, output: '' })
  })
})
