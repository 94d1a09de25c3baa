import { messageOf, PtcError } from '../../common/errors.js'

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']
const readOnly = 'EROFS'
const refusedCodes: readonly string[] = [readOnly, 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG']

/** Converts an error of the file system. Unknown errors are retryable: network disks may become available again. */
export function toLocalStoreError(thrown: unknown, directory: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const code = systemErrorCode(thrown) ?? ''
  if (fullCodes.includes(code)) {
    return new PtcError('VALUE_STORE_FULL', `no space is left for values in ${directory}`, {
      hint: 'Make room, or remove what nothing needs with `ptc values gc`.',
      cause: thrown,
    })
  }
  if (refusedCodes.includes(code)) {
    const hint =
      code === readOnly
        ? 'Its file system is read-only: mount it writable, or configure another folder.'
        : 'The folder must be readable and writable for the user of the worker.'
    return new PtcError('VALUE_STORE_REFUSED', `values can't be kept in ${directory}: ${messageOf(thrown)}`, {
      hint,
      cause: thrown,
    })
  }
  if (code === 'ENOENT') {
    return new PtcError('VALUE_STORE_UNAVAILABLE', `the folder of values ${directory} is gone`, {
      hint: 'Is its disk mounted?',
      cause: thrown,
    })
  }
  return new PtcError('VALUE_STORE_UNAVAILABLE', `the folder of values ${directory} fails: ${messageOf(thrown)}`, {
    cause: thrown,
  })
}

/** Returns the code of a system error (`ENOENT` …). */
export function systemErrorCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}
