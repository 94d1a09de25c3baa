import { builtWithGo } from './built-with-go.js'
import { getIfWanted } from './wanted.js'

const versitygw = {
  name: 'versitygw',
  version: '1.8.0',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  takes: 'about 2 minutes',
}

/**
 * A server that speaks S3, for tests: Versity's gateway to a folder. As PTC_TEST_S3 says: `required`, `auto` (default: without
 * one the tests say so and are skipped), `off`.
 *
 * @returns its path; undefined when the tests are to be skipped
 * @throws Error when it is required and can't be had
 */
export function s3Binary(): Promise<string | undefined> {
  return getIfWanted('PTC_TEST_S3', 'the S3 server', () => builtWithGo(versitygw))
}
