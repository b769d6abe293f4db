/** Removes the reason text of an override and who proposed it, which are for roles that work on cases; others get its reason code. */

/** Returns the same object where there is no such text. */
export const redactOverrideText = <
  R extends {
    readonly cause: string
    readonly reason: string | null
    readonly cr_id: string | null
    readonly proposed_by: string | null
  } | null,
>(
  rating: R,
): R =>
  rating === null || (rating.cause !== 'override' && rating.cause !== 'override-ended')
    ? rating
    : { ...rating, reason: null, cr_id: null, proposed_by: null }
