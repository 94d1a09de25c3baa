import { expect, test } from 'vitest'
import { testTemporal } from '../support/temporal.js'
import { Project } from './ptc.js'

const config = { 'ptc.config.ts': 'export default { tools: [] }' }

test.each([
  [{ TEMPORAL_ADDRESS: '127.0.0.1:1' }, /nothing listens there \(connection refused\)/],
  [{ TEMPORAL_ADDRESS: 'nowhere.invalid:7233' }, /the host name nowhere\.invalid is not known/],
  [{ TEMPORAL_TLS: 'true' }, /it does not speak TLS/],
  [{ TEMPORAL_NAMESPACE: 'nobodys' }, /has no namespace nobodys\n.*TEMPORAL_NAMESPACE/],
])('a connection that fails says why: %j', async (environment, reason) => {
  await using project = await Project.create(config, { TEMPORAL_ADDRESS: testTemporal().address, ...environment })
  const { code, stderr } = await project.run('list')
  expect(stderr).toMatch(reason)
  expect(code).toBe(3)
})
