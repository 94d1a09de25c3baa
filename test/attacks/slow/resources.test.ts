import { describeDocker } from '../../support/docker/describe-docker.js'
import { AttackEnvironment } from '../support/attack-environment.js'
import { resourceRows } from '../support/rows/resources.js'

describeDocker('a hostile program that exhausts resources', () =>
  resourceRows((options) => AttackEnvironment.start(options)),
)
