import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { packageInfo } from '../../platform/package-info.js'

const run = promisify(execFile)

/**
 * The version of the tested code: that of this package, and the commit of the current folder. `-dirty` says that files
 * differ from the commit.
 */
export async function evalVersion(folder = process.cwd()): Promise<string> {
  const own = `durable-ptc@${packageInfo().version}`
  const git = (...gitArguments: readonly string[]) => run('git', gitArguments, { cwd: folder, timeout: 10_000 })
  const commit = await git('rev-parse', '--short=12', 'HEAD').catch(() => undefined)
  if (commit === undefined) return own
  // Only files that git knows: the results of the eval are in the folder, too.
  const isClean = await git('diff', '--quiet', 'HEAD').then(
    () => true,
    () => false,
  )
  return `${own} ${commit.stdout.trim()}${isClean ? '' : '-dirty'}`
}
