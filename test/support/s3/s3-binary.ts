import { buildWithGo } from '../setup/build-with-go.js'
import { optionalDependency } from '../setup/optional-dependency.js'

const versitygw = {
  name: 'versitygw',
  version: '1.8.0',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  buildTime: 'about 2 minutes',
}

/**
 * A server that speaks S3, for tests: Versity's gateway to a folder. As PTC_TEST_S3 says: `required`, `auto` (default: without
 * one the tests say so and are skipped), `off`.
 *
 * @returns its path; undefined when the tests are to be skipped
 * @throws Error when it is required and can't be had
 */
export function s3Binary(): Promise<string | undefined> {
  return optionalDependency('PTC_TEST_S3', 'the S3 server', () => buildWithGo(versitygw))
}
