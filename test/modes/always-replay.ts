import { Worker } from '@temporalio/worker'
import { faults, reportFaults } from './faults.js'

// Mode always-replay: no workflow is cached between two workflow tasks, so that each task replays the whole history.
// This file covers workers in this process. Proof: the tests `mode-control.test.ts`.
const create = Worker.create.bind(Worker)
Worker.create = (options) => {
  faults.uncachedWorkers += 1
  return create({ ...options, maxCachedWorkflows: 0 })
}

// Covers worker processes of tests.
process.env['NODE_OPTIONS'] = `--import=${new URL('./disable-workflow-cache.mjs', import.meta.url).href}`

reportFaults()
