/** Schemas of the options of a run. Exported here because the client must not import activities. */
export { limitsSchema } from '../../activities/limits-schema.js'
export { parseModelSettings } from '../../activities/model-settings-schema.js'
export { runOptionFields } from '../../activities/run-options-schema.js'
