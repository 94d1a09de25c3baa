/** The limits that a run may ask for, for clients too: they do not know activities. */
export { limitsSchema } from '../../activities/limits-schema.js'
