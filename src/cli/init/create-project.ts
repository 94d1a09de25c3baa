import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { messageOf, PtcError } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import { configFileNames } from '../../config/load-config.js'
import { packageFile, projectFiles, type ProjectFile } from './project-files.js'
import { makeFolder } from '../../platform/make-folder.js'

interface CreatedProject {
  /** Names of the files, relative to the folder. */
  readonly written: readonly string[]
  /** False when the folder already had a package.json. */
  readonly hasNewPackageFile: boolean
}

/**
 * Writes the files of a new project, and makes the folder when it does not exist. Writes nothing when a file exists.
 *
 * @throws PtcError RUN_INPUT_INVALID that names the existing files, or says why the folder can't be written
 */
export async function createProject(folder: string): Promise<CreatedProject> {
  const path = resolve(folder)
  const hasNewPackageFile = !existsSync(join(path, 'package.json'))
  const files = [...projectFiles(), ...(hasNewPackageFile ? [packageFile(packageName(path))] : [])]
  // A configuration under another name would be a second one.
  const names = new Set([...files.map(([name]) => name), ...configFileNames])
  const existing = [...names].filter((name) => existsSync(join(path, name)))
  if (existing.length > 0) throw existingFilesError(folder, existing)
  try {
    await makeFolder(path)
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a folder')
    for (const file of files) await writeNewFile(path, file)
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    throw new PtcError('RUN_INPUT_INVALID', `can't write to ${folder}: ${messageOf(cause)}`, { cause })
  }
  return { written: files.map(([name]) => name), hasNewPackageFile }
}

/** Never overwrites a file that another process has made meanwhile. */
async function writeNewFile(folder: string, [name, text]: ProjectFile): Promise<void> {
  try {
    await writeFile(join(folder, name), text, { flag: 'wx' })
  } catch (thrown) {
    throw hasErrorCode(thrown, 'EEXIST') ? existingFilesError(folder, [name]) : thrown
  }
}

function existingFilesError(folder: string, names: readonly string[]): PtcError {
  const where = folder === '.' ? 'this folder' : folder
  return new PtcError(
    'RUN_INPUT_INVALID',
    `${where} has ${names.join(', ')} already, and \`ptc init\` overwrites nothing`,
    {
      hint: 'Give another folder: `ptc init FOLDER`. Or move these files away.',
    },
  )
}

/** A valid name for npm, made from the name of the folder. */
function packageName(path: string): string {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return name === '' || name === 'durable-ptc' ? 'ptc-project' : name
}
