import { expect, test } from 'vitest'
import { containerLabels, containerName, identityOf, isOurs, userId } from './identity.js'
import { defaultLimits } from '../../common/limits.js'

const id = { namespace: 'default', session: 'run-1.session-1', epoch: 1 }

test('the name of a sandbox is the same in every process', () => {
  expect(containerName(id)).toBe('ptc-run-1.session-1-e1-44cb2874377b')
})

test.each(['', '../../etc', 'späße/\u0000', '-leading', 'x'.repeat(500), '日本語'])(
  'session %j has a name Docker takes',
  (session) => {
    expect(containerName({ ...id, session })).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,100}$/)
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

test('labels say whose a container is, and only that one is ours', () => {
  const labels = containerLabels({ ...id, workflowId: 'w', runId: 'r', limits: defaultLimits }, 123)
  expect(identityOf(labels)).toEqual(id)
  expect(isOurs(labels, id)).toBe(true)
  expect(isOurs(labels, { ...id, epoch: 2 })).toBe(false)
  expect(isOurs(labels, { ...id, namespace: 'other' })).toBe(false)
  expect(isOurs({}, id)).toBe(false)
  expect(identityOf({ ...labels, 'ptc.epoch': 'one' })).toBeUndefined()
})
