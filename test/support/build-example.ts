import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from './folders.js'

const checkout = fileURLToPath(new URL('../../', import.meta.url))

/** Compiles an example, which is a whole project, with the packages of this checkout. */
export async function buildExample(name: string): Promise<string> {
  const project = await temporaryFolder()
  await cp(join(checkout, 'examples', name), project, { recursive: true })
  const packages = join(project, 'node_modules')
  await mkdir(packages)
  for (const name of ['@temporalio', '@types', 'zod', 'undici-types']) {
    await symlink(join(checkout, 'node_modules', name), join(packages, name))
  }
  await symlink(checkout, join(packages, 'durable-ptc'))
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [compiler], { cwd: project })
  return project
}
