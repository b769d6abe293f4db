/** Hands a proposed type definition from one page to the type editor, within this tab. */
const KEY = 'probity.type-draft'

export function saveTypeDraft(definition: object): void {
  sessionStorage.setItem(KEY, JSON.stringify(definition))
}

/** Returns the definition once; null when there is none. */
export function takeTypeDraft(): Record<string, unknown> | null {
  const text = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
}
