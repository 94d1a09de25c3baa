import { z } from 'zod'
import { messageOf } from '../../../common/errors.js'
import type { PackageNames } from '../../../common/run/sandbox-image.js'
import { packageNames } from '../../package-names.js'
import { runForOutput } from '../interpreter/run-for-output.js'
import type { JailCommand } from '../jail/jail-command.js'
import { invalidWheels, readWheels, type WheelFolder, wheelLimits } from './read-wheels.js'
import type { WheelPlatform } from './wheel-tags.js'

/** Wheels that an interpreter has loaded. */
export interface LoadedWheels extends WheelFolder {
  /** Of the files in the wheels. */
  readonly bytes: number
  readonly packages: PackageNames
}

const answer = packageNames.extend({ bytes: z.int().min(0).max(wheelLimits.bytes) })

/**
 * Reads the wheels of a folder, and lets a jailed child load them as each interpreter does: so a broken one is found at
 * the start of a worker, and the packages are those that code finds.
 *
 * @param command the child that lists the packages
 * @throws PtcError SANDBOX_WHEELS_INVALID, SANDBOX_UNAVAILABLE
 */
export async function loadWheels(
  folder: string,
  platform: WheelPlatform,
  command: (wheels: WheelFolder) => Promise<JailCommand>,
  signal: AbortSignal,
): Promise<LoadedWheels> {
  const found = await readWheels(folder, platform)
  const { exitCode, stdout, stderr } = await runForOutput(await command(found), signal)
  if (exitCode !== 0) {
    const reason = /^the interpreter ended: (?:\w+: )?(.*)$/m.exec(stderr)?.[1] ?? `exit code ${exitCode}`
    throw invalidWheels(`the wheels in ${found.folder} can't be loaded: ${reason}`, 'Replace or remove the wheel.')
  }
  try {
    const { bytes, ...packages } = answer.parse(JSON.parse(stdout.toString()))
    return { ...found, bytes, packages }
  } catch (cause) {
    throw invalidWheels(`the wheels in ${found.folder} can't be listed: ${messageOf(cause)}`, 'Remove them.', cause)
  }
}
