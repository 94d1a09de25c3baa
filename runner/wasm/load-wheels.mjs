import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { unzip } from './unzip.mjs'

/** The folders in a wheel whose files belong among the packages. Others are for programs that are installed. */
const packageFolders = ['purelib', 'platlib']

/**
 * Reads the packages of wheels, as files below a folder of the sandbox. What code of the packages does is not executed
 * here.
 *
 * @throws Error that begins with the name of the wheel
 */
export function loadWheels({ folder, root, wheels, limits }) {
  const contents = {}
  let { bytes, files } = limits
  for (const { name, sha256 } of wheels) {
    try {
      const archive = fs.readFileSync(path.join(folder, name))
      if (createHash('sha256').update(archive).digest('hex') !== sha256)
        throw new Error('it was changed after the worker had started')
      const unpacked = unzip(archive, { bytes, files })
      if (!unpacked.some((file) => /^[^/]+\.dist-info\/METADATA$/.test(file.path)))
        throw new Error('it is no wheel: it has no METADATA')
      for (const file of unpacked) {
        bytes -= file.content.length
        files -= 1
        const target = targetOf(file.path)
        if (target !== undefined) contents[`${root}/${target}`] = file.content
      }
    } catch (error) {
      throw new Error(`${name}: ${error instanceof RangeError ? 'it is damaged' : error.message}`, { cause: error })
    }
  }
  const list = Object.keys(contents).map((file) => ({ path: file, isExecutable: false }))
  return { root, list, contents }
}

/** Returns where a file of a wheel belongs; undefined for one that is not a part of a package. */
function targetOf(file) {
  const [first, second, ...others] = file.split('/')
  if (!first.endsWith('.data')) return file
  return packageFolders.includes(second) ? others.join('/') : undefined
}
