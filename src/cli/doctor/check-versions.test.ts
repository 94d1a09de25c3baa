import { describe, expect, it } from 'vitest'
import { checkNode, checkPackages } from './check-versions.js'

describe('checkNode', () => {
  it.each(['20.20.0', '20.20.2', '24.1.0'])('Node %s is new enough', (version) => {
    expect(checkNode(version)).toEqual({ name: 'Node', status: 'ok', message: version })
  })

  it.each(['18.20.8', '20.19.9'])('Node %s is too old', (version) => {
    expect(checkNode(version)).toMatchObject({
      status: 'error',
      message: `${version} is too old, 20.20 is needed`,
      remedy: expect.stringContaining('nodejs.org'),
    })
  })
})

describe('checkPackages', () => {
  it('the check of packages lists the versions for a bug report', () => {
    const { status, message } = checkPackages()
    expect(status).toBe('ok')
    expect(message).toMatch(/^durable-ptc \d.*@temporalio\/worker \d.*@anthropic-ai\/sdk \d.*pyodide \d/)
  })
})
