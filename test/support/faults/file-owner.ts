import { chownSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** Makes a path one of another user: by giving it away, which only root may, or by taking this process for somebody else's. */
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
