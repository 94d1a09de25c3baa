import { describeDocker } from '../support/docker/describe-docker.js'
import { describeHostileFrames } from './support/hostile-frames.js'

describeDocker('frames of a hostile program (docker)', () => describeHostileFrames({ backend: 'docker' }))
