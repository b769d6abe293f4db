/** Problems of records that must be kept, or that exist no longer. */
import type { ProblemType } from './problem-type.ts'

export const recordProblems = {
  legal_hold: {
    status: 409,
    title: 'A legal hold keeps it',
    advice: 'Nothing was changed. It can be deleted or erased when another person has released every hold on it.',
  },
  erased: {
    status: 410,
    title: 'The content was erased',
    advice:
      'Identifiers, outcome and hash remain. The content cannot be read by anybody any more; do not repeat the request.',
  },
  retention: {
    status: 409,
    title: 'A retention period keeps it',
    advice:
      'Nothing was changed. kept says what must be kept, until when and by which law; ask again when the period has ended.',
  },
} as const satisfies Record<string, ProblemType>
