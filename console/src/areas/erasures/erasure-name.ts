/** An erasure is called by the end of its id, because the name of the subject is erased. */

export const getErasureName = (erasure_id: string): string => `Erasure ${erasure_id.slice(-8)}`
