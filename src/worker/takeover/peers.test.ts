import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { Peers } from './peers.js'

async function startPeers(folder: string) {
  const ended: string[] = []
  const peers = await Peers.start({ folder, onEnd: (name) => ended.push(name) })
  onTestFinished(() => peers.close())
  return { peers, ended }
}

/** Starts a process that listens like a worker. */
async function startOther(folder: string, name: string) {
  const listen = `require('node:net').createServer().listen(process.argv[1], () => console.log('ready'))`
  const child = spawn(process.execPath, ['-e', listen, join(folder, `${name}.sock`)])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const kill = async () => {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  return { child, kill }
}

describe('Peers', () => {
  it('reports a worker that ended before this one started', async () => {
    const folder = await temporaryFolder()
    const other = await startOther(folder, '7-dead')
    await other.kill()
    const { peers, ended } = await startPeers(folder)
    await expect.poll(() => ended).toEqual(['7-dead'])
    expect(readdirSync(folder)).toEqual([`${peers.name}.sock`])
  })

  it('reports a worker that ends later, once', async () => {
    const folder = await temporaryFolder()
    const other = await startOther(folder, '7-live')
    const { ended } = await startPeers(folder)
    await other.kill()
    await expect.poll(() => ended).toEqual(['7-live'])
  })

  it('does not report a stopped worker', async () => {
    const folder = await temporaryFolder()
    const stopped = await startOther(folder, '7-stopped')
    const dead = await startOther(folder, '8-dead')
    stopped.child.kill('SIGSTOP')
    const { ended } = await startPeers(folder)
    await dead.kill()
    await expect.poll(() => ended).toEqual(['8-dead'])
  })

  it('finds a worker that starts later, when that worker connects', async () => {
    const folder = await temporaryFolder()
    const { peers, ended } = await startPeers(folder)
    const unrelated = await startPeers(await temporaryFolder())
    const later = await startOther(folder, '9-later')
    const socket = connect(join(folder, `${peers.name}.sock`)).unref()
    await once(socket, 'connect')
    await later.kill()
    await expect.poll(() => ended).toEqual(['9-later'])
    expect(unrelated.ended).toEqual([])
    socket.destroy()
  })

  it('leaves no file when the list of peers is closed', async () => {
    const folder = await temporaryFolder()
    const { peers } = await startPeers(folder)
    await peers.close()
    await peers.close()
    expect(readdirSync(folder)).toEqual([])
  })
})
