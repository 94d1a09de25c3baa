import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import type { AuditSettings } from '../../audit/option.js'
import { type Check, error, ok } from './check.js'

const name = 'Audit log'

/** Checks that events can be written: without them, no call begins. Returns nothing without an audit log. */
export async function checkAuditLog(settings: AuditSettings | undefined): Promise<readonly Check[]> {
  if (settings === undefined) return []
  const { target } = settings
  if (typeof target !== 'string') return [ok(name, "is written by a sink of the configuration, which can't be checked")]
  try {
    await checkWritable(target)
    return [ok(name, `${target} can be written`)]
  } catch (thrown) {
    const remedy = 'Make its folder, writable for the user of the worker. Until then every call fails.'
    return [error(name, `${target} can't be written: ${reasonOf(thrown)}`, remedy)]
  }
}

/** The message without the path, which may be that of the temporary file. */
function reasonOf(thrown: unknown): string {
  return messageOf(thrown).replace(/, open '.*$/, '')
}

/** Opens the file as a worker does. When it does not exist yet, makes and removes another file next to it. */
async function checkWritable(path: string): Promise<void> {
  try {
    await (await open(path, constants.O_WRONLY | constants.O_APPEND)).close()
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'ENOENT')) throw thrown
    const probe = join(dirname(path), `.ptc-doctor-${randomUUID()}`)
    await (await open(probe, 'wx', 0o600)).close()
    await rm(probe, { force: true })
  }
}
