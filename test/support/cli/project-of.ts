import type { TestEnvironment } from '../environment/test-environment.js'
import { sharedServer } from '../temporal/shared-server.js'
import { TestProject } from './ptc.js'

/** Creates the project folder of a user who uses the workers and the value store of a test. */
export function projectOf(
  { taskQueue, valuesDirectory }: Pick<TestEnvironment, 'taskQueue' | 'valuesDirectory'>,
  files: Readonly<Record<string, string>> = {},
): Promise<TestProject> {
  const { address, namespace } = sharedServer()
  const store = { kind: 'local', directory: valuesDirectory }
  const configuration = { tools: [], taskQueue, values: { store } }
  return TestProject.create(
    { 'ptc.config.mjs': `export default ${JSON.stringify(configuration)}`, ...files },
    { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  )
}
