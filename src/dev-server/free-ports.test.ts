import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from './free-ports.js'

async function takePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

test('returns a preferred port that is free', async () => {
  // Another process may take the port in between, but not every time.
  const isReturned = async (): Promise<boolean> => {
    const [free = 0] = await freePorts([0])
    return (await freePorts([free]))[0] === free
  }
  await expect.poll(isReturned).toBe(true)
})

test('replaces a preferred port that is in use', async () => {
  const taken = await takePort()
  const [port = 0] = await freePorts([taken])
  expect(port).not.toBe(taken)
  expect(port).toBeGreaterThan(0)
})

test('returns different free ports', async () => {
  const ports = await freePorts([0, 0, 0, 0])
  expect(new Set(ports).size).toBe(4)
})
