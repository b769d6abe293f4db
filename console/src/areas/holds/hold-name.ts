/** A hold is called by the end of its id: the name of its object must not be in a title. */

export const getHoldName = (hold_id: string): string => `Hold ${hold_id.slice(-8)}`
