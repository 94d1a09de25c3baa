import { fileURLToPath } from 'node:url'
import { CommanderError } from 'commander'
import { messageOf, PtcError } from '../../common/errors.js'
import { exitCodeOf, exitCodes } from './exit-code.js'
import { printError, printStatus } from './stdio.js'

/** Prints an error and its hint, and its stack with `PTC_DEBUG=1`; returns the exit code. */
export function reportError(thrown: unknown): number {
  // Commander has already printed the usage error. Help and version come here too, and are not errors.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const missing = missingPackage(thrown)
  if (missing !== undefined) {
    const hint = 'Install durable-ptc again, without `--omit=optional`. npm also leaves it out when its download fails.'
    printError({ message: `package '${missing}' is not installed`, hint })
    return exitCodes.failed
  }
  printError({ message: messageOf(thrown), hint: PtcError.isInstance(thrown) ? thrown.hint : undefined })
  if (process.env['PTC_DEBUG'] === '1') showStack(thrown)
  else if (isUnexpected(thrown)) printStatus('This is a bug in ptc; PTC_DEBUG=1 shows the stack.')
  return exitCodeOf(thrown)
}

const ownFolder = fileURLToPath(new URL('../../', import.meta.url))

/** The name of a package that the installation of a client leaves out. */
function missingPackage(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND')) return undefined
  const [, name, importer = ''] = /^Cannot find package '([^']+)' imported from (.+)$/m.exec(thrown.message) ?? []
  return importer.startsWith(ownFolder) ? name : undefined
}

function showStack(thrown: unknown): void {
  for (let each = thrown; each instanceof Error; each = each.cause) printStatus(each.stack ?? String(each))
}

function isUnexpected(thrown: unknown): boolean {
  return !PtcError.isInstance(thrown) && exitCodeOf(thrown) === exitCodes.failed
}
