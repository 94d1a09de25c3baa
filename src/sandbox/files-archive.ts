import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { foldersOf, type SandboxFiles } from './sandbox-files.js'

/** Everything belongs to root. The time is fixed, because equal files make equal sandboxes. */
const owner = { uid: 0, gid: 0, mtime: new Date(0) } as const

/**
 * Returns a tar archive of the files of a sandbox. Folders come first: a folder that a file implies would have the mode
 * of the default.
 *
 * @param root whether the archive has the folder itself
 */
export async function archiveOf({ entries }: SandboxFiles, { root }: { readonly root: boolean }): Promise<Buffer> {
  const archive = pack()
  const bytes = buffer(archive)
  if (root) archive.entry({ ...owner, name: '.', type: 'directory', mode: 0o755 })
  for (const folder of foldersOf(entries)) archive.entry({ ...owner, name: folder, type: 'directory', mode: 0o755 })
  for (const { path, content, isExecutable } of entries)
    archive.entry({ ...owner, name: path, type: 'file', mode: isExecutable ? 0o555 : 0o444 }, Buffer.from(content))
  archive.finalize()
  return bytes
}
