import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openStore } from '../../values/open-store.js'
import { startDevServer, type TemporalServer } from '../../dev-server/index.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { openEnvironment } from './environment.js'

vi.mock('../../dev-server/index.js', () => ({ resolveTemporal: () => Promise.resolve(), startDevServer: vi.fn() }))
vi.mock('../../values/open-store.js', () => ({ openStore: vi.fn() }))

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ptc-environment-'))
  await mkdir(join(folder, '.ptc'))
  await writeFile(join(folder, '.ptc/temporal.db'), '')
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.stubEnv('XDG_CACHE_HOME', folder)
})

afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

describe('openEnvironment', () => {
  it("closes the server that it started when the value store can't be opened", async () => {
    using interrupts = listenForInterrupts()
    const close = vi.fn(() => Promise.resolve())
    const server: TemporalServer = {
      address: '127.0.0.1:1',
      namespace: 'default',
      connectionOptions: { address: '127.0.0.1:1' },
      uiUrl: undefined,
      origin: 'started',
      unexpectedExit: new Promise(() => {}),
      close,
    }
    vi.mocked(startDevServer).mockResolvedValue(server)
    vi.mocked(openStore).mockRejectedValue(new Error('no such store'))
    const opening = openEnvironment({ config: undefined, load: 'if_named', ifNoServer: 'start_read_only', interrupts })
    await expect(opening).rejects.toThrow('no such store')
    expect(close).toHaveBeenCalledOnce()
  })
})
