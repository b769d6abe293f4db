/** Times that people snooze alerts to. */
import { expect, test } from 'vitest'
import { listSnoozeChoices } from './snooze-choices.ts'

const tuesday = new Date(2026, 10, 17, 10, 30)
const names = (max_days: number) => listSnoozeChoices(tuesday, max_days).map(({ name }) => name)

test('offers what the limit of the priority allows', () => {
  expect(names(0)).toEqual([])
  expect(names(1)).toEqual(['In 4 hours', 'Tomorrow 9:00'])
  expect(names(30)).toEqual(['In 4 hours', 'Tomorrow 9:00', 'Monday 9:00', 'In 14 days'])
})

test('mornings are at nine, and Monday is the next one', () => {
  const [, tomorrow, monday] = listSnoozeChoices(tuesday, 30)
  expect([tomorrow?.at.getHours(), tomorrow?.at.getDate()]).toEqual([9, 18])
  expect([monday?.at.getDay(), monday?.at.getDate()]).toEqual([1, 23])
})
