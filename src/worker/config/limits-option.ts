/** Schema of the limits of a run. Exported here because the client must not import activities. */
export { limitsSchema } from '../../activities/limits-schema.js'
