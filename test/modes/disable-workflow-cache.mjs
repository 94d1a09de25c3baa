// Loaded before everything else into processes that tests start (`--import`): no workflow is kept between two workflow tasks.
import temporal from '@temporalio/worker'

const { Worker } = temporal
const create = Worker.create.bind(Worker)
Worker.create = (options) => create({ ...options, maxCachedWorkflows: 0 })
