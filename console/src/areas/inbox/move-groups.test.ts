/** Grouping of work that moves to another person. */
import { expect, test } from 'vitest'
import { groupMoves, type MovableItem } from './move-groups.ts'

const item = (object_id: string, restriction_id: string | null, is_restricted: boolean): MovableItem => ({
  object_kind: 'alert',
  object_id,
  restriction_id,
  is_restricted,
})

test('keeps items of each restriction in force apart, and those of a lifted one with the others', () => {
  const groups = groupMoves([
    item('1', null, false),
    item('2', 'a', true),
    item('3', 'b', true),
    item('4', 'b', false),
    item('5', 'a', true),
  ])
  expect(groups.map((group) => group.map(({ object_id }) => object_id))).toEqual([['1', '4'], ['2', '5'], ['3']])
})

test('sends no more than a request takes', () => {
  const many = Array.from({ length: 205 }, (_, n) => item(String(n), null, false))
  expect(groupMoves(many).map(({ length }) => length)).toEqual([100, 100, 5])
  expect(groupMoves([])).toEqual([])
})
