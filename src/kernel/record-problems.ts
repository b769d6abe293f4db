/** Problems of records that must be kept, or that exist no longer. */
import type { ProblemType } from './problem-type.ts'

export const recordProblems = {
  legal_hold: {
    status: 409,
    title: 'A legal hold keeps it',
    advice: 'Nothing was changed. It can be deleted or erased when another person has released every hold on it.',
  },
} as const satisfies Record<string, ProblemType>
