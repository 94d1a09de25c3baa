import { execFile } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A real file system in memory that is soon full; only root can have one. */
export class SmallDisk {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** @param bytes of it; the kernel rounds up to pages */
  static async mount(bytes: number): Promise<SmallDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-disk-'))
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', folder])
    } catch (thrown) {
      await rm(folder, { recursive: true })
      throw thrown
    }
    return new SmallDisk(folder)
  }

  /** Leaves no room at all; gives what makes it again, which may be called twice. */
  async fill(): Promise<() => Promise<void>> {
    const ballast = join(this.folder, 'ballast')
    await using file = await open(ballast, 'w')
    const block = Buffer.alloc(1024 * 1024)
    for (let bytes = block.length; bytes >= 1;) {
      // The last bytes fit where a whole block does not.
      const written = await file.write(block, 0, bytes).catch(() => undefined)
      if (written === undefined || written.bytesWritten < bytes) bytes = Math.floor(bytes / 2)
    }
    return () => rm(ballast, { force: true })
  }

  async setReadOnly(): Promise<void> {
    await run('mount', ['-o', 'remount,ro', this.folder])
  }

  async close(): Promise<void> {
    // Lazily: what still has a file open there must not keep the test from ending.
    await run('umount', ['-l', this.folder])
    await rm(this.folder, { recursive: true })
  }
}

/** Can this process have one? Says why not. */
export async function canMount(): Promise<boolean> {
  try {
    await (await SmallDisk.mount(65_536)).close()
    return true
  } catch (thrown) {
    console.error(
      `› no small disk can be mounted (${String(thrown).split('\n')[0]}): the tests that need one are skipped`,
    )
    return false
  }
}
