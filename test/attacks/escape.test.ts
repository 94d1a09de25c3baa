import { describeDocker } from '../support/docker/describe-docker.js'
import { AttackEnvironment } from './support/attack-environment.js'
import { escapeRows } from './support/rows/escape.js'

describeDocker('a hostile program that tries to escape', () =>
  escapeRows((options) => AttackEnvironment.start(options)),
)
