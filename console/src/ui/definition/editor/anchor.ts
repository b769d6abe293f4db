/** Where on the page of a draft a pointer into it leads. Pure. */

export const toAnchorId = (pointer: string): string => `at${pointer.replaceAll('/', '-')}`
