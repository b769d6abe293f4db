/** The place of the workspace that a pointer names. */
import { expect, test } from 'vitest'
import { findPlace } from './case-pointers.ts'

test.each([
  ['#/steps/identity', { part: 'steps', element: 'step-identity' }],
  ['#/tasks/17', { part: 'steps', element: 'task-17' }],
  ['#/gathering', { part: 'steps', element: 'steps' }],
  ['#/narrative', { part: 'work', tab: 'narrative', element: 'narrative' }],
  ['#/narrative/paragraphs/2', { part: 'work', tab: 'narrative', element: 'paragraph-2' }],
  ['#/narrative/paragraphs/2/cites/0', { part: 'work', tab: 'narrative', element: 'paragraph-2' }],
  ['#/information_requests', { part: 'work', tab: 'requests', element: 'requests' }],
  ['#/caller/roles', null],
])('%s is at %j', (pointer, place) => {
  expect(findPlace(pointer)).toEqual(place)
})
