/** Bounds of the overview, so that it costs the same for every tenant. */

/** Rows are counted up to this number. */
export const MAX_COUNTED = 200
/** Rows listed for each question. */
export const MAX_ITEMS = 20
/** Rows read along an index before they are filtered. */
export const MAX_READ = 250
