import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { ExternalValue } from '../common/json/external-value.js'
import { isRelativePath, type SandboxFile, type SandboxFiles, sandboxFiles } from '../sandbox/sandbox-files.js'
import { describeIssues } from '../tools/validation/describe-issues.js'
import type { Values } from '../values/values.js'

const storedFiles = z.array(
  z.object({
    path: z.string().refine(isRelativePath, 'leaves the folder'),
    base64: z.string(),
    isExecutable: z.boolean(),
  }),
)

type StoredFile = z.output<typeof storedFiles>[number]

export function toStoredFiles(files: readonly SandboxFile[]): StoredFile[] {
  return files.map(({ path, content, isExecutable }) => ({
    path,
    base64: Buffer.from(content).toString('base64'),
    isExecutable,
  }))
}

/**
 * Loads the files of a session from the value store, as the run recorded them.
 *
 * @param stored one set of files for each skill
 * @throws PtcError VALUE_MISSING and others of the value store
 */
export async function loadFiles(
  stored: readonly ExternalValue[],
  values: Pick<Values, 'load'>,
  signal: AbortSignal,
): Promise<SandboxFiles> {
  const files: SandboxFile[] = []
  for (const each of stored) {
    const { data, error } = storedFiles.safeParse(await values.load(each, 'the files of a skill', signal))
    if (error) throw new PtcError('VALUE_CORRUPT', `the files of a skill are not readable:\n${describeIssues(error)}`)
    for (const { path, base64, isExecutable } of data)
      files.push({ path, content: Buffer.from(base64, 'base64'), isExecutable })
  }
  return sandboxFiles(files)
}
