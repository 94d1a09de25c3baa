import { describe, expect, test } from 'vitest'
import { containerLabels, containerName, parseIdentity, sandboxName, userId } from './sandbox-identity.js'
import { defaultLimits } from '../../../common/run/limits.js'

const id = { namespace: 'default', session: 'run-1.session-1', epoch: 1, workflowId: 'run-1' }

test('a sandbox has the same name in every process', () => {
  expect(sandboxName(id)).toBe('ptc-run-1.session-1-e1-44cb2874377b')
  expect(containerName(id)).toBe('ptc-run-1.session-1-e1-44cb2874377b.WyJydW4tMS5zZXNzaW9uLTEiLCJydW4tMSJd')
})

test.each(['', '../../etc', 'späße/\u0000', '-leading', 'x'.repeat(500), '日本語'])(
  'session %j gets a name that Docker accepts',
  (session) => {
    expect(sandboxName({ ...id, session })).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,100}$/)
  },
)

test('sandboxes that differ in any field have different names and, with high probability, different user ids', () => {
  const others = [id, { ...id, namespace: 'other' }, { ...id, session: 'run/1.session-1' }, { ...id, epoch: 2 }]
  expect(new Set(others.map(containerName)).size).toBe(others.length)
  expect(new Set(others.map((each) => userId(each, false))).size).toBe(others.length)
})

test('user ids of sandboxes differ from those of real users, and are within the range of a user namespace', () => {
  for (let epoch = 0; epoch < 1_000; epoch += 1) {
    expect(userId({ ...id, epoch }, false)).toBeGreaterThanOrEqual(100_000)
    expect(userId({ ...id, epoch }, false)).toBeLessThan(2 ** 31)
    expect(userId({ ...id, epoch }, true)).toBeGreaterThanOrEqual(1_000)
    expect(userId({ ...id, epoch }, true)).toBeLessThan(65_536)
  }
})

test('labels identify the owner of a container', () => {
  const labels = containerLabels({ ...id, runId: 'r', language: 'python', limits: defaultLimits }, 123)
  const { workflowId, ...sandbox } = id
  expect(parseIdentity('any', labels)).toEqual({ id: sandbox, workflowId })
  expect(parseIdentity('any', { ...labels, 'ptc.epoch': 'one' })).toBeUndefined()
  expect(parseIdentity(containerName(id), {})).toBeUndefined()
})

describe('the name of a claimed container of a warm pool', () => {
  const labels = { 'ptc.namespace': id.namespace, 'ptc.pool': 'pool' }

  test.each(['', 'späße/\u0000', 'x'.repeat(1_000), '日本語', '-e7-0123456789ab.WyJhIiwiYiJd'])(
    'the name of a claimed container identifies its owner, for session and workflow %j',
    (text) => {
      const sandbox = { namespace: id.namespace, session: text, epoch: 12 }
      const name = containerName({ ...sandbox, workflowId: text })
      expect(parseIdentity(name, labels)).toEqual({ id: sandbox, workflowId: text })
      expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/)
    },
  )

  test.each([
    ['no suffix', sandboxName(id)],
    ['a suffix that is not JSON', `${sandboxName(id)}.AAAA`],
    ['a suffix with other JSON', `${sandboxName(id)}.${Buffer.from('{}').toString('base64url')}`],
    [
      "another session's suffix",
      `${sandboxName(id)}.${containerName({ ...id, session: 'other' })
        .split('.')
        .at(-1)}`,
    ],
    ["another epoch's digest", containerName(id).replace('-e1-', '-e2-')],
  ])('the name of a claimed container is rejected with %s', (_what, name) => {
    expect(parseIdentity(name, labels)).toBeUndefined()
  })

  test('the name of a claimed container is rejected in another namespace', () => {
    expect(parseIdentity(containerName(id), { ...labels, 'ptc.namespace': 'other' })).toBeUndefined()
  })
})
