import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
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
