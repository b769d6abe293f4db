/** Removes the reason text of an override, which is for roles that work on cases; others get its reason code. */

/** Returns the same object where there is no such text. */
export const redactOverrideText = <R extends { readonly cause: string; readonly reason: string | null } | null>(
  rating: R,
): R =>
  rating === null || rating.reason === null || (rating.cause !== 'override' && rating.cause !== 'override-ended')
    ? rating
    : { ...rating, reason: null }
