/** Which decisions and cases are tests: an answer that they were made on was recorded, an example, or of a test system. Pure. */

export const TEST_DECISION_TEXT = 'An answer was not live, so this decision is a test.'

export const TEST_CASE_TEXT =
  'This case rests on recorded, example or test answers that no live provider gave, so its outcome is a test.'
export const TEST_EVIDENCE_TEXT =
  'It rests on an answer that no live provider gave: recorded, an example, or of a test system.'

/** Views that do not say so are not marked. */
export const isTestDecision = (view: object): boolean => 'is_test' in view && view.is_test === true

/** The ids of those decisions that are tests. */
export const getTestDecisionIds = (
  decisions: readonly { readonly evaluation_id: string }[],
): ReadonlySet<string | null> => new Set(decisions.filter(isTestDecision).map(({ evaluation_id }) => evaluation_id))
