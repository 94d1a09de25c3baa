import { describeDocker } from '../../support/docker/describe-docker.js'
import { AttackEnvironment } from '../support/attack-environment.js'
import { protocolRows } from '../support/rows/protocol.js'

describeDocker('a hostile program that takes over its runner', () =>
  protocolRows((options) => AttackEnvironment.start(options)),
)
