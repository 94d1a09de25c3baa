import { Worker } from '@temporalio/worker'
import { faults, tellFaults } from './faults.js'

// No workflow is kept between two workflow tasks: each begins at the beginning of the history. In this process …
const create = Worker.create.bind(Worker)
Worker.create = (options) => {
  faults.forgetfulWorkers += 1
  return create({ ...options, maxCachedWorkflows: 0 })
}

// … and in those that tests start.
process.env['NODE_OPTIONS'] = `--import=${new URL('./forget-workflows.mjs', import.meta.url).href}`

tellFaults()
