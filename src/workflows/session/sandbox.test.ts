import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common'
import { beforeEach, expect, it, vi } from 'vitest'
import type { ErrorCode } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import { zeroCounts } from '../../common/run/runs.js'
import { Progress } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { openSession } from '../temporal/activities.js'
import { Sandbox } from './sandbox.js'

vi.mock('../temporal/activities.js', () => ({ openSession: vi.fn() }))

const open = vi.mocked(openSession)

beforeEach(() => {
  open.mockReset()
})

const failed = (code: ErrorCode): ActivityFailure =>
  new ActivityFailure(
    'failed',
    'session.open',
    '1',
    RetryState.MAXIMUM_ATTEMPTS_REACHED,
    undefined,
    ApplicationFailure.nonRetryable('no daemon', code),
  )

function createSandbox(): Sandbox {
  const config = { limits: defaultLimits, toolSet: { digest: 'd', signatures: [] } }
  const addStoredBytes = () => undefined
  const run = { kind: 'embedded', config, counts: zeroCounts, progress: new Progress(), addStoredBytes }
  const ref = { id: 's', epoch: 0, backend: 'docker', startedAt: 0 }
  return new Sandbox(run as unknown as Run, { ref, state: { type: 'none' } })
}

it('a sandbox is opened again while the backend is down, with the same epoch and backend', async () => {
  open.mockRejectedValueOnce(failed('SANDBOX_BACKEND_DOWN')).mockRejectedValueOnce(failed('SANDBOX_BACKEND_DOWN'))
  open.mockImplementationOnce(({ session }) =>
    Promise.resolve({ session, hostQueue: 'q.host.box.docker', description: 'x', supportsCheckpoint: false }),
  )
  const sandbox = createSandbox()
  await sandbox.open()
  expect(sandbox.hostQueue).toBe('q.host.box.docker')
  expect(open.mock.calls.map(([{ session }, , , isDown]) => [session.epoch, session.backend, isDown])).toEqual([
    [1, 'docker', false],
    [1, 'docker', true],
    [1, 'docker', true],
  ])
})

it('opening a sandbox fails for other reasons than an unavailable backend', async () => {
  open.mockRejectedValueOnce(failed('SANDBOX_UNAVAILABLE'))
  await expect(createSandbox().open()).rejects.toMatchObject({ cause: { type: 'SANDBOX_UNAVAILABLE' } })
})

it('a sandbox returns the result of its first step, and is no longer there when its host has removed it', async () => {
  const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'x' } } as const
  const ended = { type: 'completed', output: 'x', closed: true } as const
  open.mockImplementation(({ session, firstStep }) => {
    const opened = { session, hostQueue: 'q.host.box.docker', description: 'x', supportsCheckpoint: false }
    return Promise.resolve({ ...opened, ...(firstStep && { firstStep: ended }) })
  })
  expect(await createSandbox().open()).toBeUndefined()
  const sandbox = createSandbox()
  expect(await sandbox.open({ step, outputLimit: 10, isLastCell: true })).toEqual(ended)
  expect(open.mock.lastCall?.[2]).toBe('open a session (docker), run cell 1')
  expect(sandbox.isOpen).toBe(true)
  sandbox.forget()
  expect(sandbox.isOpen).toBe(false)
  expect(sandbox.hostQueue).toBe('')
})
