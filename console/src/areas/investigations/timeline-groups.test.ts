import { expect, test } from 'vitest'
import { groupTimeline } from './timeline-groups.ts'

type Entry = Parameters<typeof groupTimeline>[0][number]

const entry = (event_id: string, kind: string, data: Entry['data'] = {}): Entry => ({
  ...{ event_id, kind, data, category: 'system', note: null, note_state: null },
  ...{ recorded_at: '2026-01-01T00:00:00Z', recorded_by: 'job:x' },
})

test('events that follow each other and say little are one group; what people do is not grouped', () => {
  const entries = [
    entry('1', 'proposed'),
    entry('2', 'gathering'),
    entry('3', 'step_running'),
    entry('4', 'task_added', { step_key: 'funds' }),
    entry('5', 'step_succeeded'),
    entry('6', 'step_running'),
    entry('7', 'task_added'),
    entry('8', 'opened'),
  ]
  expect(
    groupTimeline(entries).map(({ isMinor, entries: all }) => [isMinor, all.map(({ event_id }) => event_id)]),
  ).toEqual([
    [false, ['1']],
    [true, ['2', '3', '4']],
    [false, ['5']],
    [false, ['6']],
    [false, ['7']],
    [false, ['8']],
  ])
})
