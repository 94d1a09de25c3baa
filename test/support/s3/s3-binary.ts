import { buildWithGo } from '../setup/build-with-go.js'
import { optionalDependency } from '../setup/optional-dependency.js'

const versitygw = {
  name: 'versitygw',
  version: '1.8.0',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  buildTime: 'about 2 minutes',
}

/**
 * An S3 server for tests: Versity's gateway to a folder. PTC_TEST_S3 is `required`, `auto` (default: when it is
 * unavailable, tests that need the server are skipped with a message) or `off`.
 *
 * @returns its path; undefined when the tests must be skipped
 * @throws Error when it is required and unavailable
 */
export function s3Binary(): Promise<string | undefined> {
  return optionalDependency('PTC_TEST_S3', 'the S3 server', () => buildWithGo(versitygw))
}
