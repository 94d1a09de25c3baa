import { chownSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** Makes a path belong to another user: by chown, which needs root, or by a fake user id of this process. */
export function makeForeignOwned(...paths: readonly string[]): void {
  const own = process.geteuid?.() ?? 0
  if (own === 0) {
    for (const path of paths) chownSync(path, 65_534, 65_534)
    return
  }
  const { geteuid } = process
  process.geteuid = () => own + 1
  onTestFinished(() => void Object.assign(process, { geteuid }))
}
