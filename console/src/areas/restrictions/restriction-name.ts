/** A restriction is called by the end of its id: its purpose may name a customer. */

export const getRestrictionName = (restriction_id: string): string => `Restriction ${restriction_id.slice(-8)}`
