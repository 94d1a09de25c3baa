import { defineQuery, defineUpdate, setHandler } from '@temporalio/workflow'
import type { StoredFile } from '../../common/files/files.js'
import { filesMessages } from '../../common/names.js'
import type { Run } from '../run/run.js'
import { rejection } from '../temporal/failures.js'

const upload = defineUpdate<void, [readonly StoredFile[]]>(filesMessages.upload)
const list = defineQuery<readonly StoredFile[]>(filesMessages.list)

/** Handles the update by which a client uploads files, and the query for the files of a run. */
export function handleFileMessages({ files, config }: Pick<Run, 'files' | 'config'>): void {
  setHandler(upload, (uploads) => files.add(uploads), {
    validator: (uploads: unknown) => {
      const problem = files.problemOf(uploads, config.limits.tmpBytes)
      if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', `the run refuses the files: ${problem}`)
    },
  })
  setHandler(list, () => files.all)
}
