import { Worker } from '@temporalio/worker'
import { faults } from './faults.js'

// No workflow is kept between two workflow tasks: each begins at the beginning of the history.
const create = Worker.create.bind(Worker)
Worker.create = (options) => {
  faults.forgetfulWorkers += 1
  return create({ ...options, maxCachedWorkflows: 0 })
}
