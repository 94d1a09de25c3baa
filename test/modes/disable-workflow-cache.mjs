// Preloaded (`--import`) into processes that tests start: no workflow is cached between two workflow tasks.
import temporal from '@temporalio/worker'

const { Worker } = temporal
const create = Worker.create.bind(Worker)
Worker.create = (options) => create({ ...options, maxCachedWorkflows: 0 })
