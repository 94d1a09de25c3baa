import { Worker } from '@temporalio/worker'
import { faults, reportFaults } from './faults.js'

// No workflow is kept between two workflow tasks: each begins at the beginning of the history. In this process …
const create = Worker.create.bind(Worker)
Worker.create = (options) => {
  faults.uncachedWorkers += 1
  return create({ ...options, maxCachedWorkflows: 0 })
}

// … and in those that tests start.
process.env['NODE_OPTIONS'] = `--import=${new URL('./disable-workflow-cache.mjs', import.meta.url).href}`

reportFaults()
