/** The keys of the workspace. */
import type { KeyText } from '#console/ui/use-page-keys.ts'

export const tabKeys = { n: 'narrative', t: 'timeline', i: 'requests', r: 'related', o: 'notes' } as const

export type CaseKey = '1' | '2' | '3' | keyof typeof tabKeys | 'e' | 's' | 'a' | 'p' | '?'

export const caseKeys: readonly KeyText<CaseKey>[] = [
  ['1', 'Steps and tasks'],
  ['2', 'The middle of the case'],
  ['3', 'Evidence'],
  ['n', 'Narrative'],
  ['t', 'Timeline'],
  ['i', 'Information requests'],
  ['r', 'Related subjects and alerts'],
  ['o', 'Notes'],
  ['e', 'Attach evidence'],
  ['s', 'Add a step'],
  ['a', 'Assign'],
  ['p', 'The next act, or what is missing for it'],
  ['?', 'This help'],
]
