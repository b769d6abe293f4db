/** The part of the catalogue of errors that documents have. */
import type { ProblemType } from './problem-type.ts'

export const documentProblems = {
  document_refused: {
    status: 409,
    title: 'The file cannot be stored as a document',
    advice:
      'Each entry of errors says what is wrong with the file. The list document-types names what is accepted. Nothing was stored.',
  },
  document_infected: {
    status: 409,
    title: 'The malware scanner found something in the document',
    advice: 'The content is not given out. scan_result of the document names what was found; delete the document.',
  },
  retention: {
    status: 409,
    title: 'The retention policy keeps it',
    advice:
      'keep_until says when it may be deleted; null: the policy states no end. GET /api/tenant/retention-policy shows the policy.',
  },
} as const satisfies Record<string, ProblemType>
