import { join, resolve } from 'node:path'
import { findStateDirectory } from '../environment/project.js'

/** The file of the results of evals. @param results the option `--results` */
export function resultsPath(results: string | undefined): string {
  return results === undefined ? join(findStateDirectory(), 'evals.db') : resolve(results)
}
