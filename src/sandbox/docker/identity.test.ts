import { describe, expect, test } from 'vitest'
import { containerLabels, containerName, identityOf, sandboxName } from './identity.js'
import { userId } from './user-id.js'
import { defaultLimits } from '../../common/limits.js'

const id = { namespace: 'default', session: 'run-1.session-1', epoch: 1, workflowId: 'run-1' }

test('the name of a sandbox is the same in every process', () => {
  expect(sandboxName(id)).toBe('ptc-run-1.session-1-e1-44cb2874377b')
  expect(containerName(id)).toBe('ptc-run-1.session-1-e1-44cb2874377b.WyJydW4tMS5zZXNzaW9uLTEiLCJydW4tMSJd')
})

test.each(['', '../../etc', 'späße/\u0000', '-leading', 'x'.repeat(500), '日本語'])(
  'session %j has a name Docker takes',
  (session) => {
    expect(sandboxName({ ...id, session })).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,100}$/)
  },
)

test('sandboxes that differ in anything have different names and, but for chance, user ids', () => {
  const others = [id, { ...id, namespace: 'other' }, { ...id, session: 'run/1.session-1' }, { ...id, epoch: 2 }]
  expect(new Set(others.map(containerName)).size).toBe(others.length)
  expect(new Set(others.map((each) => userId(each, false))).size).toBe(others.length)
})

test('user ids are out of the way of real users, and within what a user namespace maps', () => {
  for (let epoch = 0; epoch < 1_000; epoch += 1) {
    expect(userId({ ...id, epoch }, false)).toBeGreaterThanOrEqual(100_000)
    expect(userId({ ...id, epoch }, false)).toBeLessThan(2 ** 31)
    expect(userId({ ...id, epoch }, true)).toBeGreaterThanOrEqual(1_000)
    expect(userId({ ...id, epoch }, true)).toBeLessThan(65_536)
  }
})

test('labels say whose a container is', () => {
  const labels = containerLabels({ ...id, runId: 'r', limits: defaultLimits }, 123)
  const { workflowId, ...sandbox } = id
  expect(identityOf('any', labels)).toEqual({ id: sandbox, workflowId, runId: 'r' })
  expect(identityOf('any', { ...labels, 'ptc.epoch': 'one' })).toBeUndefined()
  expect(identityOf(containerName(id), {})).toBeUndefined()
})

describe('the name of a container made ahead', () => {
  const labels = { 'ptc.owner': id.namespace, 'ptc.pool': 'pool' }

  test.each(['', 'späße/\u0000', 'x'.repeat(1_000), '日本語', '-e7-0123456789ab.WyJhIiwiYiJd'])(
    'says whose it is, for session and workflow %j',
    (text) => {
      const sandbox = { namespace: id.namespace, session: text, epoch: 12 }
      const name = containerName({ ...sandbox, workflowId: text })
      expect(identityOf(name, labels)).toEqual({ id: sandbox, workflowId: text, runId: undefined })
      expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/)
    },
  )

  test.each([
    ['no record', sandboxName(id)],
    ['a record that is no JSON', `${sandboxName(id)}.AAAA`],
    ['a record of something else', `${sandboxName(id)}.${Buffer.from('{}').toString('base64url')}`],
    [
      "another session's record",
      `${sandboxName(id)}.${containerName({ ...id, session: 'other' })
        .split('.')
        .at(-1)}`,
    ],
    ["another epoch's digest", containerName(id).replace('-e1-', '-e2-')],
  ])("is nobody's with %s", (_what, name) => {
    expect(identityOf(name, labels)).toBeUndefined()
  })

  test("is nobody's under another owner", () => {
    expect(identityOf(containerName(id), { ...labels, 'ptc.owner': 'other' })).toBeUndefined()
  })
})
