import { execFile } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A small file system in memory (tmpfs); needs root. */
export class SmallDisk {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** @param bytes size of the disk; the kernel rounds up to pages */
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

  /** Fills the disk; returns an idempotent function that frees the space. */
  async fill(): Promise<() => Promise<void>> {
    const ballast = join(this.folder, 'ballast')
    await using file = await open(ballast, 'w')
    const block = Buffer.alloc(1024 * 1024)
    for (let bytes = block.length; bytes >= 1;) {
      // The last bytes fit where a whole block does not fit.
      const written = await file.write(block, 0, bytes).catch(() => undefined)
      if (written === undefined || written.bytesWritten < bytes) bytes = Math.floor(bytes / 2)
    }
    return () => rm(ballast, { force: true })
  }

  async setReadOnly(): Promise<void> {
    await run('mount', ['-o', 'remount,ro', this.folder])
  }

  async close(): Promise<void> {
    // A lazy unmount: open files must not prevent the end of the test.
    await run('umount', ['-l', this.folder])
    await rm(this.folder, { recursive: true })
  }
}

/** Whether this process can mount a small disk; prints the reason when it can't. */
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
