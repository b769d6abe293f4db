/** The element id on the draft page for a JSON pointer. Pure. */

export const toAnchorId = (pointer: string): string => `at${pointer.replaceAll('/', '-')}`
