import { expect, it } from 'vitest'
import { allWorkflowNames } from '../common/names.js'
import * as workflows from './index.js'

it('exports the workflows whose names a user may not take', () => {
  expect(Object.keys(workflows).toSorted()).toEqual(allWorkflowNames.toSorted())
})
