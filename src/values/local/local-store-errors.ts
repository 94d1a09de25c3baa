import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']
const readOnly = 'EROFS'
const refusedCodes: readonly string[] = [readOnly, 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG']

/** Converts an error of the file system. Unknown errors are retryable: network disks may become available again. */
export function toLocalStoreError(thrown: unknown, directory: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const createError = (code: PtcError['code'], message: string, hint?: string): PtcError =>
    new PtcError(code, message, { cause: thrown, ...defined({ hint }) })
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (fullCodes.includes(code)) {
    const hint = 'Make room, or remove what nothing needs with `ptc values gc`.'
    return createError('VALUE_STORE_FULL', `no space is left for values in ${directory}`, hint)
  }
  if (refusedCodes.includes(code)) {
    const hint =
      code === readOnly
        ? 'Its file system is read-only: mount it writable, or configure another folder.'
        : 'The folder must be readable and writable for the user of the worker.'
    return createError('VALUE_STORE_REFUSED', `values can't be kept in ${directory}: ${messageOf(thrown)}`, hint)
  }
  if (code === 'ENOENT')
    return createError('VALUE_STORE_UNAVAILABLE', `the folder of values ${directory} is gone`, 'Is its disk mounted?')
  return createError('VALUE_STORE_UNAVAILABLE', `the folder of values ${directory} fails: ${messageOf(thrown)}`)
}
