import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Limits } from '../../../../src/common/run/limits.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { inMode } from '../../../support/mode.js'
import { withoutRunnerListeners } from '../../../support/uncaught-errors.js'
import { tool, type ToolOptions } from '../../../support/tools.js'

const once = { execution: 'local', effect: 'once' } as const

/** What a bad tool does after its effect, and what the code prints then. */
interface Misuse {
  readonly act: () => unknown
  readonly options?: ToolOptions
  /** Limits of the run. */
  readonly limits?: Partial<Limits>
  readonly printed: RegExp
}

const misuses: Readonly<Record<string, Misuse>> = {
  'returns 5 MB': { act: () => 'x'.repeat(5_000_000), printed: /^ok 5000000$/ },
  'returns more than a result may have': {
    act: () => 'x'.repeat(5_000_000),
    limits: { resultBytes: 1_000_000 },
    printed: /^ToolError the result of bad has 5000002 bytes; the limit is 1000000$/,
  },
  'returns half a surrogate pair': { act: () => 'half \ud83d pair', printed: /^ok 11$/ },
  'returns what is no JSON': { act: () => 1n, printed: /^ToolError the result of bad is not JSON/ },
  'throws undefined': {
    act: () => {
      throw undefined
    },
    printed: /^ToolOutcomeUnknown .*/,
  },
  'throws an object whose message throws': {
    act: () => {
      throw {
        get message() {
          throw new Error('no message')
        },
      }
    },
    printed: /^ToolOutcomeUnknown .*/,
  },
  'never returns': {
    act: () => new Promise(() => undefined),
    options: { timeout: '1s' },
    printed: /^ToolOutcomeUnknown .*did not answer in time/,
  },
  'forgets an await that fails at once': {
    act: () => {
      void Promise.reject(new Error('forgotten'))
      return delay(200, 'x')
    },
    printed: /^ToolOutcomeUnknown .*forgotten/,
  },
  'forgets an await that fails after its end': {
    act: () => {
      void delay(100).then(() => {
        throw new Error('late')
      })
      return 'x'
    },
    printed: /^ok 1$/,
  },
}

/** In these modes no worker is connected to the sandbox when a call ends. */
const losesConnections = inMode('always-evict') || inMode('always-reattach')

describe.skipIf(losesConnections)('F29: a local `once` call of a tool', () => {
  it.each(Object.entries(misuses))('that %s is made once, and the run continues', async (_name, misuse) => {
    withoutRunnerListeners()
    const made: string[] = []
    const bad = tool(
      'bad',
      () => {
        made.push('bad')
        return misuse.act()
      },
      { ...once, ...misuse.options },
    )
    const mark = tool('mark', ({ text }) => made.push(`mark ${JSON.stringify(text)}`), once)
    const env = await TestEnvironment.start({ tools: [bad, mark] })
    const { outcome } = await env.runProgram(
      `
try:
    print("ok", len(await bad()))
except ToolError as error:
    print(type(error).__name__, str(error).replace("\\n", " "))
import asyncio
await asyncio.sleep(0.3)
await mark(text="after")
await mark(text="half \\ud83d")`,
      { limits: misuse.limits ?? {} },
    )
    expect(outcome.status).toBe('ok')
    expect(outcome.output.trim()).toMatch(misuse.printed)
    expect(made).toEqual(['bad', 'mark "after"', expect.stringMatching(/^mark "half /)])
  })
})
