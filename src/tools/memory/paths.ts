/*
 * Paths of the model. They are keys of an index, and never become a path of a file system or the name of an object:
 * these checks keep one file from having two names, and a name from misleading the reader of a list.
 */
import { MemoryError } from './memory-error.js'

export const root = '/memories'

/** Control and format characters (zero-width, direction marks), line and paragraph separators. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** Separators, dots and NUL in percent-encoding, encoded once or more. */
const encoded = /%(25)*(2e|2f|5c|00)/i

/**
 * Checks a path and returns it in the normal form NFC, without a slash at its end.
 *
 * @throws MemoryError path_refused
 */
export function parsePath(path: string, maxBytes: number): string {
  // The number of code units is checked first: it bounds the work of everything after it.
  if (path.length > maxBytes || Buffer.byteLength(path) > maxBytes) {
    throw refused('The path', `is longer than ${maxBytes} bytes`)
  }
  const shown = JSON.stringify(path)
  if (!path.isWellFormed() || invisible.test(path)) {
    throw refused(`The path ${shown}`, 'has characters that can not be seen, or is not Unicode')
  }
  if (path.includes('\\') || encoded.test(path)) {
    throw refused(`The path ${shown}`, 'has a backslash, or an encoded separator or dot')
  }
  const normal = path.normalize('NFC').replace(/\/$/, '')
  if (normal !== root && !normal.startsWith(`${root}/`)) throw refused(`The path ${shown}`, `is not under ${root}`)
  if (Buffer.byteLength(normal) > maxBytes) throw refused('The path', `is longer than ${maxBytes} bytes`)
  const names = normal.slice(1).split('/')
  const wrong = names.find((name) => name === '' || name === '.' || name === '..' || name !== name.trim())
  if (wrong !== undefined) throw refused(`The path ${shown}`, `has the name ${JSON.stringify(wrong)}`)
  return normal
}

function refused(what: string, why: string): MemoryError {
  const rule = `A path begins with ${root}/, and its names are separated by one slash.`
  return new MemoryError('path_refused', `Error: ${what} ${why}. ${rule}`)
}

export function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`)
}

/** The folders of a path, such as `/memories` and `/memories/a` of `/memories/a/b`. */
export function foldersOf(path: string): readonly string[] {
  const names = path.slice(1).split('/')
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}
