import { expect, it } from 'vitest'
import { allWorkflowNames } from '../common/names.js'
import * as workflows from './index.js'

it('the workflow bundle exports exactly the workflows with reserved names', () => {
  expect(Object.keys(workflows).toSorted()).toEqual(allWorkflowNames.toSorted())
})
